// There is no such policy.
package example.routerservice.client;

/** The catalogue has no such policy, or it is not the caller's. */
public final class PolicyNotFoundException extends RouterException {
  private static final long serialVersionUID = 1L;

  PolicyNotFoundException(Details details) {
    super(details);
  }
}
