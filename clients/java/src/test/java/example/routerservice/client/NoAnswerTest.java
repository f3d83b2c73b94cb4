// What a caller gets where there is no answer: an exception of its kind, never an endpoint.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.RouteRequest;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NoAnswerTest extends WithService {
  /** What a decision that ends with a status throws. */
  private RouterException thrown(StatusRuntimeException status) {
    service.decide =
        () -> {
          throw status;
        };
    RouterException thrown = assertThrows(RouterException.class, () -> client.decide(ANY));
    CompletionException later =
        assertThrows(CompletionException.class, () -> client.decideAsync(ANY).join());
    assertEquals(thrown.getClass(), later.getCause().getClass());
    assertEquals(2, service.asked.size()); // nothing beneath tried again
    return thrown;
  }

  private static StatusRuntimeException rich(
      Status.Code code, String reason, BadRequest.FieldViolation... violations) {
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(code.value())
            .setMessage("as the test says")
            .addDetails(Any.pack(ErrorInfo.newBuilder().setReason(reason).build()))
            .addDetails(
                Any.pack(
                    BadRequest.newBuilder().addAllFieldViolations(List.of(violations)).build()))
            .build());
  }

  @ParameterizedTest
  @CsvSource({
    "UNAVAILABLE, RouterUnavailableException",
    "DEADLINE_EXCEEDED, RouterTimeoutException",
    "INVALID_ARGUMENT, InvalidRequestException",
    "PERMISSION_DENIED, PermissionDeniedException",
    "UNAUTHENTICATED, UnauthenticatedException",
    "RESOURCE_EXHAUSTED, LimitExceededException",
    "INTERNAL, RouterException",
    "NOT_FOUND, RouterException",
  })
  void aCodeHasItsKind(Status.Code code, String kind) {
    RouterException thrown = thrown(code.toStatus().asRuntimeException());
    assertEquals(kind, thrown.getClass().getSimpleName());
    assertEquals(code, thrown.code());
    assertEquals(code.name(), thrown.getMessage());
    assertEquals("", thrown.reason());
  }

  @ParameterizedTest
  @CsvSource({
    "NOT_FOUND, ERROR_REASON_POLICY_NOT_FOUND, PolicyNotFoundException",
    "NOT_FOUND, ERROR_REASON_WORKLOAD_NOT_FOUND, WorkloadNotFoundException",
    "NOT_FOUND, ERROR_REASON_TRACE_NOT_FOUND, TraceNotFoundException",
    "INVALID_ARGUMENT, ERROR_REASON_ENDPOINT_NOT_LISTED, EndpointNotListedException",
    "INVALID_ARGUMENT, ERROR_REASON_NO_DEFAULT_POLICY, InvalidRequestException",
    "UNAVAILABLE, ERROR_REASON_DRAINING, RouterUnavailableException",
  })
  void aReasonTellsMore(Status.Code code, String reason, String kind) {
    RouterException thrown = thrown(rich(code, reason));
    assertEquals(kind, thrown.getClass().getSimpleName());
    assertEquals(List.of(code, reason), List.of(thrown.code(), thrown.reason()));
    assertEquals("as the test says", thrown.getMessage());
  }

  @Test
  void everyBadFieldIsNamed() {
    BadRequest.FieldViolation bad =
        BadRequest.FieldViolation.newBuilder()
            .setField("request.max_price")
            .setDescription("negative")
            .build();
    RouterException thrown =
        thrown(rich(Status.Code.INVALID_ARGUMENT, "ERROR_REASON_INVALID_REQUEST", bad, bad));
    assertEquals(2, thrown.violations().size());
    assertEquals("request.max_price", thrown.violations().get(0).getField());
    assertEquals("negative", thrown.violations().get(0).getDescription());
  }

  @Test
  void detailsThatCannotBeReadTellNothing() {
    Metadata odd = new Metadata();
    odd.put(
        Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER),
        new byte[] {1, 2, 3});
    RouterException thrown = thrown(Status.UNAVAILABLE.asRuntimeException(odd));
    assertEquals("RouterUnavailableException", thrown.getClass().getSimpleName());
    Metadata half = new Metadata();
    half.put(
        ProtoUtils.keyForProto(com.google.rpc.Status.getDefaultInstance()),
        com.google.rpc.Status.newBuilder()
            .setCode(3)
            .addDetails(
                Any.newBuilder()
                    .setTypeUrl("type.googleapis.com/google.rpc.BadRequest")
                    .setValue(com.google.protobuf.ByteString.copyFrom(new byte[] {1})))
            .build());
    assertEquals(List.of(), Errors.of(Status.INVALID_ARGUMENT, half).violations());
  }

  @Test
  void aServiceThatIsNotThereMeansNoCall() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    String nowhere = FaultyBackend.refused().getAuthority();
    try (RouterClient away = RouterClient.connect(nowhere)) {
      RouterException none =
          assertThrows(
              RouterUnavailableException.class,
              () -> away.run(ANY, attempt -> calls.incrementAndGet()));
      assertEquals(Status.Code.UNAVAILABLE, none.code());
      assertFalse(none.getMessage().isEmpty());
      CompletionException later =
          assertThrows(
              CompletionException.class,
              () ->
                  away.runAsync(
                          ANY,
                          attempt -> {
                            throw new AssertionError("called");
                          })
                      .join());
      assertInstanceOf(RouterUnavailableException.class, later.getCause());
    }
    assertEquals(0, calls.get());
  }

  @Test
  void aServiceThatComesBackIsFoundAgain(@TempDir Path folder) throws Exception {
    Path socket = folder.resolve("router.sock");
    try (RouterClient unix = RouterClient.connect("unix:" + socket)) {
      assertThrows(RouterUnavailableException.class, () -> unix.decide(ANY));
      assertThrows(RouterUnavailableException.class, () -> unix.decide(ANY));
      try (ScriptedService back = ScriptedService.on(socket)) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (back.asked.isEmpty() && System.nanoTime() < until) {
          try {
            unix.decide(ANY);
          } catch (RouterUnavailableException notYet) {
            Thread.sleep(20);
          }
        }
        assertEquals(1, back.asked.size());
      }
    }
  }

  @Test
  void everyCallConnectsAnewWhileTheServiceIsAway() throws Exception {
    AtomicInteger connections = new AtomicInteger();
    try (ServerSocket away = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        RouterClient calling = RouterClient.connect("127.0.0.1:" + away.getLocalPort())) {
      Thread hangingUp =
          new Thread(
              () -> {
                try {
                  while (true) {
                    away.accept().close();
                    connections.incrementAndGet();
                  }
                } catch (IOException closed) {
                  // the test is over
                }
              });
      hangingUp.setDaemon(true);
      hangingUp.start();
      // gRPC by itself would wait 1 s, then 1.6 s, and so on: it would get to six.
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (connections.get() < 20 && System.nanoTime() < until) {
        assertThrows(RouterUnavailableException.class, () -> calling.decide(ANY));
      }
      assertTrue(connections.get() >= 20, connections::toString);
    }
  }

  @Test
  void aDeadlineHoldsWhereNobodyAnswers() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        RouterClient waiting = RouterClient.connect("127.0.0.1:" + silent.getLocalPort())) {
      RouterClient brief = waiting.withTimeout(Duration.ofMillis(100));
      assertThrows(RouterTimeoutException.class, () -> brief.decide(ANY));
      CompletionException later =
          assertThrows(CompletionException.class, () -> brief.decideAsync(ANY).join());
      assertInstanceOf(RouterTimeoutException.class, later.getCause());
      DecideRequest within100ms =
          ANY.toBuilder().setRequest(RouteRequest.newBuilder().setDeadlineMs(100)).build();
      assertThrows(
          RouterTimeoutException.class, () -> waiting.run(within100ms, attempt -> "never"));
    }
  }

  @Test
  void theServiceIsToldTheDeadline() throws Exception {
    client.decide(ANY);
    client.run(
        ANY.toBuilder().setRequest(RouteRequest.newBuilder().setDeadlineMs(20_000)).build(),
        attempt -> "words");
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    Context.current().withDeadlineAfter(10, TimeUnit.SECONDS, timer).call(() -> client.decide(ANY));
    timer.shutdownNow();
    List<Long> left = service.secondsLeft;
    assertTrue(left.get(0) <= 30 && left.get(0) > 20, left::toString);
    assertTrue(left.get(1) <= 20 && left.get(1) > 10, left::toString);
    assertTrue(left.get(2) <= 10, left::toString);
  }
}
