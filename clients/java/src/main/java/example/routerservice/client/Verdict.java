// What a failed attempt means.
package example.routerservice.client;

import com.google.gson.annotations.SerializedName;
import org.jspecify.annotations.Nullable;

/**
 * What a failed attempt means.
 *
 * @param failureClass {@code transient}, {@code ambiguous}, {@code permanent}, {@code incompatible}
 *     or {@code invalid_response}; empty where the caller cancelled
 * @param then what comes next
 * @param of what a permanent failure is of, {@code endpoint} or {@code request}; else empty
 * @param effect what it means for the endpoint: {@code failure}, {@code suppressed}, {@code
 *     invalid} or {@code none}. The service has the last word: a time-out shorter than the
 *     endpoint's need counts against nothing
 * @param statusCode the status to report, HTTP's or gRPC's; null where nothing answered
 * @param errorCode the code to report; empty where there is none
 * @param retryAfterMs for how many milliseconds the endpoint asks to be left alone, at most a day;
 *     null where it does not
 */
public record Verdict(
    String failureClass,
    Then then,
    String of,
    String effect,
    @Nullable Integer statusCode,
    String errorCode,
    @Nullable Integer retryAfterMs) {

  /** What comes after a failure. */
  public enum Then {
    /**
     * The same endpoint once more, if less than a second went by since the attempt began; then the
     * next.
     */
    @SerializedName("same_once")
    SAME_ONCE,
    /** The next endpoint. */
    @SerializedName("next")
    NEXT,
    /** The next; this one again where nothing else is left and its Retry-After fits the time. */
    @SerializedName("next_else_same")
    NEXT_ELSE_SAME,
    /** The next where the operation may be sent again, else none. */
    @SerializedName("next_if_replayable")
    NEXT_IF_REPLAYABLE,
    /** The next with a larger context window. */
    @SerializedName("next_larger_context")
    NEXT_LARGER_CONTEXT,
    /** None. */
    @SerializedName("stop")
    STOP
  }
}
