// A stand-in for what Anthropic's SDK throws, which is 47 MB: it has OpenAI's methods.
package com.anthropic.errors;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** An answer that says that credit is too low. */
public final class AnthropicServiceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The status. */
  public int statusCode() {
    return 400;
  }

  /** The headers. */
  public Headers headers() {
    return new Headers();
  }

  /** The body. */
  public JsonValue body() {
    return new JsonValue();
  }

  /** By names. */
  public static final class Headers {
    private static final Map<String, List<String>> ALL = Map.of("Retry-After", List.of("2"));

    /** All names. */
    public Set<String> names() {
      return ALL.keySet();
    }

    /** The values of one. */
    public List<String> values(String name) {
      return ALL.get(name);
    }
  }

  /** JSON. */
  public static final class JsonValue {
    /** As a type of Java's. */
    public <R> R convert(Class<R> type) {
      String message = "Your credit balance is too low to access the API.";
      Map<String, Object> error = Map.of("type", "invalid_request_error", "message", message);
      return type.cast(Map.of("type", "error", "error", error));
    }
  }
}
