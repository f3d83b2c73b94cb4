// Calls of many messages or many answers, and lists of several pages.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.DecideStreamResponse;
import io.grpc.Context;
import io.grpc.Status;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StreamsTest {
  private ScriptedService service;
  private RouterClient client;

  @BeforeEach
  void open() throws Exception {
    service = ScriptedService.start();
    client =
        RouterClient.builder().target(service.target()).timeout(Duration.ofSeconds(30)).build();
  }

  @AfterEach
  void close() {
    client.close();
    service.close();
  }

  /** Requests without an end. */
  private static Iterable<DecideRequest> endless() {
    return IntStream.iterate(0, one -> one + 1).mapToObj(StreamsTest::request)::iterator;
  }

  private static DecideRequest request(int number) {
    return DecideRequest.newBuilder().setRequestId(Integer.toString(number)).build();
  }

  private static List<String> numbers(int count) {
    return IntStream.range(0, count).mapToObj(Integer::toString).toList();
  }

  @Test
  void manyAreAnsweredInTheirOrder() {
    List<DecideRequest> requests = IntStream.range(0, 5000).mapToObj(StreamsTest::request).toList();
    try (Stream<DecideStreamResponse> answers = client.decideStream(requests)) {
      assertEquals(numbers(5000), answers.map(DecideStreamResponse::getRequestId).toList());
    }
  }

  @Test
  void noneHaveNoAnswer() {
    assertEquals(0, client.decideStream(List.of()).count());
  }

  @Test
  void closingEndsTheCallBeforeItsTime() throws Exception {
    CountDownLatch cancelled = new CountDownLatch(1);
    try (Stream<DecideStreamResponse> answers = client.decideStream(endless())) {
      assertEquals(
          numbers(100), answers.limit(100).map(DecideStreamResponse::getRequestId).toList());
      service.contexts.get(0).addListener(context -> cancelled.countDown(), Runnable::run);
      assertFalse(service.contexts.get(0).isCancelled());
    }
    assertTrue(cancelled.await(30, TimeUnit.SECONDS));
  }

  @Test
  void whatEndsTheCallIsThrownWhereItIsRead() {
    service.decideItem =
        asked -> {
          if (asked.getRequestId().equals("3")) {
            throw Status.UNAVAILABLE.withDescription("on its way out").asRuntimeException();
          }
          return DecideStreamResponse.newBuilder().setRequestId(asked.getRequestId()).build();
        };
    Iterator<DecideStreamResponse> answers = client.decideStream(endless()).iterator();
    for (int i = 0; i < 3; i++) {
      answers.next();
    }
    RouterUnavailableException gone = assertThrows(RouterUnavailableException.class, answers::next);
    assertEquals("on its way out", gone.getMessage());
  }

  @Test
  void aFaultOfTheRequestsEndsTheCall() throws Exception {
    Iterable<DecideRequest> faulty =
        () ->
            IntStream.range(0, 10)
                .peek(
                    one -> {
                      if (one == 5) {
                        throw new IllegalStateException("mine");
                      }
                    })
                .mapToObj(StreamsTest::request)
                .iterator();
    Stream<DecideStreamResponse> answers = client.decideStream(faulty);
    assertThrows(IllegalStateException.class, answers::toList);
    CountDownLatch cancelled = new CountDownLatch(1);
    for (Context context : service.contexts) {
      context.addListener(one -> cancelled.countDown(), Runnable::run);
      assertTrue(cancelled.await(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void anInterruptEndsTheCall() {
    service.decideItem = asked -> DecideStreamResponse.getDefaultInstance();
    Iterator<DecideStreamResponse> answers = client.decideStream(List.of(request(1))).iterator();
    Thread.currentThread().interrupt();
    RouterException thrown =
        assertThrows(
            RouterException.class,
            () -> {
              while (answers.hasNext()) {
                answers.next();
              }
            });
    assertEquals(Status.Code.CANCELLED, thrown.code());
    assertTrue(Thread.interrupted());
  }

  @Test
  void aPageIsAskedForWhenItIsComeTo() {
    List<String> asked = new java.util.ArrayList<>();
    Stream<Integer> items =
        CatalogCalls.paged(
            "",
            token -> {
              asked.add(token);
              return token;
            },
            token -> token.equals("b") ? List.of() : List.of(1, 2),
            token ->
                token.isEmpty() ? "a" : token.equals("a") ? "b" : token.equals("b") ? "c" : "");
    Iterator<Integer> iterator = items.iterator();
    assertEquals(List.of(1, 2), List.of(iterator.next(), iterator.next()));
    assertEquals(List.of(""), asked);
    assertEquals(List.of(1, 2, 1, 2), Stream.generate(iterator::next).limit(4).toList());
    assertFalse(iterator.hasNext());
    assertEquals(List.of("", "a", "b", "c"), asked);
  }
}
