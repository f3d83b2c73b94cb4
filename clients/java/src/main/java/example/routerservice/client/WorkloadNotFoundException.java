// There is no such workload.
package example.routerservice.client;

/** The catalogue has no such workload, or not in this version, or it is not the caller's. */
public final class WorkloadNotFoundException extends RouterException {
  private static final long serialVersionUID = 1L;

  WorkloadNotFoundException(Details details) {
    super(details);
  }
}
