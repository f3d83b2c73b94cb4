// One attempt: what a call is given, what came of it, and what is reported of it.
package example.routerservice.client;

import com.google.protobuf.Timestamp;
import example.routerservice.v1.Attempt;
import example.routerservice.v1.Candidate;
import example.routerservice.v1.Decision;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** What a call is given. It may be used by several threads. */
public final class Try {
  private static final long NANOS_PER_MS = 1_000_000;

  private final Candidate candidate;
  private final int number;
  private final Decision decision;
  private final @Nullable Long restMs;
  private final RouterRuntime runtime;
  private final long begun;
  private final Attempt.Builder told;
  private @Nullable Long timeoutMs;
  private @Nullable Long ended;
  private boolean passedOn;

  /**
   * An attempt that begins now.
   *
   * @param timeoutMs how long it may take; null without a deadline
   * @param restMs all that can still be spent, its own time and that of those after it
   */
  Try(
      Candidate candidate,
      Decision decision,
      int number,
      @Nullable Long timeoutMs,
      @Nullable Long restMs,
      RouterRuntime runtime) {
    this.candidate = candidate;
    this.decision = decision;
    this.number = number;
    this.timeoutMs = timeoutMs;
    this.restMs = restMs;
    this.runtime = runtime;
    Instant startedAt = runtime.now().truncatedTo(ChronoUnit.MILLIS); // as the service keeps it
    this.begun = runtime.nanoTime();
    this.told =
        Attempt.newBuilder()
            .setAttemptId(Integer.toString(number))
            .setEndpointId(candidate.getEndpointId())
            .setStartedAt(
                Timestamp.newBuilder()
                    .setSeconds(startedAt.getEpochSecond())
                    .setNanos(startedAt.getNano()));
    if (timeoutMs != null) {
      told.setTimeoutMs(Wire.uint32(timeoutMs));
    }
  }

  /**
   * Where to send the request: its endpoint_id, model, provider, region and so on.
   *
   * @return a candidate of the decision
   */
  public Candidate candidate() {
    return candidate;
  }

  /**
   * The candidate's endpoint_id.
   *
   * @return which endpoint to call
   */
  public String endpointId() {
    return candidate.getEndpointId();
  }

  /**
   * What lists the candidate.
   *
   * @return its trace_id, policy_id, sentence and so on
   */
  public Decision decision() {
    return decision;
  }

  /**
   * The attempt's place in the run.
   *
   * @return 1 for the first; it is the attempt_id of the report
   */
  public int number() {
    return number;
  }

  /**
   * How long the call may take, connecting and everything included.
   *
   * @return the time-out, in whole milliseconds; empty without a deadline
   */
  public Optional<Duration> timeout() {
    return Optional.ofNullable(timeoutMs()).map(Duration::ofMillis);
  }

  /**
   * How long the call may still take, from now on.
   *
   * @return the time-out less what has gone by, at least zero; empty without a deadline
   */
  public Optional<Duration> left() {
    return Optional.ofNullable(timeoutMs())
        .map(it -> Duration.ofMillis(Math.max(0, it - latencyMs())));
  }

  /**
   * Waits for an answer, for as long as the attempt may still take, and cancels it where it comes
   * too late or the thread is interrupted.
   *
   * @param <T> the answer
   * @param answer the answer to come, of {@link java.net.http.HttpClient#sendAsync} for example
   * @return the answer
   * @throws Exception what the answer failed with, {@link TimeoutException} or {@link
   *     InterruptedException}
   */
  public <T> T await(Future<T> answer) throws Exception {
    Long until = timeoutMs();
    long wait = until == null ? 0 : until - latencyMs();
    while (true) {
      try {
        return until == null ? answer.get() : answer.get(wait, TimeUnit.MILLISECONDS);
      } catch (ExecutionException failed) {
        throw failed.getCause() instanceof Exception cause ? cause : failed;
      } catch (InterruptedException interrupted) {
        answer.cancel(true);
        throw interrupted;
      } catch (TimeoutException late) {
        wait = extendedBy(until);
        if (wait == 0) {
          answer.cancel(true);
          throw late;
        }
        until = timeoutMs();
      }
    }
  }

