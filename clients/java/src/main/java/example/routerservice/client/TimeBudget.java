// How long an attempt may take and how long to wait before it; all times are whole milliseconds.
package example.routerservice.client;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Divides time. */
final class TimeBudget {
  private static final long RESERVE_MS = 300;
  private static final long RESERVE_SHARE = 20; // at most a twentieth of the deadline is kept back
  // A later attempt's allowance is 32/45 of the one before it.
  private static final BigInteger LATER = BigInteger.valueOf(32);
  private static final BigInteger EARLIER = BigInteger.valueOf(45);
  private static final long BASE_MS = 200;
  private static final long CAP_MS = 2000;
  private static final int DOUBLINGS = 16; // far beyond the cap, and far from an overflow

  /** The longest Retry-After that is waited for where there is no deadline. */
  private static final long PATIENCE_MS = 60_000;

  private TimeBudget() {}

  /**
   * What can be spent on attempts: the deadline less what is kept back for the caller's own work
   * and its checks.
   */
  static long spendableMs(long deadlineMs) {
    return deadlineMs - Math.min(RESERVE_MS, deadlineMs / RESERVE_SHARE);
  }

  /** How what can be spent is divided over attempts, the first getting most. */
  static List<Long> allowancesMs(long spendable, int attempts) {
    List<BigInteger> shares = new ArrayList<>();
    for (int i = 0; i < attempts; i++) {
      shares.add(LATER.pow(i).multiply(EARLIER.pow(attempts - 1 - i)));
    }
    BigInteger total = shares.stream().reduce(BigInteger.ZERO, BigInteger::add);
    BigInteger whole = BigInteger.valueOf(spendable);
    return shares.stream().map(one -> floor(whole.multiply(one), total).longValueExact()).toList();
  }

  /** Integer division rounded down, of a negative number too. */
  private static BigInteger floor(BigInteger number, BigInteger by) {
    return number.subtract(number.mod(by)).divide(by);
  }

  /**
   * How long the first of the needs may take of the time that is left; null where it does not fit.
   *
   * <p>The needs are those of the candidates that are left, the next to be tried first, of which so
   * many attempts can be made at most. The time is divided as the service divided it: the first is
   * in, and each next one joins if every allowance still covers its need.
   */
  static @Nullable Long allowanceMs(long left, List<Long> needs, int attempts) {
    List<Long> chosen = new ArrayList<>();
    Long first = null;
    for (long need : needs) {
      if (chosen.size() == attempts) {
        break;
      }
      chosen.add(need);
      List<Long> allowances = allowancesMs(left, chosen.size());
      if (covers(allowances, chosen)) {
        first = allowances.get(0);
      } else if (chosen.size() == 1) {
        return null;
      } else {
        chosen.remove(chosen.size() - 1);
      }
    }
    return first;
  }

  private static boolean covers(List<Long> allowances, List<Long> needs) {
    for (int i = 0; i < needs.size(); i++) {
      if (allowances.get(i) < needs.get(i)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Full jitter: how long to wait before a retry, so many having gone before, chance having drawn
   * from 0 to 1.
   */
  static long jitterMs(int retries, double draw) {
    return (long) (draw * Math.min(CAP_MS, BASE_MS << Math.min(retries, DOUBLINGS)));
  }

  /**
   * Whether an attempt still fits after a wait; without a deadline ({@code left} null) patience
   * ends some time too.
   */
  static boolean fits(long wait, long need, @Nullable Long left) {
    return left == null ? wait <= PATIENCE_MS : wait + need <= left;
  }
}
