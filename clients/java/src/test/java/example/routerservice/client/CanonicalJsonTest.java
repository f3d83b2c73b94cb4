// The one form of JSON beyond its vectors: every double, and values that are no text.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CanonicalJsonTest {
  @ParameterizedTest
  @CsvSource({
    "2e-3, 0.002", // Double.toString of Java 17 has a digit too many of these
    "2.0E-3, 0.002",
    "4.9E-324, 5e-324",
    "1.0E23, 1e+23",
    "2.2250738585072014E-308, 2.2250738585072014e-308",
    "9.007199254740993E15, 9007199254740992",
    "5.6843418860808015E-14, 5.684341886080802e-14", // 2^-44, where the neighbours are not alike
    "1.7976931348623157E308, 1.7976931348623157e+308",
    "-1E21, -1e+21",
    "123456789012345680000, 123456789012345680000",
    "0.000001, 0.000001",
    "0.0000001, 1e-7"
  })
  void aNumberIsWrittenAsEcmaScriptDoes(String given, String written) {
    assertEquals(written, CanonicalJson.ofText(given));
  }

  @Test
  void everyDoubleReadsBackAsItselfAndNoShorterOneDoes() {
    Random random = new Random(8785);
    for (int i = 0; i < 2000; i++) {
      double value = Double.longBitsToDouble(random.nextLong());
      if (Double.isFinite(value) && value != 0) {
        String written = CanonicalJson.of(value);
        assertEquals(value, Double.parseDouble(written), written);
        int digits = new BigDecimal(written).stripTrailingZeros().precision();
        BigDecimal shorter = new BigDecimal(value).round(new MathContext(Math.max(1, digits - 1)));
        if (digits > 1) {
          assertNotEquals(value, shorter.doubleValue(), written);
        }
      }
    }
  }

  @Test
  void valuesOfEveryKindHaveTheirForm() {
    Map<String, Object> value = new LinkedHashMap<>();
    value.put("b", Arrays.asList(1, 2L, new BigInteger("3"), new BigDecimal("4.50"), 0.5, null));
    value.put("a", Map.of("c", true, "\u20ac", "\u000f\""));
    value.put("", List.of());
    assertEquals(
        "{\"\":[],\"a\":{\"c\":true,\"\u20ac\":\"\\u000f\\\"\"},\"b\":[1,2,3,4.5,0.5,null]}",
        CanonicalJson.of(value));
    assertEquals("{}", CanonicalJson.of(Map.of()));
    assertEquals(
        ExecutionKey.ofText("op", "tool", CanonicalJson.of(value)),
        ExecutionKey.of("op", "tool", value));
  }

  @Test
  void whatIsNoJsonHasNoForm() {
    for (Object value :
        List.of(
            Map.of(1, 2),
            new byte[0],
            Double.NaN,
            Float.POSITIVE_INFINITY,
            9007199254740993L,
            new BigInteger("9007199254740993"),
            List.of(Set.of(new Object())),
            "\udfff")) {
      assertThrows(IllegalArgumentException.class, () -> CanonicalJson.of(value));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "{", "[1,]", "{a:1}", "'a'", "[1] 2", "01", "tru", "\"\n\""})
  void whatIsNoJsonTextIsRefused(String text) {
    assertThrows(IllegalArgumentException.class, () -> CanonicalJson.ofText(text));
  }

  @Test
  void thePartsOfAKeyCannotRunIntoEachOther() {
    assertNotEquals(ExecutionKey.of("a", "bc", Map.of()), ExecutionKey.of("ab", "c", Map.of()));
    for (String part : List.of("a\0b", "\ud800")) {
      assertThrows(IllegalArgumentException.class, () -> ExecutionKey.of(part, "tool", Map.of()));
      assertThrows(IllegalArgumentException.class, () -> ExecutionKey.of("op", part, Map.of()));
    }
  }
}
