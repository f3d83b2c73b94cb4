// What was seen of an attempt that brought no answer: what a failure is classified by.
package example.routerservice.client;

import io.grpc.Status;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What was seen of an attempt that brought no answer.
 *
 * @param kind what happened
 * @param status the HTTP status of an answer that is an error
 * @param headers those of the answer, under names of any case
 * @param body the JSON of the answer as maps, lists, strings, numbers, booleans and null; or its
 *     text, as a string or as bytes in UTF-8
 * @param code the name of a gRPC status ({@code UNAVAILABLE}), empty where none was seen
 * @param sent whether a gRPC call had reached the wire
 * @param why for people: what acceptance said, or what could not be connected to; never reported as
 *     an error code
 */
public record Seen(
    Kind kind,
    @Nullable Integer status,
    Map<String, String> headers,
    @Nullable Object body,
    String code,
    boolean sent,
    String why) {

  /** What can happen to an attempt. */
  public enum Kind {
    /** Refused, unresolvable, a TLS failure, or timed out before the request was sent. */
    CONNECT,
    /** Lost or timed out after the request was sent, nothing received. */
    LOST,
    /** Broken off after a part of the answer was passed on. */
    BROKEN_OFF,
    /** An HTTP answer that is an error. */
    HTTP,
    /** The status of a gRPC call. */
    GRPC,
    /** The caller wants no answer any more. */
    CALLER_CANCELLED,
    /** An answer that acceptance has something against. */
    ACCEPTANCE_FAILED,
    /** An answer that only refuses to speak of this. */
    CONTENT_REFUSED;

    /** The name in the table of failure classes. */
    String written() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * What has neither status nor body.
   *
   * @param kind what happened
   * @param why for people; may be empty
   * @return what was seen
   */
  public static Seen of(Kind kind, String why) {
    return new Seen(kind, null, Map.of(), null, "", true, why);
  }

  /**
   * An HTTP answer that is an error.
   *
   * @param status its status
   * @param headers its headers
   * @param body its body, as JSON or text; null where there is none
   * @return what was seen
   */
  public static Seen http(int status, Map<String, String> headers, @Nullable Object body) {
    return new Seen(Kind.HTTP, status, Map.copyOf(headers), body, "", true, "");
  }

  /**
   * The status of a gRPC call.
   *
   * @param code its name
   * @param sent whether the call had reached the wire
   * @param headers its metadata
   * @param body {@code message} and {@code details}, as google.rpc.Status has in JSON
   * @return what was seen
   */
  public static Seen grpc(
      String code, boolean sent, Map<String, String> headers, @Nullable Object body) {
    return new Seen(Kind.GRPC, null, Map.copyOf(headers), body, code, sent, "");
  }

  /** Whether gRPC says that somebody cancelled the call; who it was it does not tell. */
  boolean isCancelledByGrpc() {
    return kind == Kind.GRPC && code.equals(Status.Code.CANCELLED.name());
  }

  /** For people: in a few words, without anything of the body. */
  String told() {
    if (!why.isEmpty()) {
      return why;
    }
    String number = status == null ? code : status.toString();
    return number.isEmpty() ? kind.written() : kind.written() + " " + number;
  }
}
