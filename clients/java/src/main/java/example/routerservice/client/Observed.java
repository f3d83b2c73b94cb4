// What was seen, told from the exceptions of libraries without depending on any of them.
package example.routerservice.client;

import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Looks at exceptions. */
final class Observed {
  // By the name of a class or of one that it extends, the nearest first. What is not surely from
  // before the request was sent is lost: to send it again could do a thing twice.
  private static final Map<String, Seen.Kind> BY_NAME = new HashMap<>();

  static {
    put(
        Seen.Kind.CONNECT,
        "java.net.ConnectException", // of Netty and Apache HttpClient too, which extend it
        "java.net.MalformedURLException",
        "java.net.NoRouteToHostException",
        "java.net.UnknownHostException",
        "java.net.http.HttpConnectTimeoutException",
        "java.nio.channels.UnresolvedAddressException",
        "javax.net.ssl.SSLHandshakeException",
        "javax.net.ssl.SSLPeerUnverifiedException",
        "org.apache.hc.client5.http.ConnectTimeoutException",
        "org.apache.hc.core5.http.ConnectionRequestTimeoutException",
        "org.apache.http.conn.ConnectTimeoutException");
    put(
        Seen.Kind.LOST,
        "io.grpc.netty.shaded.io.netty.handler.timeout.TimeoutException",
        "io.netty.handler.timeout.TimeoutException",
        "java.io.IOException", // resets, broken pipes, time-outs, what ends before its time
        "java.util.concurrent.TimeoutException",
        "software.amazon.awssdk.core.exception.AbortedException",
        "software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException",
        "software.amazon.awssdk.core.exception.ApiCallTimeoutException");
    put(
        Seen.Kind.CALLER_CANCELLED,
        "java.lang.InterruptedException",
        "java.nio.channels.ClosedByInterruptException",
        "java.util.concurrent.CancellationException");
    put(
        Seen.Kind.ACCEPTANCE_FAILED,
        "com.anthropic.errors.AnthropicInvalidDataException",
        "com.fasterxml.jackson.core.JsonProcessingException",
        "com.google.gson.JsonParseException",
        "com.google.gson.stream.MalformedJsonException",
        "com.openai.errors.OpenAIInvalidDataException",
        "jakarta.json.JsonException",
        "java.nio.charset.CharacterCodingException",
        "org.json.JSONException",
        "tools.jackson.core.JacksonException");
  }

  // The JDK's own classes tell these apart by their messages alone.
  private static final Pattern CONNECTING =
      Pattern.compile("(?i)connect timed out.*|failed to connect.*");
  private static final Pattern ANSWERED =
      Pattern.compile("Server returned HTTP response code: (\\d{3}) for URL: .*", Pattern.DOTALL);
  private static final Pattern NOT_FOUND = Pattern.compile("https?://.*", Pattern.DOTALL);
  private static final String NETWORK = "java.net.";

  // Of OkHttp, and of the JDK where a socket was closed on this side.
  private static final Set<String> CANCELLED = Set.of("Canceled", "Socket closed");

  private Observed() {}

  private static void put(Seen.Kind kind, String... names) {
    for (String name : names) {
      BY_NAME.put(name, kind);
    }
  }

  /**
   * What was seen, of what a call threw or of what caused it; null where it is no failure of a
   * call.
   */
  static @Nullable Seen seenOf(Throwable error) {
    List<Throwable> chain = chain(error);
    for (Throwable one : chain) {
      Seen answered = answered(one);
      if (answered != null) {
        return answered;
      }
    }
    Seen.Kind first = null;
    for (Throwable one : chain) {
      // A library may call every failure the same, or read on where an answer broke off: what
      // caused it knows better.
      Seen.Kind kind = kind(one);
      if (kind == Seen.Kind.CONNECT) {
        return Seen.of(Seen.Kind.CONNECT, "");
      }
      if (first == Seen.Kind.ACCEPTANCE_FAILED && one.getClass().getName().startsWith(NETWORK)) {
        return Seen.of(Seen.Kind.LOST, "");
      }
      first = first == null ? kind : first;
    }
    if (first == null) {
      return null;
    }
    return Seen.of(first, first == Seen.Kind.ACCEPTANCE_FAILED ? "the answer does not parse" : "");
  }

  /** An exception and what caused it, outermost first. */
  static List<Throwable> chain(Throwable error) {
    List<Throwable> chain = new ArrayList<>();
    for (Throwable one = error; one != null && !chain.contains(one); one = one.getCause()) {
      chain.add(one);
    }
    return chain;
  }

  /** An exception that carries an answer. */
  private static @Nullable Seen answered(Throwable error) {
    if (error instanceof CallFailedException failed) {
      return failed.seen();
    }
    if (error instanceof StatusRuntimeException || error instanceof StatusException) {
      return ObservedGrpc.seenOf(error);
    }
    if (error.getClass() == IOException.class) { // of HttpURLConnection
      Matcher answer = ANSWERED.matcher(String.valueOf(error.getMessage()));
      return answer.matches() ? Seen.http(Integer.parseInt(answer.group(1)), Map.of(), null) : null;
    }
    if (error instanceof FileNotFoundException) {
      boolean isAnswer = NOT_FOUND.matcher(String.valueOf(error.getMessage())).matches();
      return isAnswer ? Seen.http(404, Map.of(), null) : null;
    }
    return ObservedSdk.seenOf(error);
  }

  static Seen.@Nullable Kind kind(Throwable error) {
    if (error instanceof FileNotFoundException || error instanceof FileSystemException) {
      return null; // a file of the caller's own
    }
    String message = String.valueOf(error.getMessage());
    if (error instanceof SocketTimeoutException && CONNECTING.matcher(message).matches()) {
      return Seen.Kind.CONNECT;
    }
    if (error instanceof IOException && CANCELLED.contains(message)) {
      return Seen.Kind.CALLER_CANCELLED;
    }
    for (Class<?> type = error.getClass(); type != null; type = type.getSuperclass()) {
      Seen.Kind kind = BY_NAME.get(type.getName());
      if (kind != null) {
        return kind;
      }
    }
    return null;
  }
}
