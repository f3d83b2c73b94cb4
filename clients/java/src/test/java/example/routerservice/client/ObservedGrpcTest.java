// What is seen of a caller's own gRPC calls, by calls that are really made.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.RouterServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class ObservedGrpcTest {
  private static final DecideRequest ANY = DecideRequest.getDefaultInstance();

  /** What is seen of a call that takes so long at most. */
  private static Seen seen(String target, int millis) {
    ManagedChannel channel =
        Grpc.newChannelBuilder(target, InsecureChannelCredentials.create()).build();
    try {
      return Observed.seenOf(
          assertThrows(
              StatusRuntimeException.class,
              () ->
                  RouterServiceGrpc.newBlockingStub(channel)
                      .withDeadlineAfter(millis, TimeUnit.MILLISECONDS)
                      .decide(ANY)));
    } finally {
      channel.shutdownNow();
    }
  }

  private static String row(Seen seen) {
    Verdict verdict = FailureClasses.classify(seen);
    return "%s %s %s %s %s"
        .formatted(
            verdict.failureClass(),
            verdict.then(),
            verdict.statusCode(),
            verdict.errorCode(),
            verdict.retryAfterMs());
  }

  @Test
  void aRefusalWasNotSent() throws Exception {
    assertEquals(
        "transient SAME_ONCE 14  null", row(seen(FaultyBackend.refused().getAuthority(), 30_000)));
  }

  @Test
  void aTimeOutOfConnectingWasNotSent() throws Exception {
    List<Socket> waiting = new ArrayList<>();
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      try {
        for (int i = 0; i < 100; i++) {
          Socket one = new Socket();
          waiting.add(one);
          one.connect(full.getLocalSocketAddress(), 100);
        }
      } catch (SocketTimeoutException isFull) {
        // from here on nobody is taken, and nobody is refused
      }
      assertEquals(
          "transient SAME_ONCE 4  null", row(seen("127.0.0.1:" + full.getLocalPort(), 2_000)));
    } finally {
      for (Socket one : waiting) {
        one.close();
      }
    }
  }

  @Test
  void aTimeOutAfterItWasSentIsLost() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    try (ScriptedService service = ScriptedService.start()) {
      Supplier<example.routerservice.v1.DecideResponse> answer = service.decide;
      service.decide =
          () -> {
            try {
              release.await();
            } catch (InterruptedException interrupted) {
              Thread.currentThread().interrupt();
            }
            return answer.get();
          };
      assertEquals("ambiguous NEXT_IF_REPLAYABLE 4  null", row(seen(service.target(), 3_000)));
      release.countDown();
    }
  }

  @Test
  void whatTheBackendTellsIsRead() throws Exception {
    try (ScriptedService service = ScriptedService.start()) {
      service.decide =
          () -> {
            throw StatusProto.toStatusRuntimeException(
                com.google.rpc.Status.newBuilder()
                    .setCode(Status.Code.PERMISSION_DENIED.value())
                    .setMessage("m")
                    .addDetails(
                        Any.pack(ErrorInfo.newBuilder().setReason("BILLING_DISABLED").build()))
                    .addDetails(
                        Any.pack(
                            RetryInfo.newBuilder()
                                .setRetryDelay(
                                    Duration.newBuilder().setSeconds(3).setNanos(500_000_000))
                                .build()))
                    .build());
          };
      assertEquals("permanent NEXT 7 BILLING_DISABLED 3500", row(seen(service.target(), 30_000)));
      Metadata trailers = new Metadata();
      trailers.put(Metadata.Key.of("Retry-After", Metadata.ASCII_STRING_MARSHALLER), "2");
      service.decide =
          () -> {
            throw Status.RESOURCE_EXHAUSTED.asRuntimeException(trailers);
          };
      assertEquals("transient NEXT_ELSE_SAME 8  2000", row(seen(service.target(), 30_000)));
    }
  }

  @Test
  void aStatusThatIsNoRuntimeExceptionIsOneToo() {
    Throwable context =
        new StatusException(
            Status.INVALID_ARGUMENT.withDescription(
                "The input token count exceeds the maximum number of tokens allowed (8192)."));
    assertEquals(
        "incompatible NEXT_LARGER_CONTEXT 3 context_length_exceeded null",
        row(Observed.seenOf(new IllegalStateException(context))));
  }

  @Test
  void aBackendThatCancelsIsLost() throws Exception {
    try (ScriptedService service = ScriptedService.start()) {
      service.decide =
          () -> {
            throw Status.CANCELLED.withDescription("by the backend itself").asRuntimeException();
          };
      assertEquals("ambiguous NEXT_IF_REPLAYABLE 1  null", row(seen(service.target(), 30_000)));
    }
  }
}
