// How a run ends otherwise: interrupted, by a fault of the caller's own, without an answer.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.Attempt;
import example.routerservice.v1.Candidate;
import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.Decision;
import example.routerservice.v1.Inline;
import example.routerservice.v1.RouteRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.DataFormatException;
import org.junit.jupiter.api.Test;

class RunEndsTest extends WithService {
  private List<String> told() throws Exception {
    return service.told(client.reports());
  }

  @Test
  void aFaultOfOnesOwnIsReportedAndThrownAgain() throws Exception {
    IllegalStateException mine = new IllegalStateException("mine");
    Call<String> call =
        attempt -> {
          throw mine;
        };
    assertSame(mine, assertThrows(IllegalStateException.class, () -> client.run(ANY, call)));
    assertEquals(List.of("failed", "a::499"), told());
  }

  @Test
  void aCheckedFaultOfOnesOwnComesWithinAnother() throws Exception {
    Call<String> call =
        attempt -> {
          throw new DataFormatException("mine");
        };
    Throwable thrown = assertThrows(CompletionException.class, () -> client.run(ANY, call));
    assertInstanceOf(DataFormatException.class, thrown.getCause());
    assertEquals(List.of("failed", "a::499"), told());
  }

  @Test
  void aFaultInAcceptanceIsThrownToo() throws Exception {
    RunOptions<String> options =
        RunOptions.accepting(
            answer -> {
              throw new UnsupportedOperationException(answer);
            });
    assertThrows(
        UnsupportedOperationException.class, () -> client.run(ANY, attempt -> "words", options));
    assertEquals(List.of("failed", "a::499"), told());
  }

  @Test
  void noAnswerSaysWhatWasTried() throws Exception {
    Run<String> run =
        client.run(
            ANY,
            attempt -> {
              throw attempt.number() == 1
                  ? CallFailedException.http(503, Map.of(), null)
                  : CallFailedException.http(
                      400, Map.of(), "{\"error\":{\"code\":\"content_filter\"}}");
            });
    NotAnsweredException none = assertThrows(NotAnsweredException.class, run::answer);
    assertEquals(
        "failed: tried: a (transient 503), b (permanent 400 content_filter)", none.getMessage());
    assertSame(run, none.run());
    assertEquals(400, run.failure().status());
  }

  @Test
  void aRefusalSaysWhyAndNothingIsCalledOrReported() throws Exception {
    service.decide = () -> ScriptedService.refusal("model_not_found", 404, 0);
    Run<String> run = client.run(ANY, attempt -> "never");
    NotAnsweredException none = assertThrows(NotAnsweredException.class, run::answer);
    assertEquals("refused: refused: model_not_found", none.getMessage());
    assertEquals(404, run.refusal().getHttpStatus());
    assertEquals(List.of(), run.attempts());
    assertEquals(0, client.reports().delivered() + client.reports().waiting());
  }

  @Test
  void whatTheEndpointTellsIsReportedAndAcceptanceOnlyWhereItWasAsked() throws Exception {
    Run<String> run =
        client.run(
            ANY,
            attempt -> {
              attempt.firstToken();
              attempt.inputTokens(5).outputTokens(0).finishReason("stop").cost(0.5).statusCode(200);
              return "words";
            });
    assertEquals("words", run.answer());
    told();
    Attempt attempt = service.reports.get(0).getAttempts(0);
    assertEquals(5, attempt.getInputTokens());
    assertTrue(attempt.hasOutputTokens() && attempt.hasTimeToFirstTokenMs());
    assertEquals("stop", attempt.getFinishReason());
    assertEquals(0.5, attempt.getCost());
    assertEquals("", attempt.getValidationResult());
  }

  @Test
  void tokensThatAreNoneAreRefused() throws Exception {
    assertThrows(
        IllegalArgumentException.class,
        () -> client.run(ANY, attempt -> attempt.inputTokens(-1).endpointId()));
  }

