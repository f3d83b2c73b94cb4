// Runs with a real service and a backend that does wrong in every way.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import example.routerservice.v1.Attempt;
import example.routerservice.v1.Candidate;
import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.RouteRequest;
import example.routerservice.v1.Trace;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@EnabledIfEnvironmentVariable(named = Live.VARIABLE, matches = ".+", disabledReason = Live.MISSING)
class LiveRunsTest {
  private static final JsonObject LIVE = Vectors.file("live.json");
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static Live places;

  @BeforeAll
  static void find() {
    places = Live.places();
  }

  static Stream<Named<JsonObject>> faults() {
    return LIVE.getAsJsonObject("runs").entrySet().stream()
        .map(one -> Named.of(one.getKey(), withName(one)));
  }

  private static JsonObject withName(Map.Entry<String, JsonElement> run) {
    JsonObject named = run.getValue().getAsJsonObject().deepCopy();
    named.addProperty("fault", run.getKey());
    return named;
  }

  /**
   * One attempt with the JDK's client, as a proxy makes it that streams where the answer is cut
   * off.
   */
  private static JsonElement call(Try attempt) throws Exception {
    String path = attempt.endpointId().split("@", 2)[0];
    String where = path.equals("refused") ? places.refused() : places.backend();
    HttpResponse<InputStream> response =
        attempt.await(
            HTTP.sendAsync(
                HttpRequest.newBuilder(URI.create(where + "/" + path))
                    .POST(HttpRequest.BodyPublishers.ofString("{}"))
                    .build(),
                HttpResponse.BodyHandlers.ofInputStream()));
    if (response.statusCode() >= 400) {
      throw CallFailedException.http(response);
    }
    try (InputStream body = response.body()) {
      byte[] first = body.readNBytes(4);
      attempt.firstToken();
      if (path.equals("truncated")) {
        attempt.passedOn();
      }
      String rest = new String(body.readAllBytes(), StandardCharsets.UTF_8);
      return JsonParser.parseString(new String(first, StandardCharsets.UTF_8) + rest);
    }
  }

  private static String accept(JsonElement answer) {
    return answer.isJsonObject() && answer.getAsJsonObject().has("total") ? "" : "no total";
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("faults")
  void aFaultIsDealtWithAndTold(JsonObject expected) throws Exception {
    String fault = Vectors.text(expected, "fault");
    String model = fault + "-" + places.kind();
    RouteRequest asked =
        RouteRequest.newBuilder()
            .setModel(model)
            .setDeadlineMs(expected.get("deadline_ms").getAsInt())
            .build();
    try (RouterClient router =
        RouterClient.builder().target(places.router()).timeout(LONG).build()) {
      Run<JsonElement> run =
          router.run(
              DecideRequest.newBuilder().setRequest(asked).setOperationId("live").build(),
              LiveRunsTest::call,
              RunOptions.accepting(LiveRunsTest::accept)
                  .replayable(expected.get("replayable").getAsBoolean()));
      assertTrue(router.reports().flush(LONG));
      assertEquals(1, router.reports().delivered());

      assertEquals(Vectors.text(expected, "outcome"), run.outcome().written());
      assertEquals(
          run.outcome() == Outcome.ACCEPTED ? LIVE.getAsJsonObject("answer") : null, run.result());
      assertEquals(attempts(expected), attempts(run));
      Trace trace = router.getTrace(run.report().getTraceId());
      assertEquals(1, trace.getReportsCount());
      assertEquals(run.report(), trace.getReports(0).toBuilder().clearCaller().build());
      if (expected.has("retry_after_ms")) { // the bad endpoint is left out for so long
        assertEquals(
            expected.get("retry_after_ms").getAsInt(), run.attempts().get(0).getRetryAfterMs());
        List<String> left =
            router
                .decide(DecideRequest.newBuilder().setRequest(asked).build())
                .getDecision()
                .getCandidatesList()
                .stream()
                .map(Candidate::getEndpointId)
                .toList();
        assertEquals(List.of("good@" + model), left);
      }
    }
  }

  private static List<String> attempts(JsonObject expected) {
    List<String> attempts = new ArrayList<>();
    for (JsonElement one : expected.getAsJsonArray("attempts")) {
      attempts.add(
          one.getAsJsonArray().get(0).getAsString() + " " + one.getAsJsonArray().get(1).getAsInt());
    }
    return attempts;
  }

  private static List<String> attempts(Run<?> run) {
    List<String> attempts = new ArrayList<>();
    for (Attempt one : run.attempts()) {
      attempts.add(one.getFailureClass() + " " + one.getStatusCode());
    }
    return attempts;
  }

  @Test
  void theExampleAnswers() throws Exception {
    Path example = Path.of("examples", "Ask.java");
    assertTrue(Files.readAllLines(example).size() <= 40);
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            example.toString(),
            places.backend() + "/v1",
            "Is it?");
    builder.environment().put("ROUTER", places.router());
    Process program = builder.start();
    String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    String told = new String(program.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(program.waitFor(60, TimeUnit.SECONDS));
    assertEquals("Yes.\n", said, told);
    assertTrue(told.contains("at attempt 1"), told);
  }
}
