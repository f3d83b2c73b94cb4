// What looks at an answer before anybody gets it.
package example.routerservice.client;

import org.jspecify.annotations.Nullable;

/**
 * Checks an answer before anybody gets it; what fails is tried on the next endpoint.
 *
 * @param <T> the answer
 */
@FunctionalInterface
public interface Accept<T> {
  /**
   * What is wrong with an answer.
   *
   * @param answer what a call brought
   * @return what is wrong, in words that hold nothing of the answer, since it is reported; null or
   *     empty where nothing is
   * @throws Exception a fault of the caller's own, which is thrown again
   */
  @Nullable String whyNot(T answer) throws Exception;
}
