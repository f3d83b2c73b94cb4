// Makes of the status of a failed call the exception of its kind.
package example.routerservice.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import example.routerservice.v1.FieldViolation;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads statuses. */
final class Errors {
  static final String NO_STORE = "ERROR_REASON_NO_STORE";

  private static final Map<Status.Code, Function<RouterException.Details, RouterException>> KINDS =
      new EnumMap<>(Status.Code.class);

  // What a code alone does not tell.
  private static final Map<String, Function<RouterException.Details, RouterException>> REASONS =
      Map.of(
          "ERROR_REASON_ENDPOINT_NOT_LISTED", EndpointNotListedException::new,
          "ERROR_REASON_POLICY_NOT_FOUND", PolicyNotFoundException::new,
          "ERROR_REASON_TRACE_NOT_FOUND", TraceNotFoundException::new,
          "ERROR_REASON_WORKLOAD_NOT_FOUND", WorkloadNotFoundException::new);

  static {
    KINDS.put(Status.Code.UNAVAILABLE, RouterUnavailableException::new);
    KINDS.put(Status.Code.DEADLINE_EXCEEDED, RouterTimeoutException::new);
    KINDS.put(Status.Code.INVALID_ARGUMENT, InvalidRequestException::new);
    KINDS.put(Status.Code.PERMISSION_DENIED, PermissionDeniedException::new);
    KINDS.put(Status.Code.UNAUTHENTICATED, UnauthenticatedException::new);
    KINDS.put(Status.Code.RESOURCE_EXHAUSTED, LimitExceededException::new);
  }

  private Errors() {}

  /** The exception of a status that a call ended with. */
  static RouterException of(Status status, @Nullable Metadata trailers) {
    return of(status.asRuntimeException(trailers));
  }

  /** The exception of what a stub threw. */
  static RouterException of(StatusRuntimeException failure) {
    Status status = failure.getStatus();
    String reason = "";
    List<FieldViolation> violations = new ArrayList<>();
    for (Any detail : ObservedGrpc.rich(failure).getDetailsList()) {
      try {
        if (detail.is(ErrorInfo.class)) {
          reason = detail.unpack(ErrorInfo.class).getReason();
        } else if (detail.is(BadRequest.class)) {
          detail.unpack(BadRequest.class).getFieldViolationsList().stream()
              .map(Errors::violation)
              .forEach(violations::add);
        }
      } catch (InvalidProtocolBufferException unreadable) {
        // the status tells enough
      }
    }
    String message =
        status.getDescription() == null ? status.getCode().name() : status.getDescription();
    RouterException.Details details =
        new RouterException.Details(
            message, status.getCode(), reason, List.copyOf(violations), failure);
    return REASONS
        .getOrDefault(reason, KINDS.getOrDefault(status.getCode(), RouterException::new))
        .apply(details);
  }

  private static FieldViolation violation(BadRequest.FieldViolation one) {
    return FieldViolation.newBuilder()
        .setField(one.getField())
        .setDescription(one.getDescription())
        .build();
  }
}
