// JSON in its one form (RFC 8785), the same in every language.
package example.routerservice.client;

import com.google.gson.JsonParseException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Writes JSON in its one form. */
public final class CanonicalJson {
  /** Digits that tell every double from every other. */
  private static final int DIGITS = 17;

  private static final Pattern INTEGER = Pattern.compile("-?[0-9]+");

  private CanonicalJson() {}

  /**
   * JSON text in its one form.
   *
   * @param json any JSON text
   * @return the same value as RFC 8785 writes it
   * @throws IllegalArgumentException it is no JSON, or has no form that is the same in every
   *     language
   */
  public static String ofText(String json) {
    try {
      return of(Json.parse(json));
    } catch (JsonParseException notJson) {
      throw new IllegalArgumentException("this is no JSON, and has no canonical form", notJson);
    }
  }

  /**
   * A value in its one form.
   *
   * @param value maps with strings for keys, iterables, strings, numbers, booleans and null, in
   *     each other
   * @return it as RFC 8785 writes it
   * @throws IllegalArgumentException it has no form that is the same in every language
   */
  public static String of(@Nullable Object value) {
    StringBuilder into = new StringBuilder();
    write(value, into);
    return into.toString();
  }

  private static void write(@Nullable Object value, StringBuilder into) {
    if (value == null || value instanceof Boolean) {
      into.append(value);
    } else if (value instanceof CharSequence text) {
      writeText(text.toString(), into);
    } else if (value instanceof Number number) {
      into.append(written(number));
    } else if (value instanceof Iterable<?> items) {
      String separator = "[";
      for (Object item : items) {
        into.append(separator);
        write(item, into);
        separator = ",";
      }
      into.append(separator.equals("[") ? "[]" : "]");
    } else if (value instanceof Map<?, ?> members) {
      writeMembers(members, into);
    } else {
      throw none(
          value.getClass().getName() + "; use maps, iterables, strings, numbers and booleans");
    }
  }

  /** By their names, in the order of UTF-16, which is that of Java's strings. */
  private static void writeMembers(Map<?, ?> members, StringBuilder into) {
    Map<String, @Nullable Object> sorted = new TreeMap<>();
    members.forEach(
        (name, value) -> {
          if (!(name instanceof String text)) {
            throw none("a name that is no string");
          }
          sorted.put(text, value);
        });
    String separator = "{";
    for (Map.Entry<String, @Nullable Object> member : sorted.entrySet()) {
      into.append(separator);
      writeText(member.getKey(), into);
      into.append(':');
      write(member.getValue(), into);
      separator = ",";
    }
    into.append(separator.equals("{") ? "{}" : "}");
  }

  private static void writeText(String text, StringBuilder into) {
    try {
      StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
    } catch (CharacterCodingException unpaired) {
      throw none("half a surrogate pair");
    }
    into.append('"');
    for (int i = 0; i < text.length(); i++) {
      char one = text.charAt(i);
      switch (one) {
        case '"' -> into.append("\\\"");
        case '\\' -> into.append("\\\\");
        case '\b' -> into.append("\\b");
        case '\f' -> into.append("\\f");
        case '\n' -> into.append("\\n");
        case '\r' -> into.append("\\r");
        case '\t' -> into.append("\\t");
        default -> into.append(one < ' ' ? String.format("\\u%04x", (int) one) : one);
      }
    }
    into.append('"');
  }

  /** As ECMAScript writes the double that it is: the shortest digits that read back as the same. */
  private static String written(Number number) {
    double value = number.doubleValue();
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      throw none(number.toString());
    }
    String written = value == 0 ? "0" : written(shortest(value));
    String given = number.toString();
    boolean isOther =
        INTEGER.matcher(given).matches()
            && new BigDecimal(value).compareTo(new BigDecimal(given)) != 0
            && !written.equals(given);
    if (isOther) {
      throw new IllegalArgumentException(
          given + " is another number to languages that know doubles alone; pass it as a string");
    }
    return written;
  }

  /**
   * The decimal with the fewest digits that reads back as this double; of several the one nearest
   * to it.
   */
  private static BigDecimal shortest(double value) {
    BigDecimal exact = new BigDecimal(value);
    for (int digits = 1; digits < DIGITS; digits++) {
      // Beside a power of two the nearest may read back as a neighbour while the one on the other
      // side does not.
      BigDecimal below = exact.round(new MathContext(digits, RoundingMode.FLOOR));
      BigDecimal above = exact.round(new MathContext(digits, RoundingMode.CEILING));
      BigDecimal nearest = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
      BigDecimal other = nearest.compareTo(below) == 0 ? above : below;
      if (nearest.doubleValue() == value) {
        return nearest;
      }
      if (other.doubleValue() == value) {
        return other;
      }
    }
    return exact.round(new MathContext(DIGITS, RoundingMode.HALF_EVEN));
  }

  private static String written(BigDecimal number) {
    BigDecimal bare = number.stripTrailingZeros();
    String digits = bare.unscaledValue().abs().toString();
    int point = digits.length() - bare.scale(); // the value is 0.DIGITS × 10^point
    String sign = bare.signum() < 0 ? "-" : "";
    return sign + placed(digits, point);
  }

  private static String placed(String digits, int point) {
    int count = digits.length();
    if (count <= point && point <= 21) {
      return digits + "0".repeat(point - count);
    }
    if (0 < point && point <= 21) {
      return digits.substring(0, point) + "." + digits.substring(point);
    }
    if (-6 < point && point <= 0) {
      return "0." + "0".repeat(-point) + digits;
    }
    String mantissa = count == 1 ? digits : digits.charAt(0) + "." + digits.substring(1);
    return mantissa + "e" + (point > 0 ? "+" : "") + (point - 1);
  }

  private static IllegalArgumentException none(String what) {
    return new IllegalArgumentException(what + " has no canonical form");
  }
}
