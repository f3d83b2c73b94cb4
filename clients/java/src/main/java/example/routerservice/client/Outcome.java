// How a run ends.
package example.routerservice.client;

import java.util.Locale;

/** How a run ended. */
public enum Outcome {
  /** An endpoint answered, and acceptance had nothing against it. */
  ACCEPTED,
  /** Acceptance had something against the last answer. */
  REJECTED,
  /** The last attempt failed. */
  FAILED,
  /** Something was left to be tried that had no time. */
  DEADLINE_EXHAUSTED,
  /** It is not known whether the request was carried out. */
  AMBIGUOUS,
  /** The caller wanted no answer any more. */
  CANCELLED,
  /** The decision was a refusal: nothing was called, and nothing is reported. */
  REFUSED;

  /**
   * The name in reports and traces.
   *
   * @return {@code accepted}, {@code deadline_exhausted}, …
   */
  public String written() {
    return name().toLowerCase(Locale.ROOT);
  }
}
