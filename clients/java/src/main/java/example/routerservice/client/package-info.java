// What the package is for, and that nothing in it is null unless it says so.

/**
 * Asks a router-service which LLM endpoint a request may go to, calls the candidates in order until
 * one answers, and reports what came of it.
 *
 * <p>{@link example.routerservice.client.RouterClient} is where to begin. A refusal is an answer
 * and returned; what cannot be answered is thrown. There is no default endpoint: where the service
 * gives no answer, the request may go nowhere.
 *
 * <p>Nothing is null unless it is marked as {@link org.jspecify.annotations.Nullable}.
 */
@NullMarked
package example.routerservice.client;

import org.jspecify.annotations.NullMarked;
