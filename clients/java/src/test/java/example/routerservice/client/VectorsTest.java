// The vectors of clients/conformance, but for whole runs.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class VectorsTest {
  private static final JsonObject CLASSIFICATION = Vectors.file("classification.json");
  private static final JsonObject DIVISION = Vectors.file("time_division.json");
  private static final JsonObject WAITING = Vectors.file("waiting.json");
  private static final JsonObject KEYS = Vectors.file("execution_keys.json");

  static Stream<Named<JsonObject>> failures() {
    return Vectors.cases(CLASSIFICATION.getAsJsonArray("cases"));
  }

  static Stream<Named<JsonObject>> allowances() {
    return Vectors.cases(DIVISION.getAsJsonArray("allowances"));
  }

  static Stream<Named<JsonObject>> beforeAnAttempt() {
    return Vectors.cases(DIVISION.getAsJsonArray("before_an_attempt"));
  }

  static Stream<Named<JsonObject>> jitter() {
    return Vectors.cases(WAITING.getAsJsonArray("jitter"));
  }

  static Stream<Named<JsonObject>> retryAfter() {
    return Vectors.cases(WAITING.getAsJsonArray("retry_after"));
  }

  static Stream<Named<JsonObject>> keys() {
    return Vectors.cases(KEYS.getAsJsonArray("cases"));
  }

  static Stream<Named<JsonObject>> refusedKeys() {
    return Vectors.cases(KEYS.getAsJsonArray("refused"));
  }

  @Test
  void theTableIsTheOneThatShips() throws IOException {
    try (InputStream shipped = FailureTable.class.getResourceAsStream(FailureTable.FILE)) {
      assertArrayEquals(
          Files.readAllBytes(Vectors.CONFORMANCE.resolve(FailureTable.FILE)),
          shipped.readAllBytes());
    }
  }

  @Test
  void noFileOfVectorsIsEmpty() {
    assertTrue(failures().count() >= 224);
    assertTrue(
        Stream.of(allowances(), beforeAnAttempt(), jitter(), retryAfter(), keys(), refusedKeys())
            .allMatch(one -> one.count() > 5));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("failures")
  void whatWasSeenIsClassified(JsonObject one) {
    JsonObject expected = one.getAsJsonObject("expect").deepCopy();
    expected.remove("suppress_for_ms"); // the service's to say
    Instant now = Instant.parse(Vectors.text(CLASSIFICATION, "now"));
    Verdict verdict = FailureClasses.classify(Vectors.seen(one.getAsJsonObject("seen")), now);
    JsonObject told = new JsonObject();
    told.addProperty("class", verdict.failureClass());
    told.addProperty("then", verdict.then().name().toLowerCase(Locale.ROOT));
    told.addProperty("of", verdict.of());
    told.addProperty("status_code", verdict.statusCode());
    told.addProperty("error_code", verdict.errorCode());
    told.addProperty("retry_after_ms", verdict.retryAfterMs());
    if (one.has("need_ms")) {
      expected.remove("effect"); // depends on the need, which the service alone knows for certain
    } else {
      told.addProperty("effect", verdict.effect());
    }
    assertEquals(expected, told);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("allowances")
  void timeIsDivided(JsonObject one) {
    assertEquals(
        longs(one.getAsJsonArray("expect_ms")),
        TimeBudget.allowancesMs(
            one.get("spendable_ms").getAsLong(), one.get("attempts").getAsInt()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("beforeAnAttempt")
  void timeIsDividedAnew(JsonObject one) {
    JsonObject expected = one.getAsJsonObject("expect");
    long left =
        TimeBudget.spendableMs(one.get("deadline_ms").getAsLong()) - one.get("gone_ms").getAsLong();
    assertEquals(expected.get("left_ms").getAsLong(), left);
    Long allowed =
        TimeBudget.allowanceMs(
            left, longs(one.getAsJsonArray("needs_ms")), one.get("attempts_left").getAsInt());
    JsonArray allowances = expected.getAsJsonArray("allowances_ms");
    assertEquals(
        expected.get("starts").getAsBoolean() ? allowances.get(0).getAsLong() : null, allowed);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("jitter")
  void jitterIsFull(JsonObject one) {
    assertEquals(
        one.get("expect_ms").getAsLong(),
        TimeBudget.jitterMs(one.get("retries").getAsInt(), one.get("draw").getAsDouble()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("retryAfter")
  void aRetryAfterTakesItsPlace(JsonObject one) {
    long wait =
        Math.max(0, one.get("retry_after_ms").getAsLong() - one.get("since_ms").getAsLong());
    Integer left = Vectors.integer(one, "left_ms");
    boolean fits =
        TimeBudget.fits(
            wait, one.get("need_ms").getAsLong(), left == null ? null : left.longValue());
    Integer expected = Vectors.integer(one, "expect_ms");
    assertEquals(expected == null ? null : expected.longValue(), fits ? wait : null);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("keys")
  void argumentsHaveOneFormAndOneKey(JsonObject one) {
    String arguments = Vectors.text(one, "arguments");
    String canonical = Vectors.text(one, "canonical");
    assertEquals(canonical, CanonicalJson.ofText(arguments));
    assertEquals(canonical, CanonicalJson.ofText(canonical));
    assertEquals(
        Vectors.text(one, "key"),
        ExecutionKey.ofText(
            Vectors.text(one, "operation_id"), Vectors.text(one, "tool_name"), arguments));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refusedKeys")
  void whatHasNoCanonicalFormIsRefused(JsonObject one) {
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> CanonicalJson.ofText(Vectors.text(one, "arguments")));
    assertTrue(refused.getMessage().matches(".*(canonical form|another number).*"));
  }

  private static List<Long> longs(JsonArray from) {
    List<Long> longs = new ArrayList<>();
    from.forEach(one -> longs.add(one.getAsLong()));
    return longs;
  }
}
