// What a failed attempt means, by the first row of the table that matches it.
package example.routerservice.client;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Classifies failures by the table that every client library shares. */
public final class FailureClasses {
  private static final FailureTable TABLE = FailureTable.SHIPPED;
  private static final int UNKNOWN_NUMBER = number("UNKNOWN", 2);

  private FailureClasses() {}

  /**
   * A kind, the HTTP status that it has or stands for, the status to report, and the body as it is
   * to be read.
   */
  private record Read(
      String kind, @Nullable Integer status, @Nullable Integer reported, @Nullable Object body) {}

  /**
   * What a failed attempt means, a Retry-After's date as seen from now.
   *
   * @param seen what was seen of it
   * @return its class, what comes next, and what the report tells
   */
  public static Verdict classify(Seen seen) {
    return classify(seen, Instant.now());
  }

  /**
   * What a failed attempt means.
   *
   * @param seen what was seen of it
   * @param now what a Retry-After's date is told from
   * @return its class, what comes next, and what the report tells
   */
  public static Verdict classify(Seen seen, Instant now) {
    Read read = read(seen);
    Map<String, String> headers = new HashMap<>();
    seen.headers().forEach((name, value) -> headers.put(name.toLowerCase(Locale.ROOT), value));
    ErrorBodies.Told told =
        read.status == null
            ? new ErrorBodies.Told("", "")
            : ErrorBodies.told(read.status, headers, read.body, TABLE);
    boolean isFinal = headers.getOrDefault("x-should-retry", "").strip().equalsIgnoreCase("false");
    FailureTable.Row row =
        TABLE.rows().stream()
            .filter(one -> one.matches(read.kind, read.status, told.subject(), isFinal))
            .findFirst()
            .orElseThrow(); // the last row matches everything
    List<Object> delays = ErrorBodies.found(read.body, TABLE.retryDelayPlaces());
    return new Verdict(
        row.failureClass(),
        row.then(),
        row.of(),
        row.effect(),
        read.reported,
        row.report() == null || row.report().isEmpty() ? told.errorCode() : row.report(),
        read.status == null
            ? null
            : RetryAfter.millis(headers, delays.isEmpty() ? null : delays.get(0), now));
  }

  private static Read read(Seen seen) {
    return switch (seen.kind()) {
      case GRPC -> readGrpc(seen);
      case HTTP -> readHttp(seen);
      default -> {
        String kind = seen.kind().written();
        yield new Read(kind, null, TABLE.kindStatus().get(kind), null);
      }
    };
  }

  private static Read readHttp(Seen seen) {
    Object body = ErrorBodies.parsed(seen.body());
    Integer status = seen.status();
    if (status != null && status / 100 == 2) {
      Integer told = ErrorBodies.toldStatus(body, TABLE.statusPlaces());
      status = told != null ? told : status;
    }
    return new Read(seen.kind().written(), status, status, body);
  }

  /** The kind, or the HTTP status that a gRPC status stands for; its own number is reported. */
  private static Read readGrpc(Seen seen) {
    int number = number(seen.code(), UNKNOWN_NUMBER);
    for (FailureTable.GrpcKind row : TABLE.grpcKinds()) {
      if (row.code().equals(seen.code()) && (row.sent() == null || row.sent() == seen.sent())) {
        return new Read(row.kind(), null, number, null);
      }
    }
    Integer status = TABLE.grpc().get(seen.code());
    Map<String, @Nullable Object> body = new HashMap<>();
    body.put("error", ErrorBodies.parsed(seen.body()));
    return new Read(
        Seen.Kind.HTTP.written(),
        status != null ? status : TABLE.grpc().get("UNKNOWN"),
        number,
        body);
  }

  private static int number(String code, int otherwise) {
    return TABLE.grpcNumbers().getOrDefault(code, otherwise);
  }
}
