// What was seen of answers that SDKs throw, by reflection, so that none of them is needed.
package example.routerservice.client;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Looks at exceptions that carry an answer. */
final class ObservedSdk {
  // By the class that declares them: where status, headers and body are to be had, as methods one
  // after the other.
  private static final Map<String, Sdk> SDKS =
      Map.of(
          "com.anthropic.errors.AnthropicServiceException",
          new Sdk("statusCode", "headers", "body"),
          "com.openai.errors.OpenAIServiceException",
          new Sdk("statusCode", "headers", "body"),
          "org.springframework.web.client.RestClientResponseException",
          new Sdk(
              "getStatusCode.value",
              "getResponseHeaders.toSingleValueMap",
              "getResponseBodyAsString"),
          "org.springframework.web.reactive.function.client.WebClientResponseException",
          new Sdk("getStatusCode.value", "getHeaders.toSingleValueMap", "getResponseBodyAsString"),
          "software.amazon.awssdk.awscore.exception.AwsServiceException",
          new Sdk(
              "statusCode",
              "awsErrorDetails.sdkHttpResponse.headers",
              "awsErrorDetails.rawResponse.asUtf8String"));

  private ObservedSdk() {}

  private record Sdk(String status, String headers, String body) {}

  /** What an exception of an SDK carries; null where it is none that is known. */
  static @Nullable Seen seenOf(Throwable error) {
    for (Class<?> type = error.getClass(); type != null; type = type.getSuperclass()) {
      Sdk sdk = SDKS.get(type.getName());
      if (sdk != null && found(error, sdk.status) instanceof Integer status) {
        return Seen.http(status, headers(found(error, sdk.headers)), body(found(error, sdk.body)));
      }
    }
    return null;
  }

  /**
   * What a way of methods leads to; null where it ends before. What cannot be had tells nothing.
   */
  private static @Nullable Object found(Object from, String way) {
    Object place = from;
    for (String method : way.split("\\.", -1)) {
      place = place == null ? null : called(place, method);
    }
    return place;
  }

  /**
   * Headers as a map of strings or of lists, or as OpenAI's and Anthropic's SDKs have them: by
   * names.
   */
  private static Map<String, String> headers(@Nullable Object from) {
    Map<String, String> headers = new HashMap<>();
    if (from instanceof Map<?, ?> map) {
      map.forEach((name, value) -> put(headers, name, value));
    } else if (from != null && called(from, "names") instanceof Collection<?> names) {
      for (Object name : names) {
        put(headers, name, called(from, "values", name));
      }
    }
    return headers;
  }

  private static void put(
      Map<String, String> headers, @Nullable Object name, @Nullable Object value) {
    Object first = value;
    if (value instanceof Collection<?> many) {
      first = many.isEmpty() ? null : many.iterator().next();
    }
    if (name != null && first != null) {
      headers.put(name.toString(), first.toString());
    }
  }

  /** Text, or JSON as OpenAI's and Anthropic's SDKs have it. */
  private static @Nullable Object body(@Nullable Object from) {
    return from == null || from instanceof String ? from : called(from, "convert", Object.class);
  }

  private static @Nullable Object called(Object on, String name, Object... arguments) {
    try {
      Method method = visible(on.getClass(), name, arguments);
      return method == null ? null : method.invoke(on, arguments);
    } catch (ReflectiveOperationException | RuntimeException unreadable) {
      return null;
    }
  }

  /**
   * The method of a public class or interface: what implements it may be private to its library.
   */
  private static @Nullable Method visible(Class<?> type, String name, Object... arguments) {
    Deque<Class<?>> types = new ArrayDeque<>();
    types.add(type);
    while (!types.isEmpty()) {
      Class<?> one = types.remove();
      for (Method method : one.getDeclaredMethods()) {
        if (Modifier.isPublic(one.getModifiers())
            && Modifier.isPublic(method.getModifiers())
            && method.getName().equals(name)
            && takes(method, arguments)) {
          return method;
        }
      }
      types.addAll(List.of(one.getInterfaces()));
      if (one.getSuperclass() != null) {
        types.add(one.getSuperclass());
      }
    }
    return null;
  }

  private static boolean takes(Method method, Object... arguments) {
    Class<?>[] types = method.getParameterTypes();
    if (types.length != arguments.length) {
      return false;
    }
    for (int i = 0; i < types.length; i++) {
      if (!types[i].isInstance(arguments[i])) {
        return false;
      }
    }
    return true;
  }
}
