// Every snippet of README.md compiles, and runs.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadmeTest {
  private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final String CLASS =
      """
      import example.routerservice.client.*;
      import example.routerservice.v1.*;
      import io.grpc.TlsChannelCredentials;
            import java.net.URI;
      import java.net.http.*;
      import java.nio.file.Path;
      import java.time.Duration;
      import java.util.Map;
      import java.util.concurrent.CompletableFuture;

      public class Snippets {
        public static void run(
            RouterClient given, DecideRequest asked, Map<String, URI> BACKENDS, String body)
            throws Exception {
          %s
        }
      }
      """;

  private ScriptedService service;
  private FaultyBackend backend;

  @BeforeEach
  void open() throws Exception {
    service = ScriptedService.start();
    backend = new FaultyBackend();
  }

  @AfterEach
  void close() throws Exception {
    backend.close();
    service.close();
  }

  @Test
  void everySnippetRuns(@TempDir Path folder) throws Exception {
    StringBuilder all = new StringBuilder();
    Matcher block = BLOCK.matcher(Files.readString(Path.of("README.md")));
    int count = 0;
    while (block.find()) {
      String text = block.group(1).replace("127.0.0.1:50051", service.target());
      // What the text around a snippet has told already.
      String told = text.contains("RouterClient router") ? "" : "RouterClient router = given;\n";
      told += text.contains("DecideRequest request") ? "" : "DecideRequest request = asked;\n";
      told += text.contains("HttpClient http") ? "" : "var http = HttpClient.newHttpClient();\n";
      all.append("{\n").append(told).append(text).append("}\n");
      count++;
    }
    assertEquals(6, count);
    Class<?> snippets = compiled(folder, CLASS.formatted(all));
    try (RouterClient router = RouterClient.connect(service.target())) {
      snippets
          .getMethod(
              "run",
              RouterClient.class,
              example.routerservice.v1.DecideRequest.class,
              Map.class,
              String.class)
          .invoke(
              null,
              router,
              example.routerservice.v1.DecideRequest.getDefaultInstance(),
              Map.of("a", backend.uri("good")),
              "{}");
    }
    assertEquals(List.of("good", "good"), backend.asked);
    assertEquals(3, service.reports.size());
  }

  private static Class<?> compiled(Path folder, String text) throws Exception {
    Path source = Files.writeString(folder.resolve("Snippets.java"), text);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    List<String> options =
        new ArrayList<>(List.of("-proc:none", "-Xlint:all", "-Werror", "-d", folder.toString()));
    options.addAll(List.of("-cp", System.getProperty("java.class.path")));
    boolean done =
        compiler
            .getTask(
                said,
                null,
                null,
                options,
                null,
                compiler.getStandardFileManager(null, null, null).getJavaFileObjects(source))
            .call();
    assertTrue(done, () -> said + "\n" + text);
    URLClassLoader loader =
        new URLClassLoader(new URL[] {folder.toUri().toURL()}, ReadmeTest.class.getClassLoader());
    return loader.loadClass("Snippets");
  }

  @Test
  void itNamesTheVersionOfThePom() throws Exception {
    Pattern version =
        Pattern.compile(
            "<artifactId>router-service-client</artifactId>\\s*<version>([^<]+)</version>");
    Matcher pom = version.matcher(Files.readString(Path.of("pom.xml")));
    Matcher readme = version.matcher(Files.readString(Path.of("README.md")));
    assertTrue(pom.find() && readme.find());
    assertEquals(pom.group(1), readme.group(1));
  }
}
