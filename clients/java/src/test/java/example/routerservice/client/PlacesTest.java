// Many calls at once, over one connection that is not there yet.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.DecideResponse;
import io.grpc.InsecureServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlacesTest {
  private static final int MANY = 400;

  private static ScriptedService narrow() throws Exception {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    return ScriptedService.on(
        NettyServerBuilder.forAddress(any, InsecureServerCredentials.create())
            .maxConcurrentCallsPerConnection(100));
  }

  private static DecideRequest named(int number) {
    return DecideRequest.newBuilder().setRequestId(Integer.toString(number)).build();
  }

  private static RouterClient clientOf(ScriptedService service) {
    return RouterClient.builder().target(service.target()).timeout(Duration.ofSeconds(30)).build();
  }

  @Test
  void aBurstOverANewConnectionIsAnsweredInFull() throws Exception {
    try (ScriptedService service = narrow();
        RouterClient client = clientOf(service)) {
      List<CompletableFuture<DecideResponse>> asked =
          IntStream.range(0, MANY).mapToObj(one -> client.decideAsync(named(one))).toList();
      asked.forEach(CompletableFuture::join);
      assertEquals(MANY, service.asked.size());
    }
  }

  @Test
  void aBurstOfThreadsIsToo() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(MANY);
    try (ScriptedService service = narrow();
        RouterClient client = clientOf(service)) {
      List<Future<DecideResponse>> asked = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        int number = i;
        asked.add(threads.submit(() -> client.decide(named(number))));
      }
      for (Future<DecideResponse> one : asked) {
        one.get(60, TimeUnit.SECONDS);
      }
      assertEquals(MANY, service.asked.size());
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void waitingForAPlaceIsPartOfTheTime() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        RouterClient client =
            RouterClient.builder()
                .target("127.0.0.1:" + silent.getLocalPort())
                .timeout(Duration.ofSeconds(1))
                .build()) {
      long begun = System.nanoTime();
      List<CompletableFuture<DecideResponse>> asked =
          IntStream.range(0, 3 * Places.AT_ONCE)
              .mapToObj(one -> client.decideAsync(named(one)))
              .toList();
      RouterTimeoutException blocked =
          assertThrows(RouterTimeoutException.class, () -> client.decide(named(0)));
      assertTrue(blocked.getMessage().contains("the calls before it took more than 1000 ms"));
      for (CompletableFuture<DecideResponse> one : asked) {
        CompletionException error = assertThrows(CompletionException.class, one::join);
        assertInstanceOf(RouterTimeoutException.class, error.getCause());
      }
      assertTrue(System.nanoTime() - begun < Duration.ofSeconds(4).toNanos());
    }
  }

  @Test
  void aPlaceThatIsGivenUpGoesToTheNext() {
    Places places = new Places(1);
    CompletableFuture<Places> first = places.take();
    CompletableFuture<Places> second = places.take();
    CompletableFuture<Places> third = places.take();
    assertTrue(first.isDone());
    places.giveUp(second);
    assertFalse(third.isDone());
    places.leave();
    assertTrue(third.isDone());
    places.giveUp(third); // it had come: it is left
    assertTrue(places.take().isDone());
    assertFalse(places.take().isDone());
  }
}
