// The failover loop: it says what to do next, and is told what came of it.
package example.routerservice.client;

import example.routerservice.v1.Attempt;
import example.routerservice.v1.Candidate;
import example.routerservice.v1.Decision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One run down a decision's candidates, by the rules of clients/README.md. */
final class Failover {
  static final int MAX_ATTEMPTS = 3;

  /**
   * An endpoint that could not be reached is tried once more where that became clear within this
   * time.
   */
  private static final long AGAIN_WITHIN_MS = 1000;

  private static final long NANOS_PER_MS = 1_000_000;

  /** A window that none is known to be larger than. */
  private static final long LARGEST_WINDOW = 1L << 32;

  /** How it ended, by the class of the last attempt; failed where it is none of these. */
  private static final Map<String, Outcome> OUTCOMES =
      Map.of("invalid_response", Outcome.REJECTED, "ambiguous", Outcome.AMBIGUOUS);

  /**
   * What a run goes by.
   *
   * @param begun when it began, by the runtime's clock; the time that Decide took is part of it
   * @param spendableMs what could be spent on attempts then; null without a deadline
   * @param maxAttempts attempts in all, second tries on the same endpoint counted
   * @param replayable whether the operation may be sent again where it is not known what became of
   *     it
   */
  record Terms(long begun, @Nullable Long spendableMs, int maxAttempts, boolean replayable) {}

  /** A candidate and what has become of it. */
  private static final class Place {
    final Candidate candidate;
    final long need;
    final long window;
    boolean tried;
    boolean triedAgain;

    Place(Candidate candidate) {
      this.candidate = candidate;
      this.need = Integer.toUnsignedLong(candidate.getNeedMs());
      this.window = Integer.toUnsignedLong(candidate.getContextWindow());
    }
  }

  /** Who is next, after how long a wait. */
  private record Next(Place place, long waitMs) {}

  /** Who asked for a pause, and when it is over, in milliseconds of the run. */
  private record Postponed(Place place, long readyAt) {}

  /** Whose turn it is. */
  private record Running(Place place, Try attempt) {}

  private final Decision decision;
  private final List<Place> places;
  private final RouterRuntime runtime;
  private final Terms terms;
  private final List<Attempt> attempts = new ArrayList<>();
  private final Queue<Postponed> postponed;
  private int retries;
  private long window;
  private boolean isShort;
  private String last = "";
  private @Nullable Place again;

  /** Whose turn it is, once it was waited for. */
  private @Nullable Place waited;

  private @Nullable Running running;
  private @Nullable Outcome outcome;

  Failover(Decision decision, List<Candidate> candidates, RouterRuntime runtime, Terms terms) {
    this.decision = decision;
    this.places = candidates.stream().map(Place::new).toList();
    this.runtime = runtime;
    this.terms = terms;
    this.postponed =
        new PriorityQueue<>(
            Comparator.comparingLong(Postponed::readyAt)
                .thenComparingInt(one -> places.indexOf(one.place)));
  }

  /** What was tried, in order, as it is reported. */
  List<Attempt> attempts() {
    return List.copyOf(attempts);
  }

  /** What to do next; what came of an attempt must have been told before. */
  Step next() {
    while (outcome == null && attempts.size() < terms.maxAttempts) {
      Next next = waited != null ? new Next(waited, 0) : choose();
      waited = null;
      if (next == null) {
        break;
      }
      if (next.waitMs > 0) {
        waited = next.place;
        return new Step.Wait(Duration.ofMillis(next.waitMs));
      }
      Long allowed = allowance(next.place, 0);
      if (allowed == null && terms.spendableMs != null) { // it took longer to wake up, or just now
        isShort = true;
        continue;
      }
      return begin(next.place, allowed);
    }
    return new Step.End(outcome != null ? outcome : atTheEnd());
  }

  /** The attempt brought an answer; what acceptance said is empty where it was not asked. */
  void answered(String validationResult) {
    attempts.add(ended().attempt.succeeded(validationResult));
    outcome = Outcome.ACCEPTED;
  }

  /** The attempt brought no answer, or one that acceptance has something against. */
  void failed(Seen seen) {
    Running failed = ended();
    Verdict verdict = FailureClasses.classify(seen, runtime.now());
    attempts.add(failed.attempt.failed(verdict, seen));
    last = verdict.failureClass();
    if (seen.kind() == Seen.Kind.CALLER_CANCELLED) {
      outcome = Outcome.CANCELLED;
    } else if (failed.attempt.wasPassedOn() || !goesOn(verdict, failed)) {
      outcome = OUTCOMES.getOrDefault(last, Outcome.FAILED);
    }
  }

