// Who calls: a bearer token over TLS or to this machine, and never in the open.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.DecideRequest;
import io.grpc.Attributes;
import io.grpc.CallCredentials;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenTest {
  private static final DecideRequest ANY = DecideRequest.getDefaultInstance();
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final char[] PASSWORD = "changeit".toCharArray();

  @Test
  void itIsSentToThisMachineAndAskedForAnew() throws Exception {
    AtomicInteger number = new AtomicInteger();
    try (ScriptedService service = ScriptedService.start();
        RouterClient client =
            RouterClient.builder()
                .target(service.target())
                .timeout(LONG)
                .token(() -> "token-" + number.incrementAndGet())
                .build()) {
      client.decide(ANY);
      client.decideAsync(ANY).join();
      client.decideStream(List.of(ANY)).forEach(answer -> {});
      client.run(ANY, attempt -> "words");
      assertTrue(client.reports().flush(LONG));
      assertEquals(
          List.of(
              "Bearer token-1",
              "Bearer token-2",
              "Bearer token-3",
              "Bearer token-4",
              "Bearer token-5"),
          service.tokens);
    }
  }

  @Test
  void aFileIsReadAgainWhenItWasReplaced(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("token"), "first\n");
    try (ScriptedService service = ScriptedService.start();
        RouterClient client =
            RouterClient.builder().target(service.target()).timeout(LONG).token(file).build()) {
      client.decide(ANY);
      Path renewed = Files.writeString(folder.resolve("new"), "other\n");
      Files.move(renewed, file, StandardCopyOption.REPLACE_EXISTING);
      client.decide(ANY);
      assertEquals(List.of("Bearer first", "Bearer other"), service.tokens);
      Files.delete(file);
      UnauthenticatedException none =
          assertThrows(UnauthenticatedException.class, () -> client.decide(ANY));
      assertTrue(none.getMessage().contains(file.toString()));
    }
  }

  @Test
  void itIsSentOverTls(@TempDir Path folder) throws Exception {
    KeyStore keys = keys(folder);
    KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(keys, PASSWORD);
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(keys);
    try (ScriptedService service =
            ScriptedService.on(
                Grpc.newServerBuilderForPort(
                    0,
                    TlsServerCredentials.newBuilder().keyManager(own.getKeyManagers()).build()));
        RouterClient client =
            RouterClient.builder()
                .target("localhost:" + service.port())
                .credentials(
                    TlsChannelCredentials.newBuilder()
                        .trustManager(trust.getTrustManagers())
                        .build())
                .timeout(LONG)
                .token("secret")
                .build();
        RouterClient stranger =
            RouterClient.builder()
                .target("localhost:" + service.port())
                .credentials(TlsChannelCredentials.create())
                .timeout(LONG)
                .build()) {
      client.decide(ANY);
      assertEquals(List.of("Bearer secret"), service.tokens);
      assertThrows(RouterUnavailableException.class, () -> stranger.decide(ANY));
    }
  }

  /** A certificate for localhost that nobody else trusts. */
  private static KeyStore keys(Path folder) throws Exception {
    Path file = folder.resolve("keys.p12");
    Process made =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "service",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost",
                "-storetype",
                "PKCS12",
                "-storepass",
                new String(PASSWORD),
                "-keystore",
                file.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("keytool.txt").toFile())
            .start();
    assertTrue(made.waitFor(60, TimeUnit.SECONDS));
    assertEquals(0, made.exitValue());
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD);
    }
    // What is trusted is a certificate by itself, not the pair.
    keys.setCertificateEntry("trusted", keys.getCertificate("service"));
    return keys;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "router.example:50051",
        "dns:///router.example",
        "192.0.2.1:1",
        "localhost.example:1"
      })
  void itIsRefusedForAPlainConnectionToAnotherMachine(String target) {
    RouterClientBuilder builder = RouterClient.builder().target(target).token("secret");
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, builder::build);
    assertTrue(refused.getMessage().startsWith(target + ": a bearer token is sent over TLS"));
    assertFalse(refused.getMessage().contains("secret"));
    builder.credentials(TlsChannelCredentials.create()).build().close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"localhost:1", "127.0.0.1:1", "127.1.2.3", "[::1]:1", "dns:///localhost:1"})
  void thisMachineHasMoreNamesThanOne(String target) {
    RouterClient.builder().target(target).token("secret").build().close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "two words", "Bearer secret", "new\nline", "ümlaut", "del\u007f"})
  void whatIsNoTokenIsRefusedAndNotRepeated(String token) throws Exception {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> RouterClient.builder().token(token));
    assertTrue(token.isEmpty() || !refused.getMessage().contains(token));
    try (ScriptedService service = ScriptedService.start();
        RouterClient client =
            RouterClient.builder()
                .target(service.target())
                .timeout(LONG)
                .token(() -> token)
                .build()) {
      assertThrows(UnauthenticatedException.class, () -> client.decide(ANY));
      assertEquals(List.of(), service.tokens);
    }
  }

  @Test
  void aSupplierThatFailsSaysSo() throws Exception {
    try (ScriptedService service = ScriptedService.start();
        RouterClient client =
            RouterClient.builder()
                .target(service.target())
                .timeout(LONG)
                .token(
                    () -> {
                      throw new IllegalStateException("no vault");
                    })
                .build()) {
      UnauthenticatedException none =
          assertThrows(UnauthenticatedException.class, () -> client.decide(ANY));
      assertTrue(none.getMessage().contains("no vault"));
    }
  }

  /** The answer of the credentials to a connection, without one: its headers, or its status. */
  private static Object applied(SecurityLevel level, SocketAddress remote) {
    CallCredentials.RequestInfo info =
        new CallCredentials.RequestInfo() {
          @Override
          public MethodDescriptor<?, ?> getMethodDescriptor() {
            return example.routerservice.v1.RouterServiceGrpc.getDecideMethod();
          }

          @Override
          public SecurityLevel getSecurityLevel() {
            return level;
          }

          @Override
          public String getAuthority() {
            return "router";
          }

          @Override
          public Attributes getTransportAttrs() {
            return Attributes.newBuilder().set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, remote).build();
          }
        };
    Object[] told = new Object[1];
    new BearerToken(() -> "secret")
        .applyRequestMetadata(
            info,
            Runnable::run,
            new CallCredentials.MetadataApplier() {
              @Override
              public void apply(Metadata headers) {
                told[0] = headers;
              }

              @Override
              public void fail(Status status) {
                told[0] = status;
              }
            });
    return told[0];
  }

  @Test
  void aNameThatLeadsElsewhereIsFoundOutWhenItIsCalled() {
    SocketAddress elsewhere = new InetSocketAddress("192.0.2.1", 1);
    Status refused = (Status) applied(SecurityLevel.NONE, elsewhere);
    assertEquals(Status.Code.UNAUTHENTICATED, refused.getCode());
    assertEquals(BearerToken.NEVER_PLAIN, refused.getDescription());
    assertEquals(
        Status.Code.UNAUTHENTICATED,
        ((Status) applied(SecurityLevel.INTEGRITY, elsewhere)).getCode());
    for (Object sent :
        List.of(
            applied(SecurityLevel.PRIVACY_AND_INTEGRITY, elsewhere),
            applied(SecurityLevel.NONE, new InetSocketAddress("127.0.0.1", 1)),
            applied(SecurityLevel.NONE, new InetSocketAddress("::1", 1)))) {
      Metadata.Key<String> key = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
      assertEquals("Bearer secret", ((Metadata) sent).get(key));
    }
  }
}
