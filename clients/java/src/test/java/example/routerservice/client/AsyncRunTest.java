// Runs without a thread of their own: cancelled, too slow, and with the JDK's HTTP client.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.Report;
import example.routerservice.v1.RouteRequest;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AsyncRunTest extends WithService {
  /** The one report, when it has come. */
  private Report told() throws Exception {
    long until = System.nanoTime() + LONG.toNanos();
    while (service.reports.isEmpty() && System.nanoTime() < until) {
      Thread.sleep(5);
    }
    assertEquals(1, service.reports.size());
    return service.reports.get(0);
  }

  @Test
  void cancellingTheRunHangsUpOnTheBackendAndIsReported() throws Exception {
    try (FaultyBackend backend = new FaultyBackend()) {
      HttpClient http = HttpClient.newHttpClient();
      CompletableFuture<Run<Integer>> running =
          client.runAsync(
              ANY,
              attempt ->
                  http.sendAsync(
                          HttpRequest.newBuilder(backend.uri("hang")).build(),
                          HttpResponse.BodyHandlers.ofString())
                      .thenApply(HttpResponse::statusCode));
      assertTrue(backend.hanging.await(30, TimeUnit.SECONDS));
      assertTrue(running.cancel(true));
      assertTrue(backend.hungUp.await(30, TimeUnit.SECONDS));
    }
    assertEquals("cancelled", told().getOutcome());
    assertEquals(499, told().getAttempts(0).getStatusCode());
    assertEquals("", told().getAttempts(0).getFailureClass());
  }

  @Test
  void anAttemptThatTakesTooLongIsCancelledAndTheNextIsTried() throws Exception {
    CompletableFuture<String> never = new CompletableFuture<>();
    DecideRequest within3s =
        ANY.toBuilder().setRequest(RouteRequest.newBuilder().setDeadlineMs(3000)).build();
    service.decide = () -> ScriptedService.answer(List.of("a", "b"));
    Run<String> run =
        client
            .runAsync(
                within3s,
                attempt ->
                    attempt.number() == 1 ? never : CompletableFuture.completedFuture("words"),
                RunOptions.<String>defaults().replayable(true))
            .get(30, TimeUnit.SECONDS);
    assertTrue(never.isCancelled());
    assertEquals("words", run.answer());
    assertEquals("ambiguous", run.attempts().get(0).getFailureClass());
    assertTrue(run.attempts().get(0).getLatencyMs() >= run.attempts().get(0).getTimeoutMs() - 100);
  }

  @Test
  void whatWasPassedOnMayTakeAllThatIsLeft() throws Exception {
    DecideRequest within3s =
        ANY.toBuilder().setRequest(RouteRequest.newBuilder().setDeadlineMs(3000)).build();
    CompletableFuture<String> slow = new CompletableFuture<>();
    service.decide = () -> ScriptedService.answer(List.of("a", "b", "c"));
    Run<String> run =
        client
            .runAsync(
                within3s,
                attempt -> {
                  long first = attempt.timeout().orElseThrow().toMillis();
                  CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS)
                      .execute(attempt::passedOn);
                  CompletableFuture.delayedExecutor(first + 100, TimeUnit.MILLISECONDS)
                      .execute(() -> slow.complete("words"));
                  return slow;
                })
            .get(30, TimeUnit.SECONDS);
    assertEquals("words", run.answer());
    assertTrue(run.attempts().get(0).getLatencyMs() > run.attempts().get(0).getTimeoutMs());
  }

  @Test
  void cancellingDuringTheDecisionCancelsItAndNothingIsCalled() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    service.decide =
        () -> {
          asked.countDown();
          try {
            release.await();
          } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
          }
          return ScriptedService.answer(List.of("a"));
        };
    CompletableFuture<Run<String>> running =
        client.runAsync(ANY, attempt -> CompletableFuture.completedFuture("never"));
    assertTrue(asked.await(30, TimeUnit.SECONDS));
    running.cancel(true);
    CountDownLatch cancelled = new CountDownLatch(1);
    service.contexts.get(0).addListener(context -> cancelled.countDown(), Runnable::run);
    assertTrue(cancelled.await(30, TimeUnit.SECONDS));
    release.countDown();
    assertEquals(List.of(), service.reports);
    assertEquals(0, client.reports().waiting());
  }

  @Test
  void cancellingDuringAWaitIsReportedWithWhatWasTried() throws Exception {
    CompletableFuture<Void> endless = new CompletableFuture<>();
    CountDownLatch waiting = new CountDownLatch(1);
    RouterRuntime runtime =
        new RouterRuntime() {
          @Override
          public double random() {
            return 0.5;
          }

          @Override
          public CompletableFuture<Void> delay(Duration duration) {
            waiting.countDown();
            return endless;
          }
        };
    CompletableFuture<Run<String>> running =
        client.runAsync(
            ANY,
            attempt -> {
              throw CallFailedException.notConnected("refused");
            },
            RunOptions.<String>defaults().runtime(runtime));
    assertTrue(waiting.await(30, TimeUnit.SECONDS));
    running.cancel(true);
    assertEquals("cancelled", told().getOutcome());
    assertTrue(endless.isCancelled());
    assertEquals("transient", told().getAttempts(0).getFailureClass());
    assertEquals(1, told().getAttemptsCount());
  }

  @Test
  void aFaultOfOnesOwnIsReportedAndToldByTheRun() throws Exception {
    CompletableFuture<Run<String>> running =
        client.runAsync(
            ANY, attempt -> CompletableFuture.supplyAsync(() -> List.<String>of().get(0)));
    CompletionException thrown = assertThrows(CompletionException.class, running::join);
    assertInstanceOf(IndexOutOfBoundsException.class, thrown.getCause());
    assertEquals("failed", told().getOutcome());
  }

  @Test
  void aCallThatCancelsItselfCancelsTheRun() throws Exception {
    CompletableFuture<String> cancelled = new CompletableFuture<>();
    cancelled.cancel(true);
    CompletableFuture<Run<String>> running = client.runAsync(ANY, attempt -> cancelled);
    assertThrows(CancellationException.class, () -> running.get(30, TimeUnit.SECONDS));
    assertEquals("cancelled", told().getOutcome());
  }

  @Test
  void aFailureWithinADerivedFutureIsLookedAt() throws Exception {
    Run<String> run =
        client
            .runAsync(
                ANY,
                attempt ->
                    CompletableFuture.<String>supplyAsync(
                            () -> {
                              if (attempt.number() == 1) {
                                throw CallFailedException.http(429, Map.of(), null);
                              }
                              return "words";
                            })
                        .thenApply(String::strip))
            .get(30, TimeUnit.SECONDS);
    assertEquals("words", run.answer());
    assertEquals(429, run.attempts().get(0).getStatusCode());
  }
}
