// What was seen of a gRPC call of the caller's own.
package example.routerservice.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.grpc.Metadata;
import io.grpc.protobuf.StatusProto;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Looks at the status of a gRPC call, and at the details that Google's services send with it. */
final class ObservedGrpc {
  // What grpc-java says of a call whose time was up before there was a connection, now and in older
  // versions.
  private static final Pattern NOT_CONNECTED =
      Pattern.compile("was_still_waiting|waiting_for_connection");

  private static final int NANO_DIGITS = 9;

  private ObservedGrpc() {}

  static Seen seenOf(Throwable error) {
    io.grpc.Status status = io.grpc.Status.fromThrowable(error);
    Metadata trailers = io.grpc.Status.trailersFromThrowable(error);
    String message = status.getDescription() == null ? "" : status.getDescription();
    Map<String, Object> body = Map.of("message", message, "details", details(rich(error)));
    return Seen.grpc(status.getCode().name(), wasSent(error, message), headers(trailers), body);
  }

  /**
   * Whether the call had reached the wire: it had not where what caused it is a failure to connect.
   */
  private static boolean wasSent(Throwable error, String message) {
    return !NOT_CONNECTED.matcher(message).find()
        && Observed.chain(error).stream().noneMatch(one -> Observed.kind(one) == Seen.Kind.CONNECT);
  }

  /** The rich status; an empty one where there is none that can be read, as a proxy's may be. */
  static Status rich(Throwable error) {
    try {
      Status rich = StatusProto.fromThrowable(error);
      return rich == null ? Status.getDefaultInstance() : rich;
    } catch (RuntimeException unreadable) {
      return Status.getDefaultInstance();
    }
  }

  private static Map<String, String> headers(@Nullable Metadata trailers) {
    Map<String, String> headers = new HashMap<>();
    if (trailers != null) {
      for (String name : trailers.keys()) {
        if (!name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
          String value = trailers.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
          headers.put(name, value == null ? "" : value);
        }
      }
    }
    return headers;
  }

  /** The details that the table of failure classes has places for, as they are in JSON. */
  private static List<Map<String, String>> details(Status rich) {
    List<Map<String, String>> details = new ArrayList<>();
    for (Any detail : rich.getDetailsList()) {
      try {
        if (detail.is(ErrorInfo.class)) {
          details.add(Map.of("reason", detail.unpack(ErrorInfo.class).getReason()));
        } else if (detail.is(RetryInfo.class)) {
          RetryInfo info = detail.unpack(RetryInfo.class);
          BigDecimal nanos = BigDecimal.valueOf(info.getRetryDelay().getNanos(), NANO_DIGITS);
          BigDecimal delay = nanos.add(BigDecimal.valueOf(info.getRetryDelay().getSeconds()));
          details.add(Map.of("retryDelay", delay.toPlainString() + "s"));
        }
      } catch (InvalidProtocolBufferException unreadable) {
        // a detail that cannot be read tells nothing
      }
    }
    return details;
  }
}