  /** How many milliseconds more there are than there were once: a part was passed on meanwhile. */
  long extendedBy(@Nullable Long since) {
    Long now = timeoutMs();
    return now == null || since == null ? 0 : now - since;
  }

  synchronized @Nullable Long timeoutMs() {
    return timeoutMs;
  }

  /**
   * To be called when the first token came: it is what the service learns an endpoint's latency
   * from.
   */
  public synchronized void firstToken() {
    if (!told.hasTimeToFirstTokenMs()) {
      told.setTimeToFirstTokenMs(Wire.uint32(sinceBegun(runtime.nanoTime())));
    }
  }

  /**
   * To be called as soon as a part of the answer went on to somebody: nothing is tried after that.
   * So the call may take all the time that is left, of which a share was kept for the attempts
   * after it.
   */
  public synchronized void passedOn() {
    passedOn = true;
    timeoutMs = restMs == null ? timeoutMs : restMs;
  }

  /**
   * Tells the tokens of the prompt, as the endpoint counted them.
   *
   * @param tokens not negative
   * @return this
   */
  public synchronized Try inputTokens(long tokens) {
    told.setInputTokens(Wire.checked(tokens));
    return this;
  }

  /**
   * Tells the tokens of the answer, as the endpoint counted them.
   *
   * @param tokens not negative
   * @return this
   */
  public synchronized Try outputTokens(long tokens) {
    told.setOutputTokens(Wire.checked(tokens));
    return this;
  }

  /**
   * Tells what it cost, where the caller knows better than tokens × prices.
   *
   * @param cost in the catalogue's currency
   * @return this
   */
  public synchronized Try cost(double cost) {
    told.setCost(cost);
    return this;
  }

  /**
   * Tells why the answer ended.
   *
   * @param reason {@code stop}, {@code length}, …
   * @return this
   */
  public synchronized Try finishReason(String reason) {
    told.setFinishReason(reason);
    return this;
  }

  /**
   * Tells the status of the answer.
   *
   * @param status as HTTP or gRPC has it
   * @return this
   */
  public synchronized Try statusCode(int status) {
    told.setStatusCode(Wire.checked(status));
    return this;
  }

  /** How long the call took, or has taken until now. */
  synchronized long latencyMs() {
    return sinceBegun(ended == null ? runtime.nanoTime() : ended);
  }

  synchronized boolean wasPassedOn() {
    return passedOn;
  }

  /**
   * Said by the loop when the call is over; what acceptance does after it is no latency of the
   * endpoint.
   */
  synchronized void end() {
    if (ended == null) {
      ended = runtime.nanoTime();
    }
  }

  /** What is reported of a success, with what acceptance said of it. */
  synchronized Attempt succeeded(String validationResult) {
    return told.setLatencyMs(Wire.uint32(latencyMs()))
        .setValidationResult(validationResult)
        .build();
  }

  /** What is reported of a failure. */
  synchronized Attempt failed(Verdict verdict, Seen seen) {
    told.setLatencyMs(Wire.uint32(latencyMs()))
        .setFailureClass(verdict.failureClass())
        .setErrorCode(verdict.errorCode());
    if (verdict.statusCode() != null) {
      told.setStatusCode(verdict.statusCode());
    }
    if (verdict.retryAfterMs() != null) {
      told.setRetryAfterMs(verdict.retryAfterMs());
    }
    if (seen.kind() == Seen.Kind.ACCEPTANCE_FAILED) {
      told.setValidationResult(Wire.shortened(seen.why()));
    }
    return told.build();
  }

  private long sinceBegun(long moment) {
    return Math.max(0, Math.round((moment - begun) / (double) NANOS_PER_MS));
  }
}