  @Test
  void candidatesOfOnesOwnAreNotReported() throws Exception {
    Run<String> run =
        client.run(
            ANY.toBuilder().setInline(Inline.getDefaultInstance()).build(), attempt -> "words");
    assertEquals("words", run.answer());
    assertNull(run.report());
    assertEquals(0, client.reports().delivered() + client.reports().waiting());
  }

  @Test
  void anAnswerThatComesTooLateIsCancelledAndTheNextIsTried() throws Exception {
    CompletableFuture<String> never = new CompletableFuture<>();
    DecideRequest within2s =
        ANY.toBuilder().setRequest(RouteRequest.newBuilder().setDeadlineMs(2000)).build();
    RouterRuntime runtime = new World(Instant.now(), List.of());
    Run<String> run =
        client.run(
            within2s,
            attempt -> attempt.number() == 1 ? attempt.await(never) : attempt.endpointId(),
            RunOptions.<String>defaults().replayable(true).runtime(runtime));
    assertTrue(never.isCancelled());
    assertEquals("b", run.answer());
    assertEquals(List.of("accepted", "a:ambiguous:0 b::0"), told());
    assertEquals(1110, run.attempts().get(0).getTimeoutMs()); // 45/77 of 1900
  }

  @Test
  void whatAnAnswerFailedWithIsThrownAsItIs() throws Exception {
    Run<String> run =
        client.run(
            ANY,
            attempt ->
                attempt.await(
                    CompletableFuture.failedFuture(new java.net.ConnectException("refused"))));
    assertEquals(Outcome.FAILED, run.outcome());
    assertEquals("transient", run.attempts().get(0).getFailureClass());
    assertThrows(
        TimeoutException.class,
        () ->
            new Try(
                    Candidate.getDefaultInstance(),
                    Decision.getDefaultInstance(),
                    1,
                    1L,
                    1L,
                    RouterRuntime.SYSTEM)
                .await(new CompletableFuture<>()));
  }

  @Test
  void whatWasPassedOnMayTakeAllThatIsLeft() throws Exception {
    DecideRequest within2s =
        ANY.toBuilder().setRequest(RouteRequest.newBuilder().setDeadlineMs(2000)).build();
    World world = new World(Instant.now(), List.of());
    List<Long> waits = new ArrayList<>();
    Run<String> run =
        client.run(
            within2s,
            attempt -> {
              assertEquals(1110, attempt.timeout().orElseThrow().toMillis()); // 45/77 of 1900
              assertEquals(ScriptedService.TRACE_ID, attempt.decision().getTraceId());
              world.goOn(1000);
              assertEquals(110, attempt.left().orElseThrow().toMillis());
              String answer =
                  attempt.await(
                      new CompletableFuture<>() {
                        @Override
                        public String get(long wait, TimeUnit unit) throws TimeoutException {
                          waits.add(unit.toMillis(wait));
                          world.goOn(unit.toMillis(wait));
                          if (waits.size() == 2) {
                            return "words";
                          }
                          attempt.passedOn(); // while it is waited for
                          throw new TimeoutException();
                        }
                      });
              assertEquals(1900, attempt.timeout().orElseThrow().toMillis());
              assertEquals(Duration.ZERO, attempt.left().orElseThrow());
              return answer;
            },
            RunOptions.<String>defaults().runtime(world));
    assertEquals(List.of(110L, 790L), waits);
    assertEquals("words", run.answer());
    assertEquals(1110, run.attempts().get(0).getTimeoutMs()); // that which it began with
  }

  @Test
  void whatCannotBeCalledIsPassedOver() throws Exception {
    Run<String> run =
        client.run(
            ANY,
            Try::endpointId,
            RunOptions.<String>defaults().canCall(it -> !it.getEndpointId().equals("a")));
    assertEquals("b", run.answer());
    assertEquals(List.of("accepted", "b::0"), told());
  }
}
