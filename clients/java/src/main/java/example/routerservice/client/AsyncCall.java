// What makes one attempt and answers later.
package example.routerservice.client;

import java.util.concurrent.CompletionStage;

/**
 * Makes one attempt, without retries of its own: {@link RouterClient#runAsync runAsync} is the only
 * one that tries again.
 *
 * @param <T> the answer
 */
@FunctionalInterface
public interface AsyncCall<T> {
  /**
   * Calls the endpoint {@link Try#candidate()}.
   *
   * @param attempt where to send the request, and what is to be told of it
   * @return the answer to come. Where it takes longer than {@link Try#timeout()}, or the run is
   *     cancelled, its {@code toCompletableFuture().cancel(true)} is called, which should end the
   *     call; that of {@link java.net.http.HttpClient#sendAsync} and what is derived of it does
   * @throws Exception as of {@link Call#call}
   */
  CompletionStage<T> call(Try attempt) throws Exception;
}
