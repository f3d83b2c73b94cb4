// JSON text as plain values, numbers as they are written.
package example.routerservice.client;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import com.google.gson.ToNumberPolicy;
import org.jspecify.annotations.Nullable;

/** Reads JSON. */
final class Json {
  /** Numbers keep their text, since neither a double nor a long holds all of them. */
  private static final Gson GSON =
      new GsonBuilder()
          .setStrictness(Strictness.STRICT)
          .setObjectToNumberStrategy(ToNumberPolicy.LAZILY_PARSED_NUMBER)
          .create();

  private static final char BYTE_ORDER_MARK = '\ufeff';

  private Json() {}

  /**
   * What a text says: maps, lists, strings, numbers, booleans, null.
   *
   * @throws JsonParseException it is no JSON
   */
  static @Nullable Object parse(String text) {
    if (text.isBlank()) { // Gson reads null out of it
      throw new JsonParseException("there is no JSON in an empty text");
    }
    if (text.charAt(0) == BYTE_ORDER_MARK) { // Gson passes over it
      throw new JsonParseException("a byte order mark is no part of JSON");
    }
    return GSON.fromJson(text, Object.class);
  }
}
