// The service gave no answer in time.
package example.routerservice.client;

/** The service did not answer in time. */
public final class RouterTimeoutException extends RouterUnavailableException {
  private static final long serialVersionUID = 1L;

  RouterTimeoutException(Details details) {
    super(details);
  }
}
