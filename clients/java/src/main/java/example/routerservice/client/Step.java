// What a run does next.
package example.routerservice.client;

import java.time.Duration;

/** What the failover loop says is to be done. */
sealed interface Step {
  /** Make this attempt, and say what came of it. */
  record Make(Try attempt) implements Step {}

  /** Wait before the next one. */
  record Wait(Duration duration) implements Step {}

  /** Nothing more: it ended so. */
  record End(Outcome outcome) implements Step {}
}
