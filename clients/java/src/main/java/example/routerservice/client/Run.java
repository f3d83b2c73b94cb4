// What came of a request.
package example.routerservice.client;

import example.routerservice.v1.Attempt;
import example.routerservice.v1.Decision;
import example.routerservice.v1.Refusal;
import example.routerservice.v1.Report;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of a request.
 *
 * @param <T> the answer
 * @param outcome how it ended
 * @param result what the call returned; null unless accepted
 * @param decision the failover list, and why; null where there is a refusal in its place
 * @param refusal why the request may go nowhere; null where there is a decision
 * @param attempts what was tried, in order, as reported
 * @param report what the service is told in the background; null of a refusal or an inline request
 * @param failure what was seen of the last attempt that failed, for a proxy to pass on; null where
 *     none did
 */
public record Run<T>(
    Outcome outcome,
    @Nullable T result,
    @Nullable Decision decision,
    @Nullable Refusal refusal,
    List<Attempt> attempts,
    @Nullable Report report,
    @Nullable Seen failure) {

  /**
   * The answer: what the call returned.
   *
   * @return the result of an accepted run
   * @throws NotAnsweredException there is none
   */
  @SuppressWarnings("NullAway") // what the call returned, which may be null only where T may
  public T answer() {
    if (outcome != Outcome.ACCEPTED) {
      throw new NotAnsweredException(this);
    }
    return result;
  }
}
