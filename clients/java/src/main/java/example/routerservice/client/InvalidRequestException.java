// The request makes no sense.
package example.routerservice.client;

/** The request makes no sense; {@link #violations()} names every bad field at once. */
public sealed class InvalidRequestException extends RouterException
    permits EndpointNotListedException {
  private static final long serialVersionUID = 1L;

  InvalidRequestException(Details details) {
    super(details);
  }
}
