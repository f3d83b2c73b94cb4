// Too much was asked.
package example.routerservice.client;

/** A limit of the service, or 64 MiB of one answer, was exceeded. */
public final class LimitExceededException extends RouterException {
  private static final long serialVersionUID = 1L;

  LimitExceededException(Details details) {
    super(details);
  }
}