  /** The caller wants no answer any more, before the next attempt began. */
  void cancelled() {
    outcome = outcome == null ? Outcome.CANCELLED : outcome;
  }

  private Running ended() {
    Running ended = running;
    if (ended == null) {
      throw new IllegalStateException("no attempt is under way");
    }
    running = null;
    return ended;
  }

  private Step begin(Place place, @Nullable Long allowed) {
    retries += place.tried ? 1 : 0;
    place.tried = true;
    Try attempt = new Try(place.candidate, decision, attempts.size() + 1, allowed, left(), runtime);
    running = new Running(place, attempt);
    return new Step.Make(attempt);
  }

  private Outcome atTheEnd() {
    return isShort && attempts.size() < terms.maxAttempts
        ? Outcome.DEADLINE_EXHAUSTED
        : OUTCOMES.getOrDefault(last, Outcome.FAILED);
  }

  private long gone() {
    return Math.round((runtime.nanoTime() - terms.begun) / (double) NANOS_PER_MS);
  }

  private @Nullable Long left() {
    return terms.spendableMs == null ? null : terms.spendableMs - gone();
  }

  /** Those not tried yet that may be, down the list. */
  private Stream<Place> fresh() {
    return places.stream().filter(one -> !one.tried && isWideEnough(one));
  }

  /** After a request was too long for a window, only a window known to be larger will do. */
  private boolean isWideEnough(Place place) {
    return window == 0 || place.window > window;
  }

  /**
   * How long an attempt may take after the wait; null where it does not fit, and without a
   * deadline.
   */
  private @Nullable Long allowance(Place place, long wait) {
    Long left = left();
    if (left == null) {
      return null;
    }
    List<Long> needs =
        Stream.concat(Stream.of(place), fresh().filter(one -> one != place))
            .map(one -> one.need)
            .toList();
    return TimeBudget.allowanceMs(left - wait, needs, terms.maxAttempts - attempts.size());
  }

  private boolean hasTime(Place place, long wait) {
    return terms.spendableMs == null || allowance(place, wait) != null;
  }

  /** The next to be tried, and how long to wait before; null where nobody is left. */
  private @Nullable Next choose() {
    Place same = again;
    again = null;
    if (same != null) {
      long wait = TimeBudget.jitterMs(retries, runtime.random());
      if (hasTime(same, wait)) {
        return new Next(same, wait);
      }
      isShort = true;
    }
    for (Place place : fresh().toList()) {
      if (hasTime(place, 0)) {
        return new Next(place, 0);
      }
      isShort = true;
      place.tried = true; // time only gets shorter
    }
    return postponed();
  }

  /** With nobody else left: the first that is ready of those whose pause fits the time left. */
  private @Nullable Next postponed() {
    Long left = left();
    while (!postponed.isEmpty()) {
      Postponed first = postponed.remove();
      long wait = Math.max(0, first.readyAt - gone());
      if (isWideEnough(first.place) && TimeBudget.fits(wait, first.place.need, left)) {
        return new Next(first.place, wait);
      }
    }
    return null;
  }

  /** Notes what the verdict means for the candidates; whether anything may be tried after it. */
  private boolean goesOn(Verdict verdict, Running failed) {
    Place place = failed.place;
    switch (verdict.then()) {
      case STOP -> {
        return false;
      }
      case NEXT_IF_REPLAYABLE -> {
        return terms.replayable;
      }
      case NEXT_LARGER_CONTEXT ->
          // Where this one's window is not known, none is known to be larger.
          window = Math.max(window, place.window == 0 ? LARGEST_WINDOW : place.window);
      case SAME_ONCE -> {
        if (failed.attempt.latencyMs() < AGAIN_WITHIN_MS && !place.triedAgain) {
          place.triedAgain = true;
          again = place;
        }
      }
      case NEXT_ELSE_SAME -> {
        if (verdict.retryAfterMs() != null) {
          postponed.add(new Postponed(place, gone() + verdict.retryAfterMs()));
        }
      }
      case NEXT -> {} // down the list
    }
    return true;
  }
}
