// What makes one attempt, in the caller's thread.
package example.routerservice.client;

/**
 * Makes one attempt, without retries of its own: {@link RouterClient#run run} is the only one that
 * tries again.
 *
 * @param <T> the answer
 */
@FunctionalInterface
public interface Call<T> {
  /**
   * Calls the endpoint {@link Try#candidate()}, within {@link Try#timeout()} for connecting and
   * everything.
   *
   * @param attempt where to send the request, and what is to be told of it
   * @return the answer
   * @throws Exception there is none: {@link CallFailedException}, or what an HTTP library throws.
   *     What is no failure of a call is a fault of the caller's own, which is reported, counts
   *     against no endpoint, and is thrown again
   */
  T call(Try attempt) throws Exception;
}
