// How a run ends that the caller wants no more: by an interrupt, or by a cancelled context.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.DecideRequest;
import io.grpc.Context;
import io.grpc.Status;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RunCancelledTest extends WithService {
  private List<String> told() throws Exception {
    return service.told(client.reports());
  }

  /** Runs in a thread of its own, and interrupts it once it is where it is to be. */
  private Throwable interrupted(CountDownLatch where, Call<String> call) throws Exception {
    FutureTask<Run<String>> running = new FutureTask<>(() -> client.run(ANY, call));
    Thread thread = new Thread(running);
    thread.start();
    assertTrue(where.await(30, TimeUnit.SECONDS));
    thread.interrupt();
    return assertThrows(ExecutionException.class, () -> running.get(30, TimeUnit.SECONDS))
        .getCause();
  }

  @Test
  void anInterruptInterruptsTheCallAndIsReported() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Throwable thrown =
        interrupted(
            begun,
            attempt -> {
              begun.countDown();
              Thread.sleep(60_000);
              return "too late";
            });
    assertInstanceOf(InterruptedException.class, thrown);
    assertEquals(List.of("cancelled", "a::499"), told());
  }

  @Test
  void anInterruptInTheWordsOfALibraryIsOneToo() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Throwable thrown =
        interrupted(
            begun,
            attempt -> {
              begun.countDown();
              try {
                Thread.sleep(60_000);
              } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted");
              }
              return "too late";
            });
    assertInstanceOf(InterruptedException.class, thrown);
    assertInstanceOf(InterruptedIOException.class, thrown.getCause());
    assertEquals(List.of("cancelled", "a::499"), told());
  }

  @Test
  void anInterruptCancelsTheDecisionAndNothingIsCalled() throws Exception {
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
    CountDownLatch cancelled = new CountDownLatch(1);
    Throwable thrown = interrupted(asked, attempt -> "never");
    service.contexts.get(0).addListener(context -> cancelled.countDown(), Runnable::run);
    assertTrue(cancelled.await(30, TimeUnit.SECONDS)); // the service was told
    release.countDown();
    assertInstanceOf(InterruptedException.class, thrown);
    assertEquals(List.of(), service.reports);
  }

  @Test
  void anInterruptBetweenTwoAttemptsEndsTheRun() throws Exception {
    Call<String> call =
        attempt -> {
          Thread.currentThread().interrupt();
          throw CallFailedException.http(503, Map.of(), null);
        };
    assertThrows(InterruptedException.class, () -> client.run(ANY, call));
    assertFalse(Thread.currentThread().isInterrupted());
    assertEquals(List.of("cancelled", "a:transient:503"), told());
  }

  @Test
  void aCallThatIsCancelledWithItsContextIsTheCallersOwn() throws Exception {
    Context.CancellableContext hungUp = Context.current().withCancellation();
    Run<String> run =
        hungUp.call(
            () ->
                client.run(
                    DecideRequest.getDefaultInstance(),
                    attempt -> {
                      hungUp.cancel(null);
                      throw Status.CANCELLED.withDescription("of my context").asRuntimeException();
                    }));
    assertEquals(Outcome.CANCELLED, run.outcome());
    assertEquals(499, run.attempts().get(0).getStatusCode());
    assertEquals("", run.attempts().get(0).getFailureClass());
  }

  @Test
  void aCancelledContextEndsTheRunBeforeTheNextAttempt() throws Exception {
    Context.CancellableContext hungUp = Context.current().withCancellation();
    Run<String> run =
        hungUp.call(
            () ->
                client.run(
                    ANY,
                    attempt -> {
                      hungUp.cancel(null);
                      throw CallFailedException.http(503, Map.of(), null);
                    }));
    assertEquals(Outcome.CANCELLED, run.outcome());
    assertEquals(List.of("cancelled", "a:transient:503"), told());
  }
}
