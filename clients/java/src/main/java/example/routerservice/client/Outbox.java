// The reports that wait, and counts of what became of the others.
package example.routerservice.client;

import example.routerservice.v1.Report;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** A bounded queue; whoever uses it holds a lock. */
final class Outbox {
  private static final System.Logger LOG = System.getLogger("example.routerservice.client");
  private static final long BACKOFF_BASE_MS = 200;
  private static final long BACKOFF_CAP_MS = 5000;
  private static final int DOUBLINGS = 8; // beyond the cap, and far from an overflow

  /**
   * How often a report is sent that meets a limit: one that is itself too large must not hold up
   * the others for ever.
   */
  private static final int LIMITED_TIMES = 10;

  private final DoubleSupplier random;
  private final int limit;
  private final Deque<Report> waiting = new ArrayDeque<>();
  private long delivered;
  private long refused;
  private long dropped;
  private long unwanted;
  private int failures;
  private int limited;
  private boolean wasLost;
  private Duration pause = Duration.ZERO;

  Outbox(int limit, DoubleSupplier random) {
    this.limit = limit;
    this.random = random;
  }

  /** Takes a report, and says whether it did; one that finds no room is counted and logged. */
  boolean put(Report report, boolean isClosed) {
    if (isClosed || waiting.size() >= limit) {
      dropped++;
      String why = isClosed ? "the client is closed" : limit + " reports wait already";
      LOG.log(
          System.Logger.Level.ERROR, "report of trace {0} dropped: {1}", report.getTraceId(), why);
      return false;
    }
    waiting.add(report);
    return true;
  }

  /** The next to be sent; null where none waits. */
  @Nullable Report first() {
    return waiting.peek();
  }

  /**
   * Notes what came of sending the first one: it goes, unless the service could not be reached or
   * was busy.
   */
  void answered(@Nullable RuntimeException error) {
    boolean hasNoStore =
        error instanceof RouterException told && told.reason().equals(Errors.NO_STORE);
    // A token that cannot be had for now is no answer of the service's either.
    boolean hasNoToken = error instanceof UnauthenticatedException told && told.reason().isEmpty();
    boolean isAway = hasNoToken || (error instanceof RouterUnavailableException && !hasNoStore);
    boolean isLimited = error instanceof LimitExceededException;
    limited += isLimited ? 1 : 0;
    if (isAway || (isLimited && limited < LIMITED_TIMES)) {
      wasLost |= isAway;
      long most = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS << Math.min(failures, DOUBLINGS));
      pause = Duration.ofMillis(Math.round(random.getAsDouble() * most));
      failures++;
      return;
    }
    boolean wasSentBefore = wasLost;
    wasLost = false;
    failures = 0;
    limited = 0;
    pause = Duration.ZERO;
    Report report = waiting.remove();
    // Under a retention of 0 a report ends its trace: where the answer to the first sending was
    // lost, this is it.
    if (error == null || (wasSentBefore && error instanceof TraceNotFoundException)) {
      delivered++;
    } else if (hasNoStore) {
      unwanted++;
    } else {
      refused++;
      LOG.log(
          System.Logger.Level.ERROR,
          "report of trace {0} refused: {1}",
          report.getTraceId(),
          error.toString());
    }
  }

  /** How long to wait before the next one is sent. */
  Duration pause() {
    return pause;
  }

  /**
   * What closing has to tell: those that still wait, which are given up, and those that were
   * dropped; or null.
   */
  @Nullable ReportsLostException lost() {
    if (waiting.isEmpty() && dropped == 0) {
      return null;
    }
    ReportsLostException loss = new ReportsLostException(List.copyOf(waiting), dropped);
    waiting.clear();
    LOG.log(System.Logger.Level.ERROR, loss.getMessage());
    return loss;
  }

  int waiting() {
    return waiting.size();
  }

  long delivered() {
    return delivered;
  }

  long refused() {
    return refused;
  }

  long dropped() {
    return dropped;
  }

  long unwanted() {
    return unwanted;
  }
}
