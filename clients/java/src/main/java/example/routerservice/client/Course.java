// One run under way: what the blocking and the asynchronous run share.
package example.routerservice.client;

import example.routerservice.v1.Candidate;
import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.DecideResponse;
import example.routerservice.v1.Decision;
import example.routerservice.v1.Report;
import example.routerservice.v1.RouteRequest;
import io.grpc.Context;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/** A run under way. */
final class Course<T> {
  private final DecideRequest asked;
  private final DecideResponse answer;
  private final RunOptions<T> options;
  private final Failover failover;
  private final Context context = Context.current();
  private Outcome outcome = Outcome.REFUSED;
  private @Nullable T result;
  private @Nullable Seen failure;
  private @Nullable Throwable error;

  Course(DecideRequest asked, DecideResponse answer, long begun, RunOptions<T> options) {
    this.asked = asked;
    this.answer = answer;
    this.options = options;
    int most = asked.getRequest().getMaxAttempts();
    this.failover =
        new Failover(
            answer.getDecision(),
            answer.getDecision().getCandidatesList().stream().filter(options.canCall()).toList(),
            options.runtime(),
            new Failover.Terms(
                begun,
                spendable(asked.getRequest(), answer.getDecision()),
                most == 0 ? Failover.MAX_ATTEMPTS : most,
                options.isReplayable()));
  }

  /** What to do next, what came of the step before having been told. */
  Step next() {
    if (!answer.hasDecision()) {
      return new Step.End(Outcome.REFUSED);
    }
    if (context.isCancelled()) { // whoever asked the caller's own server hung up
      failover.cancelled();
    }
    Step step = failover.next();
    if (step instanceof Step.End end) {
      outcome = end.outcome();
    }
    return step;
  }

  /** The call brought an answer: it is accepted, or acceptance has something against it. */
  void answered(Try attempt, T brought) throws Exception {
    attempt.end();
    Accept<? super T> accept = options.accept();
    String why = accept == null ? null : accept.whyNot(brought);
    if (why != null && !why.isEmpty()) {
      failure = Seen.of(Seen.Kind.ACCEPTANCE_FAILED, why);
      failover.failed(failure);
    } else {
      result = brought;
      failover.answered(accept == null ? "" : "accepted");
    }
  }

  /** The call, or acceptance, threw; what is no failure of a call is kept, to be thrown again. */
  void failed(Try attempt, Throwable thrown) {
    attempt.end();
    Seen seen = Observed.seenOf(thrown);
    // gRPC says the same of a call that the caller cancelled and of one that the backend did.
    if (seen != null && context.isCancelled() && seen.isCancelledByGrpc()) {
      seen = Seen.of(Seen.Kind.CALLER_CANCELLED, "");
    }
    if (seen == null || isCancellation(thrown)) {
      error = thrown;
      seen = Seen.of(Seen.Kind.CALLER_CANCELLED, "");
    } else if (attempt.wasPassedOn() && seen.kind() != Seen.Kind.CALLER_CANCELLED) {
      seen = Seen.of(Seen.Kind.BROKEN_OFF, seen.why());
    }
    failure = seen;
    failover.failed(seen);
  }

  /**
   * Between two attempts the caller wanted no answer any more; what is thrown again is null where
   * nothing is.
   */
  void cancelled(@Nullable Throwable thrown) {
    error = thrown;
    failure = Seen.of(Seen.Kind.CALLER_CANCELLED, "");
    failover.cancelled();
  }

  /** What is to be thrown once the run was reported; null where nothing is. */
  @Nullable Throwable error() {
    return error;
  }

  /**
   * The run as a whole. A fault of the caller's own makes it failed, and counts against no
   * endpoint.
   */
  Run<T> ended() {
    Outcome ended = error == null || isCancellation(error) ? outcome : Outcome.FAILED;
    Report report = null;
    if (answer.hasDecision() && !asked.hasInline()) { // an inline request leaves no trace
      report =
          Report.newBuilder()
              .setTraceId(answer.getDecision().getTraceId())
              .setOperationId(asked.getOperationId())
              .addAllAttempts(failover.attempts())
              .setOutcome(ended.written())
              .build();
    }
    return new Run<>(
        ended,
        result,
        answer.hasDecision() ? answer.getDecision() : null,
        answer.hasDecision() ? null : answer.getRefusal(),
        failover.attempts(),
        report,
        failure);
  }

  private static boolean isCancellation(Throwable thrown) {
    return thrown instanceof InterruptedException || thrown instanceof CancellationException;
  }

  /**
   * What can be spent on attempts, in milliseconds: of the request's deadline, or of the workload's
   * where that is shorter; null without either. Allowances are rounded down, so that they add up to
   * at most one less for each candidate.
   */
  private static @Nullable Long spendable(RouteRequest request, Decision decision) {
    Long own =
        request.hasDeadlineMs()
            ? TimeBudget.spendableMs(Integer.toUnsignedLong(request.getDeadlineMs()))
            : null;
    List<Long> allowed =
        decision.getCandidatesList().stream()
            .filter(Candidate::hasAllowanceMs)
            .map(one -> Integer.toUnsignedLong(one.getAllowanceMs()))
            .toList();
    long sum = allowed.stream().mapToLong(Long::longValue).sum();
    return allowed.isEmpty() || (own != null && own < sum + allowed.size()) ? own : (Long) sum;
  }
}
