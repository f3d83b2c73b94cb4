// The caller is not known.
package example.routerservice.client;

/** The service does not know the caller; or a token was not sent, since the connection is plain. */
public final class UnauthenticatedException extends RouterException {
  private static final long serialVersionUID = 1L;

  UnauthenticatedException(Details details) {
    super(details);
  }
}
