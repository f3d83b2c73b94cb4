// The caller may not ask this.
package example.routerservice.client;

/**
 * The caller may not ask this; or the server was not started for requests that bring their own
 * policy.
 */
public final class PermissionDeniedException extends RouterException {
  private static final long serialVersionUID = 1L;

  PermissionDeniedException(Details details) {
    super(details);
  }
}
