// There is no such trace.
package example.routerservice.client;

/** There is no such trace, it is no longer kept, or it is not the caller's. */
public final class TraceNotFoundException extends RouterException {
  private static final long serialVersionUID = 1L;

  TraceNotFoundException(Details details) {
    super(details);
  }
}
