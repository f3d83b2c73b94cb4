// The service gave no answer.
package example.routerservice.client;

/**
 * The service cannot be reached, has no catalogue yet, or is on its way out. The request may go
 * nowhere.
 *
 * <p>What asks for traces or reports is told so too where the service keeps none, or its store is
 * lost for now.
 */
public sealed class RouterUnavailableException extends RouterException
    permits RouterTimeoutException {
  private static final long serialVersionUID = 1L;

  RouterUnavailableException(Details details) {
    super(details);
  }
}
