// The key of a side effect, the same for the same call of a tool.
package example.routerservice.client;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Names the side effect of a tool call, so that one that is tried again is known again. */
public final class ExecutionKey {
  private ExecutionKey() {}

  /**
   * The key of a tool call, as a model wrote its arguments.
   *
   * @param operationId the caller's own id of the operation, the same when it is tried again
   * @param toolName the tool
   * @param arguments JSON text
   * @return SHA-256 in 64 hex digits, of the three separated by zero bytes, the arguments in their
   *     canonical form
   * @throws IllegalArgumentException a part has a zero character, or the arguments have no
   *     canonical form
   */
  public static String ofText(String operationId, String toolName, String arguments) {
    return hashed(operationId, toolName, CanonicalJson.ofText(arguments));
  }

  /**
   * The key of a tool call.
   *
   * @param operationId the caller's own id of the operation, the same when it is tried again
   * @param toolName the tool
   * @param arguments by name: maps, iterables, strings, numbers, booleans and null
   * @return SHA-256 in 64 hex digits, of the three separated by zero bytes, the arguments in their
   *     canonical form
   * @throws IllegalArgumentException a part has a zero character, or the arguments have no
   *     canonical form
   */
  public static String of(
      String operationId, String toolName, Map<String, ? extends @Nullable Object> arguments) {
    return hashed(operationId, toolName, CanonicalJson.of(arguments));
  }

  private static String hashed(String operationId, String toolName, String arguments) {
    if (operationId.indexOf('\0') >= 0 || toolName.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(
          "operationId and toolName cannot have a zero character, which separates the parts");
    }
    try {
      MessageDigest hash = MessageDigest.getInstance("SHA-256");
      CharBuffer parts = CharBuffer.wrap(String.join("\0", operationId, toolName, arguments));
      hash.update(StandardCharsets.UTF_8.newEncoder().encode(parts));
      return HexFormat.of().formatHex(hash.digest());
    } catch (CharacterCodingException unpaired) {
      throw new IllegalArgumentException(
          "operationId or toolName has half a surrogate pair, which no UTF-8 has", unpaired);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-256", impossible);
    }
  }
}
