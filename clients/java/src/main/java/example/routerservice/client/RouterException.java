// Why there is no answer: one exception a kind.
package example.routerservice.client;

import example.routerservice.v1.FieldViolation;
import io.grpc.Status;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The request could not be answered. There is no default endpoint: it may go nowhere.
 *
 * <p>Its kinds are its subclasses; what is of none of them is of this class itself.
 */
public sealed class RouterException extends RuntimeException
    permits InvalidRequestException,
        LimitExceededException,
        PermissionDeniedException,
        PolicyNotFoundException,
        RouterUnavailableException,
        TraceNotFoundException,
        UnauthenticatedException,
        WorkloadNotFoundException {
  private static final long serialVersionUID = 1L;

  private final Status.Code code;
  private final String reason;
  private final transient List<FieldViolation> violations;

  /** What the service, or gRPC in its place, said. */
  record Details(
      String message,
      Status.Code code,
      String reason,
      List<FieldViolation> violations,
      @Nullable Throwable cause) {}

  RouterException(Details details) {
    super(details.message, details.cause);
    this.code = details.code;
    this.reason = details.reason;
    this.violations = details.violations;
  }

  /**
   * The gRPC status.
   *
   * @return its code
   */
  public Status.Code code() {
    return code;
  }

  /**
   * The name in {@link example.routerservice.v1.ErrorReason}, as the service sent it.
   *
   * @return {@code ERROR_REASON_POLICY_NOT_FOUND}, …; empty where the answer did not come from the
   *     service
   */
  public String reason() {
    return reason;
  }

  /**
   * Every field that makes no sense: its place in the message ({@code request.regions[2]}), what is
   * wrong and its cure.
   *
   * @return all of them at once; empty where it is another kind of error
   */
  public List<FieldViolation> violations() {
    return violations;
  }
}
