// What is seen of the exceptions of HTTP and gRPC libraries, by calls that they really make.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.anthropic.errors.AnthropicServiceException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import okhttp3.Call;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ObservedTest {
  private static FaultyBackend backend;
  private static URI refused;

  /** Nobody takes a connection here, and nobody refuses one: connecting hangs. */
  private static ServerSocket full;

  private static final List<Socket> WAITING = new ArrayList<>();

  @BeforeAll
  static void open() throws IOException {
    backend = new FaultyBackend();
    refused = FaultyBackend.refused();
    full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    try {
      for (int i = 0; i < 100; i++) {
        Socket waiting = new Socket();
        WAITING.add(waiting);
        waiting.connect(full.getLocalSocketAddress(), 100);
      }
    } catch (SocketTimeoutException isFull) {
      // as it is to be
    }
  }

  @AfterAll
  static void close() throws IOException {
    backend.close();
    for (Socket one : WAITING) {
      one.close();
    }
    full.close();
  }

  private static URI hangingConnect() {
    return URI.create("http://127.0.0.1:" + full.getLocalPort() + "/");
  }

  /** HttpURLConnection, and what is built on it, takes half an answer for a whole one. */
  private static final Set<String> NOTICES_NO_END = Set.of("HttpURLConnection", "Bedrock");

  static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of("java.net.http", (Libraries.Call) Libraries::jdk, "lost"),
        Arguments.of("HttpURLConnection", (Libraries.Call) Libraries::urlConnection, "lost"),
        Arguments.of("OkHttp", (Libraries.Call) Libraries::okHttp, "lost"),
        Arguments.of("Apache HttpClient", (Libraries.Call) Libraries::apache, "lost"),
        Arguments.of("OpenAI", (Libraries.Call) Libraries::openAi, "lost"),
        Arguments.of("Bedrock", (Libraries.Call) Libraries::bedrock, "lost"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("failures")
  void whatALibraryThrows(String name, Libraries.Call library, String broken) throws Exception {
    assertEquals("connect", kind(() -> library.get(refused)));
    assertEquals(broken, kind(() -> library.get(backend.uri("reset"))));
    assertEquals(broken, kind(() -> library.get(backend.uri("hang"))));
    if (!NOTICES_NO_END.contains(name)) {
      assertEquals(broken, kind(() -> library.get(backend.uri("truncated"))));
    }
    if (!name.equals("OpenAI")) { // its time-out of connecting cannot be set by itself
      assertEquals("connect", kind(() -> library.get(hangingConnect())));
    }
  }

  @Test
  void springWrapsWhatItsClientThrows() {
    for (Libraries.Call library :
        List.<Libraries.Call>of(Libraries::spring, Libraries::springReactive)) {
      assertEquals("connect", kind(() -> library.get(refused)));
      assertEquals("lost", kind(() -> library.get(backend.uri("reset"))));
    }
  }

  @Test
  void answersThatSdksThrow() {
    for (Libraries.Call library :
        List.<Libraries.Call>of(Libraries::spring, Libraries::springReactive, Libraries::openAi)) {
      Seen limited = seen(() -> library.get(backend.uri("limited")));
      assertEquals(429, limited.status());
      Verdict verdict = FailureClasses.classify(limited);
      assertEquals("transient 429 rate_limit_exceeded 30000", words(verdict));
      assertEquals(
          "transient 503  null",
          words(FailureClasses.classify(seen(() -> library.get(backend.uri("ill"))))));
    }
    assertEquals(
        "transient 400 ThrottlingException null",
        words(FailureClasses.classify(seen(() -> Libraries.bedrock(backend.uri("aws"))))));
    assertEquals("acceptance_failed", kind(() -> Libraries.openAi(backend.uri("malformed"))));
  }

  private static String words(Verdict verdict) {
    return "%s %s %s %s"
        .formatted(
            verdict.failureClass(),
            verdict.statusCode(),
            verdict.errorCode(),
            verdict.retryAfterMs());
  }

  @Test
  void anthropicHasTheFormOfOpenAi() {
    Seen seen = Observed.seenOf(new AnthropicServiceException());
    assertEquals("permanent 400 credit_balance_too_low 2000", words(FailureClasses.classify(seen)));
  }

  @Test
  void httpUrlConnectionThrowsAnswersToo() throws Exception {
    assertEquals(503, seen(() -> Libraries.urlConnection(backend.uri("ill"))).status());
    assertEquals(404, seen(() -> Libraries.urlConnection(backend.uri("missing"))).status());
    HttpURLConnection connection =
        (HttpURLConnection) backend.uri("limited").toURL().openConnection();
    Seen seen = CallFailedException.http(connection).seen();
    assertEquals("transient 429 rate_limit_exceeded 30000", words(FailureClasses.classify(seen)));
  }

  @Test
  void anAnswerIsReadWhateverItsBodyIs() throws Exception {
    HttpClient http = HttpClient.newHttpClient();
    HttpRequest request = HttpRequest.newBuilder(backend.uri("limited")).build();
    for (HttpResponse.BodyHandler<?> handler :
        List.of(
            HttpResponse.BodyHandlers.ofString(),
            HttpResponse.BodyHandlers.ofByteArray(),
            HttpResponse.BodyHandlers.ofInputStream())) {
      Seen seen = CallFailedException.http(http.send(request, handler)).seen();
      assertEquals("transient 429 rate_limit_exceeded 30000", words(FailureClasses.classify(seen)));
    }
  }

  @Test
  void aCancelledCallOfOkHttp() throws Exception {
    Call call =
        new OkHttpClient()
            .newCall(new Request.Builder().url(backend.uri("hang").toString()).build());
    Thread cancelling =
        new Thread(
            () -> {
              try {
                backend.hanging.await();
              } catch (InterruptedException interrupted) {
                return;
              }
              call.cancel();
            });
    cancelling.start();
    assertEquals("caller_cancelled", kind(call::execute));
    cancelling.join();
  }

  @Test
  void aTlsGreetingThatIsNotAnswered() {
    URI tls = URI.create(backend.uri("good").toString().replace("http:", "https:"));
    assertEquals("connect", kind(() -> Libraries.jdk(tls)));
  }

  static Stream<Arguments> exceptions() {
    return Stream.of(
        Arguments.of(CallFailedException.notConnected("why"), "connect"),
        Arguments.of(CallFailedException.lost(""), "lost"),
        Arguments.of(CallFailedException.brokenOff(""), "broken_off"),
        Arguments.of(CallFailedException.cancelled(), "caller_cancelled"),
        Arguments.of(CallFailedException.notAccepted("why"), "acceptance_failed"),
        Arguments.of(CallFailedException.contentRefused(), "content_refused"),
        Arguments.of(CallFailedException.http(503, Map.of(), null), "http"),
        Arguments.of(new UnknownHostException("x"), "connect"),
        Arguments.of(new IOException("Connection reset"), "lost"),
        Arguments.of(new SocketTimeoutException("Read timed out"), "lost"),
        Arguments.of(new UncheckedIOException(new IOException("x")), "lost"),
        Arguments.of(new ExecutionException(new TimeoutException()), "lost"),
        Arguments.of(new CompletionException(new UnknownHostException("x")), "connect"),
        Arguments.of(new CancellationException(), "caller_cancelled"),
        Arguments.of(new InterruptedException(), "caller_cancelled"),
        Arguments.of(new CharacterCodingException(), "acceptance_failed"),
        Arguments.of(new IllegalStateException("mine"), null),
        Arguments.of(new OutOfMemoryError("mine"), null),
        Arguments.of(new java.io.FileNotFoundException("/etc/nothing"), null),
        Arguments.of(new java.nio.file.NoSuchFileException("/etc/nothing"), null));
  }

  @ParameterizedTest
  @MethodSource("exceptions")
  void exceptionsByKind(Throwable error, String kind) {
    Seen seen = Observed.seenOf(error);
    assertEquals(kind, seen == null ? null : seen.kind().written());
  }

  @Test
  void whatDoesNotParseIsNotAccepted() {
    assertEquals("acceptance_failed", kind(() -> JsonParser.parseString("{\"total\": ")));
    assertEquals(
        "acceptance_failed",
        kind(() -> new com.fasterxml.jackson.databind.ObjectMapper().readTree("{\"total\": ")));
    assertEquals("the answer does not parse", seen(() -> JsonParser.parseString("{")).why());
  }

  @Test
  void aFaultOfOnesOwnWhileARefusalWasHandledIsNoRefusal() {
    Throwable mine = new IllegalStateException("mine");
    mine.addSuppressed(new java.net.ConnectException());
    assertNull(Observed.seenOf(mine));
  }

  private static Seen seen(Executable call) {
    Seen seen = Observed.seenOf(assertThrows(Throwable.class, call));
    assertNotNull(seen);
    return seen;
  }

  private static String kind(Executable call) {
    return seen(call).kind().written();
  }
}
