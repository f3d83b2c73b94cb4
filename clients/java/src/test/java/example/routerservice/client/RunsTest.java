// Whole runs of the vectors over the wire, blocking and not, without waiting.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.protobuf.Timestamp;
import example.routerservice.v1.Attempt;
import example.routerservice.v1.Candidate;
import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.DecideResponse;
import example.routerservice.v1.Decision;
import example.routerservice.v1.Report;
import example.routerservice.v1.RouteRequest;
import io.grpc.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RunsTest {
  private static final JsonObject RUNS = Vectors.file("runs.json");
  private static final Instant NOW = Instant.parse(Vectors.text(RUNS, "now"));
  private static final Duration LONG = Duration.ofSeconds(30);
  private static ScriptedService service;
  private static RouterClient client;

  @BeforeAll
  static void open() throws Exception {
    service = ScriptedService.start();
    client = RouterClient.builder().target(service.target()).timeout(LONG).build();
  }

  @AfterAll
  static void close() {
    client.close();
    service.close();
  }

  @BeforeEach
  void forget() {
    service.reports.clear();
    service.asked.clear();
  }

  static Stream<Named<JsonObject>> runs() {
    return Vectors.cases(RUNS.getAsJsonArray("runs"));
  }

  @Test
  void allAreHere() {
    assertTrue(runs().count() >= 70);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("runs")
  void blocking(JsonObject one) throws Exception {
    Backends backends = new Backends(one);
    Run<String> run = null;
    if (isError(one)) {
      assertThrows(
          RouterUnavailableException.class,
          () -> client.run(request(one), backends::call, options(one, backends)));
    } else {
      run = client.run(request(one), backends::call, options(one, backends));
    }
    check(one, run, backends);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("runs")
  void asynchronous(JsonObject one) throws Exception {
    Backends backends = new Backends(one);
    CompletableFuture<Run<String>> running =
        client.runAsync(
            request(one),
            attempt -> CompletableFuture.completedFuture(backends.call(attempt)),
            options(one, backends));
    Run<String> run = null;
    if (isError(one)) {
      CompletionException error = assertThrows(CompletionException.class, running::join);
      assertInstanceOf(RouterUnavailableException.class, error.getCause());
    } else {
      run = running.join();
    }
    check(one, run, backends);
  }

  /** Endpoints that do what the script says, one line a call or a cancelled wait. */
  private static final class Backends extends World {
    private final List<JsonObject> script = new ArrayList<>();
    private final Map<String, String> refusing = new HashMap<>();

    Backends(JsonObject run) {
      super(NOW, numbers(run.getAsJsonArray("draws")));
      run.getAsJsonArray("script").forEach(line -> script.add(line.getAsJsonObject()));
      JsonObject told = run.getAsJsonObject("decide");
      service.decide =
          () -> {
            goOn(told.get("takes_ms").getAsLong());
            return decided(told);
          };
    }

    String call(Try attempt) {
      JsonObject line = script.remove(0);
      Long timeout = timeout(attempt);
      goOn(line.get("takes_ms").getAsLong());
      Long extended = null;
      if (Vectors.truth(line, "passed_on", false)) {
        attempt.passedOn();
        extended = timeout(attempt);
      }
      steps.add(called(attempt.endpointId(), timeout, extended));
      if (line.has("seen")) {
        throw new CallFailedException(Vectors.seen(line.getAsJsonObject("seen")));
      }
      refusing.put(Vectors.text(line, "answer"), Vectors.text(line, "not_accepted"));
      return Vectors.text(line, "answer");
    }

    @Override
    public void sleep(Duration duration) throws InterruptedException {
      super.sleep(duration);
      if (!script.isEmpty()
          && script.get(0).has("seen")
          && Vectors.text(script.get(0).getAsJsonObject("seen"), "kind")
              .equals("caller_cancelled")) {
        script.remove(0);
        throw CallFailedException.cancelled();
      }
    }

    private static Long timeout(Try attempt) {
      return attempt.timeout().map(Duration::toMillis).orElse(null);
    }

    private static List<Double> numbers(JsonArray from) {
      List<Double> numbers = new ArrayList<>();
      from.forEach(one -> numbers.add(one.getAsDouble()));
      return numbers;
    }
  }

  private static DecideResponse decided(JsonObject told) {
    if (told.has("error")) {
      Status.Code code = Status.Code.valueOf(Vectors.text(told, "error"));
      throw code.toStatus().withDescription("as the vector says").asRuntimeException();
    }
    if (told.has("refusal")) {
      JsonObject refusal = told.getAsJsonObject("refusal");
      return ScriptedService.refusal(
          Vectors.text(refusal, "code"),
          refusal.get("http_status").getAsInt(),
          refusal.get("retry_after_ms").getAsLong());
    }
    Decision.Builder decision = Decision.newBuilder().setTraceId(ScriptedService.TRACE_ID);
    for (JsonElement one : told.getAsJsonArray("candidates")) {
      decision.addCandidates(candidate(one.getAsJsonObject()));
    }
    return DecideResponse.newBuilder().setDecision(decision).build();
  }

  private static Candidate candidate(JsonObject one) {
    Candidate.Builder candidate =
        Candidate.newBuilder()
            .setEndpointId(Vectors.text(one, "endpoint_id"))
            .setNeedMs(one.get("need_ms").getAsInt());
    if (one.has("context_window")) {
      candidate.setContextWindow(one.get("context_window").getAsInt());
    }
    if (one.has("allowance_ms")) {
      candidate.setAllowanceMs(one.get("allowance_ms").getAsInt());
    }
    return candidate.build();
  }

  private static boolean isError(JsonObject one) {
    return Vectors.text(one.getAsJsonObject("expect"), "outcome").equals("error");
  }

  private static DecideRequest request(JsonObject one) {
    JsonObject asked = one.getAsJsonObject("request");
    RouteRequest.Builder request = RouteRequest.newBuilder();
    if (asked.has("deadline_ms")) {
      request.setDeadlineMs(asked.get("deadline_ms").getAsInt());
    }
    if (asked.has("max_attempts")) {
      request.setMaxAttempts(asked.get("max_attempts").getAsInt());
    }
    return DecideRequest.newBuilder().setOperationId("mine").setRequest(request).build();
  }

  private static RunOptions<String> options(JsonObject one, Backends backends) {
    return RunOptions.<String>accepting(backends.refusing::get)
        .replayable(one.get("replayable").getAsBoolean())
        .runtime(backends);
  }

  private static void check(JsonObject one, Run<String> run, Backends backends) throws Exception {
    assertTrue(client.reports().flush(LONG));
    JsonObject expected = one.getAsJsonObject("expect");
    assertEquals(steps(expected.getAsJsonArray("steps")), backends.steps);
    assertEquals(List.of(), backends.script);
    assertEquals(List.of(), backends.draws);
    List<Report> reports =
        expected.get("report").isJsonNull()
            ? List.of()
            : List.of(report(expected.getAsJsonObject("report")));
    assertEquals(reports, service.reports);
    assertEquals(1, service.asked.size());
    if (run == null) {
      return;
    }
    assertEquals(Vectors.text(expected, "outcome"), run.outcome().written());
    assertEquals(
        expected.get("answer").isJsonNull() ? null : Vectors.text(expected, "answer"),
        run.result());
    if (reports.isEmpty()) {
      assertEquals(service.decide.get().getRefusal(), run.refusal());
      assertNull(run.decision());
      assertNull(run.report());
    } else {
      assertEquals(reports.get(0), run.report());
      assertEquals(reports.get(0).getAttemptsList(), run.attempts());
    }
  }

  private static List<String> steps(JsonArray from) {
    List<String> steps = new ArrayList<>();
    for (JsonElement element : from) {
      JsonObject step = element.getAsJsonObject();
      steps.add(
          step.has("call")
              ? called(
                  Vectors.text(step, "call"),
                  Vectors.integer(step, "timeout_ms"),
                  Vectors.integer(step, "extended_ms"))
              : "wait " + step.get("wait_ms").getAsLong());
    }
    return steps;
  }

  /** A call as it is compared: with its time-out, and that once a part was passed on. */
  private static String called(String endpointId, Number timeoutMs, Number extendedMs) {
    return "call %s %s then %s".formatted(endpointId, timeoutMs, extendedMs);
  }

  private static Report report(JsonObject from) {
    Report.Builder report =
        Report.newBuilder()
            .setTraceId(ScriptedService.TRACE_ID)
            .setOperationId("mine")
            .setOutcome(Vectors.text(from, "outcome"));
    for (JsonElement element : from.getAsJsonArray("attempts")) {
      Attempt.Builder attempt = report.addAttemptsBuilder();
      for (Map.Entry<String, JsonElement> field : element.getAsJsonObject().entrySet()) {
        set(attempt, field.getKey(), field.getValue());
      }
    }
    return report.build();
  }

  private static void set(Attempt.Builder attempt, String name, JsonElement value) {
    if (name.equals("started_ms")) {
      Instant started = NOW.plusMillis(value.getAsLong());
      attempt.setStartedAt(
          Timestamp.newBuilder().setSeconds(started.getEpochSecond()).setNanos(started.getNano()));
      return;
    }
    boolean isText = value.getAsJsonPrimitive().isString();
    attempt.setField(
        Attempt.getDescriptor().findFieldByName(name),
        isText ? value.getAsString() : (Object) value.getAsInt());
  }
}
