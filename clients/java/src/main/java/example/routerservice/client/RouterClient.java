// RouterClient: a connection to the service, and run.
package example.routerservice.client;

import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.RouterServiceGrpc;
import io.grpc.ManagedChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a router-service, for any number of threads.
 *
 * <p>Every call keeps to the client's time-out, and to the deadline and cancellation of {@link
 * io.grpc.Context#current()}; an interrupt of the thread cancels it. gRPC's own retries are off.
 * Every failure is a {@link RouterException}; of the methods that give a future it is what the
 * future fails with, and those that give a stream throw it where the stream is read.
 *
 * <p>There is no default endpoint: where the service gives no answer, the request may go nowhere.
 */
public final class RouterClient extends ServiceCalls implements AutoCloseable {
  private static final long SECONDS_TO_CLOSE = 5;

  private final @Nullable ManagedChannel own;
  private final ReportQueue reports;

  RouterClient(
      Calls calls,
      @Nullable ManagedChannel own,
      Duration timeout,
      int reportLimit,
      Duration flushTimeout) {
    super(calls, timeout);
    this.own = own;
    this.reports =
        new ReportQueue(
            this::report,
            reportLimit,
            flushTimeout,
            () -> ThreadLocalRandom.current().nextDouble());
  }

  private RouterClient(RouterClient other, Duration timeout) {
    super(other.calls, timeout);
    this.own = other.own;
    this.reports = other.reports;
  }

  /**
   * A client is built of where the service is, and what it is to keep to.
   *
   * @return makes clients
   */
  public static RouterClientBuilder builder() {
    return new RouterClientBuilder();
  }

  /**
   * A client over a plain connection, with all else as it is by default.
   *
   * @param target {@code host:port}, or {@code unix:/path} on Linux
   * @return to be closed
   */
  public static RouterClient connect(String target) {
    return builder().target(target).build();
  }

  /**
   * The same client with another time-out: it has the same connection and the same reports, and
   * closing either closes both.
   *
   * @param timeout how long a call may take, longer than zero
   * @return beside this one
   */
  public RouterClient withTimeout(Duration timeout) {
    return new RouterClient(this, RouterClientBuilder.positive(timeout, "timeout"));
  }

  /**
   * The reports on their way: those of runs, and those that you put there yourself.
   *
   * @return what is told in the background
   */
  public ReportQueue reports() {
    return reports;
  }

  /**
   * Decides, calls the candidates in order until one answers, and reports in the background. Every
   * answer is accepted.
   *
   * @param <T> the answer
   * @param request what is needed; its deadline_ms is what is left of the caller's time now
   * @param call makes one attempt
   * @return as of {@link #run(DecideRequest, Call, RunOptions)}
   * @throws InterruptedException as of that
   */
  public <T> Run<T> run(DecideRequest request, Call<T> call) throws InterruptedException {
    return run(request, call, RunOptions.defaults());
  }

  /**
   * Decides, calls the candidates in order until one answers, and reports in the background.
   *
   * @param <T> the answer
   * @param request what is needed; its deadline_ms is what is left of the caller's time now
   * @param call makes one attempt, without retries of its own
   * @param options what is accepted, whether a request may be sent twice, and where time and chance
   *     come from
   * @return what came of it; {@link Run#answer()} is the answer or throws. A refusal is returned
   *     too
   * @throws RouterException there is no decision, and nothing was called
   * @throws InterruptedException the thread was interrupted; the call was too, and it is reported
   *     as cancelled
   * @throws RuntimeException what the call threw that is no failure of a call; it is reported, and
   *     thrown again (a checked one within a {@link java.util.concurrent.CompletionException})
   */
  public <T> Run<T> run(DecideRequest request, Call<T> call, RunOptions<T> options)
      throws InterruptedException {
    return new BlockingRun<>(call, options)
        .run(
            request,
            asked -> calls.answer(RouterServiceGrpc.getDecideMethod(), asked, timeToDecide(asked)),
            this::ended);
  }

  /**
   * The same without a thread that waits. Every answer is accepted.
   *
   * @param <T> the answer
   * @param request what is needed; its deadline_ms is what is left of the caller's time now
   * @param call makes one attempt
   * @return as of {@link #runAsync(DecideRequest, AsyncCall, RunOptions)}
   */
  public <T> CompletableFuture<Run<T>> runAsync(DecideRequest request, AsyncCall<T> call) {
    return runAsync(request, call, RunOptions.defaults());
  }

  /**
   * Decides, calls the candidates in order until one answers, and reports in the background,
   * without a thread that waits. Each step is carried out in the thread that ended the one before;
   * a call that takes longer than its time-out is cancelled.
   *
   * @param <T> the answer
   * @param request what is needed; its deadline_ms is what is left of the caller's time now
   * @param call makes one attempt, without retries of its own
   * @param options what is accepted, whether a request may be sent twice, and where time and chance
   *     come from
   * @return what came of it, to come. It fails with what {@link #run(DecideRequest, Call,
   *     RunOptions) run} throws. Cancelling it cancels what is under way, which is reported
   */
  public <T> CompletableFuture<Run<T>> runAsync(
      DecideRequest request, AsyncCall<T> call, RunOptions<T> options) {
    return new AsyncRun<>(call, options, this::ended)
        .start(
            request,
            asked -> calls.future(RouterServiceGrpc.getDecideMethod(), asked, timeToDecide(asked)));
  }

  private Duration timeToDecide(DecideRequest asked) {
    if (!asked.getRequest().hasDeadlineMs()) {
      return timeout;
    }
    long own = Integer.toUnsignedLong(asked.getRequest().getDeadlineMs());
    return Duration.ofMillis(Math.min(own, timeout.toMillis()));
  }

  private void ended(Run<?> run) {
    if (run.report() != null) {
      reports.put(run.report());
    }
  }

  /**
   * Delivers the reports that still wait, for as long as the client was built to, and closes the
   * connection unless it is the caller's own. Calls that still run are cancelled. Closing again
   * does nothing.
   *
   * @throws ReportsLostException reports could not be delivered; it holds them
   */
  @Override
  public void close() {
    ReportsLostException loss = reports.close();
    if (own != null) {
      own.shutdownNow();
      try {
        own.awaitTermination(SECONDS_TO_CLOSE, TimeUnit.SECONDS);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt(); // it ends by itself
      }
    }
    if (loss != null) {
      throw loss;
    }
  }
}
