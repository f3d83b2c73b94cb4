// The exception that carries out of a call what was seen of it.
package example.routerservice.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Thrown out of a call: this attempt brought no answer, and {@link #seen()} is what was seen of it.
 */
public final class CallFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final int BODY_READ = 65_536;

  private final transient Seen seen;

  /**
   * Of anything that was seen.
   *
   * @param seen what was seen
   */
  public CallFailedException(Seen seen) {
    super(seen.told());
    this.seen = seen;
  }

  /**
   * What was seen of the attempt.
   *
   * @return what the failure is classified by
   */
  public Seen seen() {
    return seen;
  }

  /**
   * Refused, unresolvable, a TLS failure, or timed out before the request was sent.
   *
   * @param why for people
   * @return to be thrown
   */
  public static CallFailedException notConnected(String why) {
    return new CallFailedException(Seen.of(Seen.Kind.CONNECT, why));
  }

  /**
   * Lost or timed out after the request was sent, nothing received.
   *
   * @param why for people
   * @return to be thrown
   */
  public static CallFailedException lost(String why) {
    return new CallFailedException(Seen.of(Seen.Kind.LOST, why));
  }

  /**
   * Broken off after a part of the answer was passed on.
   *
   * @param why for people
   * @return to be thrown
   */
  public static CallFailedException brokenOff(String why) {
    return new CallFailedException(Seen.of(Seen.Kind.BROKEN_OFF, why));
  }

  /**
   * The caller wants no answer any more: the run ends as {@link Outcome#CANCELLED} and is returned.
   *
   * @return to be thrown
   */
  public static CallFailedException cancelled() {
    return new CallFailedException(Seen.of(Seen.Kind.CALLER_CANCELLED, ""));
  }

  /**
   * An answer that fails acceptance.
   *
   * @param why what is wrong with it, with no words of the answer, since it is reported
   * @return to be thrown
   */
  public static CallFailedException notAccepted(String why) {
    return new CallFailedException(Seen.of(Seen.Kind.ACCEPTANCE_FAILED, why));
  }

  /**
   * An answer that only says that the endpoint will not speak of this.
   *
   * @return to be thrown
   */
  public static CallFailedException contentRefused() {
    return new CallFailedException(Seen.of(Seen.Kind.CONTENT_REFUSED, ""));
  }

  /**
   * An answer that is an error, of any HTTP library.
   *
   * @param status its status
   * @param headers its headers, as {@code HttpHeaders.map()} and OkHttp's {@code
   *     Headers.toMultimap()} give them
   * @param body its body: text, bytes, or JSON as maps and lists; null where there is none
   * @return to be thrown
   */
  public static CallFailedException http(
      int status, Map<String, List<String>> headers, @Nullable Object body) {
    return new CallFailedException(Seen.http(status, firstOfEach(headers), body));
  }

  /**
   * An answer of {@link java.net.http.HttpClient} that is an error. A body that is a string, bytes
   * or a stream is read.
   *
   * @param response the answer
   * @return to be thrown
   */
  public static CallFailedException http(HttpResponse<?> response) {
    Object body = response.body() instanceof InputStream stream ? read(stream) : response.body();
    return http(response.statusCode(), response.headers().map(), body);
  }

  /**
   * An answer of {@link HttpURLConnection} that is an error; its error stream is read.
   *
   * @param connection the connection, after it was answered
   * @return to be thrown
   * @throws IOException the connection broke before it was answered
   */
  public static CallFailedException http(HttpURLConnection connection) throws IOException {
    int status = connection.getResponseCode();
    InputStream stream = connection.getErrorStream();
    return http(status, connection.getHeaderFields(), stream == null ? null : read(stream));
  }

  static Map<String, String> firstOfEach(Map<String, List<String>> headers) {
    Map<String, String> firsts = new HashMap<>();
    headers.forEach(
        (name, values) -> {
          if (name != null && !values.isEmpty()) { // HttpURLConnection has its status line there
            firsts.put(name, values.get(0));
          }
        });
    return firsts;
  }

  /**
   * A body, as far as it can be had; one that cannot be read tells nothing, whatever the reason.
   */
  private static byte @Nullable [] read(InputStream stream) {
    try (stream) {
      return stream.readNBytes(BODY_READ);
    } catch (IOException broken) {
      return null;
    }
  }
}
