// The vectors that every client library is held to.
package example.routerservice.client;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Named;

/** Reads clients/conformance. */
final class Vectors {
  static final Path CONFORMANCE = Path.of("..", "conformance");

  private Vectors() {}

  static JsonObject file(String name) {
    try {
      return JsonParser.parseString(Files.readString(CONFORMANCE.resolve(name))).getAsJsonObject();
    } catch (IOException missing) {
      throw new UncheckedIOException(missing);
    }
  }

  /** The cases of a list, each under its name, or under what it says where it has none. */
  static Stream<Named<JsonObject>> cases(JsonArray list) {
    return StreamSupport.stream(list.spliterator(), false)
        .map(JsonElement::getAsJsonObject)
        .map(one -> Named.of(one.has("name") ? text(one, "name") : one.toString(), one));
  }

  static String text(JsonObject from, String name) {
    return from.has(name) ? from.get(name).getAsString() : "";
  }

  /** A whole number; null where it is null or not there. */
  static Integer integer(JsonObject from, String name) {
    return from.has(name) && !from.get(name).isJsonNull() ? from.get(name).getAsInt() : null;
  }

  static boolean truth(JsonObject from, String name, boolean otherwise) {
    return from.has(name) ? from.get(name).getAsBoolean() : otherwise;
  }

  /** What was seen, as vectors write it. */
  static Seen seen(JsonObject from) {
    Map<String, String> headers = new HashMap<>();
    if (from.has("headers")) {
      from.getAsJsonObject("headers")
          .entrySet()
          .forEach(one -> headers.put(one.getKey(), one.getValue().getAsString()));
    }
    return new Seen(
        Seen.Kind.valueOf(text(from, "kind").toUpperCase(Locale.ROOT)),
        integer(from, "status"),
        headers,
        body(from.get("body")),
        text(from, "code"),
        truth(from, "sent", true),
        text(from, "why"));
  }

  private static Object body(JsonElement written) {
    if (written == null || written.isJsonNull()) {
      return null;
    }
    boolean isText = written.isJsonPrimitive() && written.getAsJsonPrimitive().isString();
    return isText ? written.getAsString() : Json.parse(written.toString());
  }
}
