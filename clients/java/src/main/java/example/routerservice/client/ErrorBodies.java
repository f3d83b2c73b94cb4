// What a body says went wrong: its code, what that speaks of, and its status.
package example.routerservice.client;

import com.google.gson.JsonParseException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads bodies of errors. */
final class ErrorBodies {
  /** Characters of a message that are looked at. */
  private static final int MESSAGE_READ = 500;

  // A code is a word, never a sentence: what a body says at length may quote the request, and no
  // payload is reported.
  private static final Pattern CODE = Pattern.compile("(?=.*[A-Za-z])[A-Za-z0-9_.-]{1,100}");
  private static final Pattern NEITHER_LETTER_NOR_DIGIT = Pattern.compile("[^a-z0-9]+");
  private static final int FIRST_ERROR = 400;
  private static final int LAST_ERROR = 599;

  private ErrorBodies() {}

  /**
   * What an answer says of itself: the subject of its error, empty where not known, and the code to
   * report.
   */
  record Told(String subject, String errorCode) {}

  /**
   * A body as JSON where it can be read as such, else null; the first of a list, as streams of
   * Google's send it.
   */
  static @Nullable Object parsed(@Nullable Object body) {
    Object read = body;
    if (body instanceof byte[] bytes) {
      read = jsonOrNull(new String(bytes, StandardCharsets.UTF_8));
    } else if (body instanceof CharSequence text) {
      read = jsonOrNull(text.toString());
    }
    return read instanceof List<?> list && !list.isEmpty() ? list.get(0) : read;
  }

  private static @Nullable Object jsonOrNull(String text) {
    try {
      return Json.parse(text);
    } catch (JsonParseException notJson) {
      return null;
    }
  }

  /**
   * What stands at the places of a body, such as {@code error.details[].reason}, in their order.
   */
  static List<Object> found(@Nullable Object body, List<String> places) {
    List<Object> found = new ArrayList<>();
    for (String place : places) {
      collect(body, List.of(place.split("\\.", -1)), found);
    }
    return found;
  }

  private static void collect(@Nullable Object value, List<String> path, List<Object> into) {
    if (path.isEmpty()) {
      if (value != null) {
        into.add(value);
      }
      return;
    }
    if (!(value instanceof Map<?, ?> members)) {
      return;
    }
    String name = path.get(0);
    List<String> rest = path.subList(1, path.size());
    if (!name.endsWith("[]")) {
      collect(members.get(name), rest, into);
    } else if (members.get(name.substring(0, name.length() - 2)) instanceof List<?> many) {
      many.forEach(one -> collect(one, rest, into));
    }
  }

  /** Letters and digits alone, in small letters: providers write the same thing in many ways. */
  static String letters(String text) {
    return NEITHER_LETTER_NOR_DIGIT.matcher(text.toLowerCase(Locale.ROOT)).replaceAll("");
  }

  /**
   * The status of an error that came within an answer of another status, as OpenRouter sends it;
   * null for none.
   */
  static @Nullable Integer toldStatus(@Nullable Object body, List<String> places) {
    for (Object one : found(body, places)) {
      if (one instanceof Number number) {
        double value = number.doubleValue();
        if (value >= FIRST_ERROR && value <= LAST_ERROR && value == Math.rint(value)) {
          return (int) value;
        }
      }
    }
    return null;
  }

  /**
   * What an answer speaks of: by its code where one is known, else by its message, else only its
   * first code.
   */
  static Told told(
      int status, Map<String, String> headers, @Nullable Object body, FailureTable table) {
    List<Object> written = found(body, table.codePlaces());
    table.codeHeaders().stream()
        .filter(headers::containsKey)
        .map(headers::get)
        .forEach(written::add);
    List<String> codes =
        written.stream()
            .filter(CharSequence.class::isInstance)
            .map(one -> code(one.toString()))
            .filter(one -> !one.isEmpty())
            .toList();
    for (String code : codes) {
      Told known = toldByCode(code, table);
      if (known != null) {
        return known;
      }
    }
    String first = codes.isEmpty() ? "" : codes.get(0);
    Told known = toldByMessage(status, body, table, first);
    return known != null ? known : new Told("", first);
  }

  private static @Nullable Told toldByCode(String code, FailureTable table) {
    String normal = letters(code);
    for (FailureTable.Subject subject : table.subjects()) {
      if (subject.words().stream().anyMatch(normal::contains)) {
        return new Told(subject.subject(), code);
      }
      if (subject.moreWords().stream().anyMatch(normal::contains)) {
        return new Told(subject.subject(), subject.report().isEmpty() ? code : subject.report());
      }
    }
    return null;
  }

  private static @Nullable Told toldByMessage(
      int status, @Nullable Object body, FailureTable table, String firstCode) {
    for (Object one : found(body, table.messagePlaces())) {
      String normal = one instanceof CharSequence text ? letters(beginning(text.toString())) : "";
      for (FailureTable.Message row : table.messages()) {
        if (row.statuses().contains(status) && speaks(normal, row)) {
          return new Told(row.subject(), row.report().isEmpty() ? firstCode : row.report());
        }
      }
    }
    return null;
  }

  private static boolean speaks(String normal, FailureTable.Message row) {
    return row.begins().stream().anyMatch(normal::startsWith)
        || row.contains().stream().anyMatch(normal::contains);
  }

  private static String beginning(String text) {
    boolean isLong = text.codePointCount(0, text.length()) > MESSAGE_READ;
    return isLong ? text.substring(0, text.offsetByCodePoints(0, MESSAGE_READ)) : text;
  }

  /**
   * A code without a namespace ({@code a.b#Code}) and what follows it ({@code Code:…}); empty where
   * it is none.
   */
  private static String code(String text) {
    String name = text.substring(text.lastIndexOf('#') + 1);
    int end = name.indexOf(':');
    String code = (end < 0 ? name : name.substring(0, end)).strip();
    return CODE.matcher(code).matches() ? code : "";
  }
}
