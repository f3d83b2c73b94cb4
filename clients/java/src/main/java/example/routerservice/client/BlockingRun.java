// Runs a request in the caller's thread.
package example.routerservice.client;

import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.DecideResponse;
import io.grpc.Status;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Carries out what the failover loop says; the thread's interrupt is the caller's cancellation. */
final class BlockingRun<T> {
  private final Call<T> call;
  private final RunOptions<T> options;

  BlockingRun(Call<T> call, RunOptions<T> options) {
    this.call = call;
    this.options = options;
  }

  /**
   * Decides, calls and gives what is to be reported away.
   *
   * @param ended takes the run as soon as it ended, whatever is thrown then
   */
  Run<T> run(
      DecideRequest request, Function<DecideRequest, DecideResponse> decide, Consumer<Run<T>> ended)
      throws InterruptedException {
    long begun = options.runtime().nanoTime();
    Course<T> course = new Course<>(request, decided(request, decide), begun, options);
    Step step = course.next();
    while (!(step instanceof Step.End)) {
      if (Thread.interrupted()) {
        course.cancelled(new InterruptedException());
      } else if (step instanceof Step.Wait wait) {
        await(course, wait);
      } else if (step instanceof Step.Make make) {
        make(course, make.attempt());
      }
      step = course.next();
    }
    Run<T> run = course.ended();
    ended.accept(run);
    rethrow(course.error());
    return run;
  }

  private static DecideResponse decided(
      DecideRequest request, Function<DecideRequest, DecideResponse> decide)
      throws InterruptedException {
    try {
      return decide.apply(request);
    } catch (RouterException none) {
      if (none.code() == Status.Code.CANCELLED && Thread.interrupted()) {
        throw because(none);
      }
      throw none;
    }
  }

  private void await(Course<T> course, Step.Wait wait) {
    try {
      options.runtime().sleep(wait.duration());
    } catch (InterruptedException interrupted) {
      course.cancelled(interrupted);
    } catch (RuntimeException thrown) { // a runtime may cancel by CallFailedException too
      course.cancelled(thrown instanceof CallFailedException ? null : thrown);
    }
  }

  private void make(Course<T> course, Try attempt) {
    try {
      course.answered(attempt, call.call(attempt));
    } catch (Throwable thrown) {
      // Reported first, and thrown again by run where it is no failure of a call.
      course.failed(attempt, orInterrupted(thrown));
    }
  }

  /** Libraries tell an interrupt in ways of their own, and leave the thread's mark. */
  private static Throwable orInterrupted(Throwable thrown) {
    boolean isInterrupted =
        Thread.currentThread().isInterrupted()
            && !(thrown instanceof CallFailedException)
            && Observed.seenOf(thrown) != null;
    return isInterrupted ? because(thrown) : thrown;
  }

  private static InterruptedException because(Throwable cause) {
    InterruptedException interrupted = new InterruptedException();
    interrupted.initCause(cause);
    return interrupted;
  }

  private static void rethrow(@Nullable Throwable error) throws InterruptedException {
    if (error instanceof InterruptedException interrupted) {
      Thread.interrupted(); // the exception tells it from here on
      throw interrupted;
    }
    if (error instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (error instanceof Error grave) {
      throw grave;
    }
    if (error != null) {
      throw new CompletionException(error);
    }
  }
}
