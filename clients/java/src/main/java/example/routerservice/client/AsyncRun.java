// Runs a request without a thread of its own.
package example.routerservice.client;

import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.DecideResponse;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Carries out what the failover loop says, each step in the thread that ended the one before. */
@SuppressWarnings(
    "FutureReturnValueIgnored") // what follows a future is done for its effect, and catches all
final class AsyncRun<T> {
  private final AsyncCall<T> call;
  private final RunOptions<T> options;
  private final Consumer<Run<T>> ended;
  private final CompletableFuture<Run<T>> promised = new CompletableFuture<>();

  /** What is waited for, and is cancelled with the run. */
  private volatile @Nullable CompletableFuture<?> pending;

  AsyncRun(AsyncCall<T> call, RunOptions<T> options, Consumer<Run<T>> ended) {
    this.call = call;
    this.options = options;
    this.ended = ended;
  }

  /** The run to come; cancelling it cancels what is waited for, and is reported. */
  CompletableFuture<Run<T>> start(
      DecideRequest request, Function<DecideRequest, CompletableFuture<DecideResponse>> decide) {
    promised.whenComplete((run, error) -> cancelPending());
    long begun = options.runtime().nanoTime();
    whenDone(
        decide.apply(request),
        (answer, error) -> {
          if (answer == null) {
            promised.completeExceptionally(error);
          } else {
            go(new Course<>(request, answer, begun, options));
          }
        });
    return promised;
  }

  /** Takes what came of something; one of both is null. */
  private interface Outgoing<A> {
    void take(@Nullable A answer, @Nullable Throwable error);
  }

  private void go(Course<T> course) {
    Step step = course.next();
    if (!(step instanceof Step.End) && promised.isDone()) {
      course.cancelled(new CancellationException());
      step = course.next();
    }
    if (step instanceof Step.Wait wait) {
      whenDone(
          options.runtime().delay(wait.duration()),
          (nothing, error) -> {
            if (error != null) {
              course.cancelled(error instanceof CallFailedException ? null : error);
            }
            go(course);
          });
    } else if (step instanceof Step.Make make) {
      make(course, make.attempt());
    } else {
      end(course);
    }
  }

  private void make(Course<T> course, Try attempt) {
    CompletableFuture<T> calling;
    try {
      calling = call.call(attempt).toCompletableFuture();
    } catch (Throwable thrown) {
      // Reported first, and told by the run where it is no failure of a call.
      calling = CompletableFuture.failedFuture(thrown);
    }
    CompletableFuture<T> called = calling;
    whenDone(
        limited(calling, attempt),
        (answer, error) -> {
          if (error instanceof TimeoutException) { // told by the JDK's one thread of timers
            called.cancel(true);
            CompletableFuture.runAsync(() -> guarded(() -> settle(course, attempt, answer, error)));
            return;
          }
          if (error instanceof CancellationException) {
            called.cancel(true);
          }
          settle(course, attempt, answer, error);
        });
  }

  private void settle(
      Course<T> course, Try attempt, @Nullable T answer, @Nullable Throwable error) {
    if (error != null) {
      course.failed(attempt, error);
    } else {
      accept(course, attempt, answer);
    }
    go(course);
  }

  @SuppressWarnings("NullAway") // an answer may be null only where T may
  private void accept(Course<T> course, Try attempt, @Nullable T answer) {
    try {
      course.answered(attempt, answer);
    } catch (Throwable thrown) { // a fault of acceptance
      course.failed(attempt, thrown);
    }
  }

  /** What the call brings, or that its time is up. */
  private static <A> CompletableFuture<A> limited(CompletableFuture<A> calling, Try attempt) {
    CompletableFuture<A> limited = new CompletableFuture<>();
    calling.whenComplete(
        (answer, error) -> {
          if (error != null) {
            limited.completeExceptionally(error);
          } else {
            limited.complete(answer);
          }
        });
    Long timeout = attempt.timeoutMs();
    if (timeout != null) {
      watch(limited, attempt, timeout, timeout);
    }
    return limited;
  }

  /** Ends it when its time is up, unless there is more of it then. */
  private static void watch(CompletableFuture<?> limited, Try attempt, long timeout, long wait) {
    CompletableFuture<?> timer = new CompletableFuture<>().orTimeout(wait, TimeUnit.MILLISECONDS);
    limited.whenComplete((answer, error) -> timer.cancel(false));
    timer.whenComplete(
        (nothing, up) -> {
          long more = attempt.extendedBy(timeout);
          if (up instanceof TimeoutException && more > 0) {
            watch(limited, attempt, timeout + more, more);
          } else if (up instanceof TimeoutException) {
            limited.completeExceptionally(up);
          }
        });
  }

  private void end(Course<T> course) {
    Run<T> run = course.ended();
    ended.accept(run);
    if (course.error() != null) {
      promised.completeExceptionally(course.error());
    } else {
      promised.complete(run);
    }
  }

  private <A> void whenDone(CompletableFuture<A> future, Outgoing<A> then) {
    pending = future;
    future.whenComplete((answer, error) -> guarded(() -> then.take(answer, unwrapped(error))));
    if (promised.isDone()) {
      future.cancel(true);
    }
  }

  /** Whatever goes wrong here, nobody waits for ever. */
  private void guarded(Runnable work) {
    try {
      work.run();
    } catch (Throwable fault) {
      promised.completeExceptionally(fault);
    }
  }

  private void cancelPending() {
    CompletableFuture<?> waited = pending;
    if (waited != null) {
      waited.cancel(true);
    }
  }

  private static @Nullable Throwable unwrapped(@Nullable Throwable error) {
    return error instanceof CompletionException && error.getCause() != null
        ? error.getCause()
        : error;
  }
}
