// A report of an attempt outside the decision.
package example.routerservice.client;

/** A report names an endpoint that the decision did not list; nothing of the report was taken. */
public final class EndpointNotListedException extends InvalidRequestException {
  private static final long serialVersionUID = 1L;

  EndpointNotListedException(Details details) {
    super(details);
  }
}
