// The table of failure classes as values; every client library ships the same file.
package example.routerservice.client;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.GsonBuilder;
import com.google.gson.annotations.SerializedName;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The table, by the names of the file; clients/conformance says how it is read. */
record FailureTable(
    List<String> codePlaces,
    List<String> codeHeaders,
    List<String> messagePlaces,
    List<String> statusPlaces,
    List<String> retryDelayPlaces,
    List<Subject> subjects,
    List<Message> messages,
    Map<String, Integer> grpc,
    List<GrpcKind> grpcKinds,
    Map<String, Integer> grpcNumbers,
    Map<String, Integer> kindStatus,
    List<Row> rows) {

  static final String FILE = "failure_classes.json";
  static final FailureTable SHIPPED = read();

  /** What an error code speaks of, by what it contains. */
  record Subject(String subject, List<String> words, List<String> moreWords, String report) {}

  /** What an error message speaks of, by how it begins or what it contains. */
  record Message(
      String subject,
      String report,
      List<Integer> statuses,
      List<String> begins,
      List<String> contains) {}

  /** A gRPC status that no HTTP status stands for. */
  record GrpcKind(String code, @Nullable Boolean sent, String kind) {}

  /** A row: what it matches, null for anything, and what it means. */
  record Row(
      @Nullable List<String> kinds,
      @Nullable List<Integer> statuses,
      @Nullable String subject,
      @SerializedName("final") boolean onlyFinal,
      @SerializedName("class") String failureClass,
      Verdict.Then then,
      String of,
      String effect,
      @Nullable String report) {

    boolean matches(String kind, @Nullable Integer status, String subject, boolean isFinal) {
      return (kinds == null || kinds.contains(kind))
          && (statuses == null || (status != null && statuses.contains(status)))
          && (this.subject == null || this.subject.equals(subject))
          && (!onlyFinal || isFinal);
    }
  }

  private static FailureTable read() {
    try (InputStream file = FailureTable.class.getResourceAsStream(FILE)) {
      if (file == null) {
        throw new IllegalStateException(FILE + " is missing beside the classes of this package");
      }
      return new GsonBuilder()
          .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
          .create()
          .fromJson(new InputStreamReader(file, StandardCharsets.UTF_8), FailureTable.class);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
