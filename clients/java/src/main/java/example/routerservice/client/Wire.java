// Figures and texts as a report has them on the wire.
package example.routerservice.client;

/** Fits values into fields. */
final class Wire {
  /** Characters of a text that is reported. */
  private static final int TEXT_MAX = 200;

  private static final long UINT32_MAX = 0xFFFF_FFFFL;

  private Wire() {}

  /** What a caller tells. Throws IllegalArgumentException where no field holds it. */
  static int checked(long number) {
    if (number < 0 || number > UINT32_MAX) {
      throw new IllegalArgumentException(number + " is out of range; it can be 0 to " + UINT32_MAX);
    }
    return uint32(number);
  }

  /** As the wire has it: the greatest number stands for all above. */
  static int uint32(long number) {
    return (int) Math.min(number, UINT32_MAX);
  }

  /** As much of a text as is reported. */
  static String shortened(String text) {
    boolean isLong = text.codePointCount(0, text.length()) > TEXT_MAX;
    return isLong ? text.substring(0, text.offsetByCodePoints(0, TEXT_MAX)) : text;
  }
}
