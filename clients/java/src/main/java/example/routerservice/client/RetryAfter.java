// How long an endpoint asks to be left alone: Retry-After in all its forms, in milliseconds.
package example.routerservice.client;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads Retry-After. */
final class RetryAfter {
  /** The service obeys none beyond a day, and a wrong date must not last for ever. */
  private static final long MAX_MS = Duration.ofDays(1).toMillis();

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,12}(\\.[0-9]{1,12})?");

  /** A form of a date in HTTP: the day of the week, which tells nothing, and the rest. */
  private record Form(Pattern weekday, Function<Instant, DateTimeFormatter> rest) {
    Form(String weekday, Function<Instant, DateTimeFormatter> rest) {
      this(Pattern.compile(weekday), rest);
    }
  }

  private static final List<Form> DATES =
      List.of(
          new Form(
              "[A-Z][a-z]{2}, ",
              now -> DateTimeFormatter.ofPattern("dd MMM uuuu HH:mm:ss 'GMT'", Locale.US)),
          new Form("[A-Z][a-z]{5,8}, ", RetryAfter::withYearOfTwoDigits),
          new Form(
              "[A-Z][a-z]{2} ",
              now -> DateTimeFormatter.ofPattern("MMM ppd HH:mm:ss uuuu", Locale.US)));

  private RetryAfter() {}

  /**
   * What was asked for, rounded up to whole milliseconds and held to a day; null where nothing can
   * be read.
   *
   * @param headers by small names; {@code retry-after-ms} goes first, then {@code retry-after}
   * @param delay the retryDelay of a google.rpc.RetryInfo ({@code 34.5s}), which goes last
   * @param now what a date is seen from
   */
  static @Nullable Integer millis(
      Map<String, String> headers, @Nullable Object delay, Instant now) {
    String after = headers.getOrDefault("retry-after", "").strip();
    Stream<@Nullable Long> told =
        Stream.of(
            number(headers.getOrDefault("retry-after-ms", "").strip(), 1),
            number(after, 1000),
            until(after, now),
            delay instanceof CharSequence text && text.toString().endsWith("s")
                ? number(text.subSequence(0, text.length() - 1).toString(), 1000)
                : null);
    return told.filter(one -> one != null)
        .findFirst()
        .map(one -> (int) Math.min(one, MAX_MS))
        .orElse(null);
  }

  private static @Nullable Long number(String text, int unit) {
    if (!NUMBER.matcher(text).matches()) {
      return null;
    }
    return new BigDecimal(text)
        .multiply(BigDecimal.valueOf(unit))
        .setScale(0, RoundingMode.CEILING)
        .longValueExact();
  }

  private static @Nullable Long until(String text, Instant now) {
    for (Form form : DATES) {
      Matcher weekday = form.weekday.matcher(text);
      if (!weekday.lookingAt()) {
        continue;
      }
      try {
        // Strictly: November the 31st is no day, and not the 30th.
        DateTimeFormatter strict = form.rest.apply(now).withResolverStyle(ResolverStyle.STRICT);
        Instant moment =
            LocalDateTime.parse(text.substring(weekday.end()), strict).toInstant(ZoneOffset.UTC);
        return Math.max(0, Duration.between(now, moment).toMillis());
      } catch (DateTimeException anotherForm) {
        // one of the other forms, or none
      }
    }
    return null;
  }

  /** A year that seems to be more than 50 years ahead is the last one with these digits. */
  private static DateTimeFormatter withYearOfTwoDigits(Instant now) {
    return new DateTimeFormatterBuilder()
        .appendPattern("dd-MMM-")
        .appendValueReduced(ChronoField.YEAR, 2, 2, now.atOffset(ZoneOffset.UTC).getYear() - 49)
        .appendPattern(" HH:mm:ss 'GMT'")
        .toFormatter(Locale.US);
  }
}
