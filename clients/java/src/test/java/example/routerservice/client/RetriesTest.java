// Nothing beneath a run tries again: what the service saw is counted.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.RouterServiceGrpc;
import io.grpc.EquivalentAddressGroup;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Status;
import io.grpc.StatusOr;
import io.grpc.StatusRuntimeException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetriesTest {
  private final Names names = new Names();
  private ScriptedService service;

  @BeforeEach
  void open() throws Exception {
    NameResolverRegistry.getDefaultRegistry().register(names);
    service = ScriptedService.start();
    service.decide =
        () -> {
          throw Status.UNAVAILABLE.asRuntimeException();
        };
  }

  @AfterEach
  void close() {
    service.close();
    NameResolverRegistry.getDefaultRegistry().deregister(names);
  }

  @Test
  void gRpcLeftToItselfWouldTryAgain() {
    ManagedChannel channel =
        Grpc.newChannelBuilder(
                "retrying:///" + service.target(), InsecureChannelCredentials.create())
            .build();
    try {
      assertThrows(
          StatusRuntimeException.class,
          () ->
              RouterServiceGrpc.newBlockingStub(channel)
                  .decide(DecideRequest.getDefaultInstance()));
    } finally {
      channel.shutdownNow();
    }
    assertEquals(4, service.asked.size());
  }

  @Test
  void nothingBeneathTriesAgain() {
    try (RouterClient client = RouterClient.connect("retrying:///" + service.target())) {
      assertThrows(
          RouterUnavailableException.class,
          () -> client.decide(DecideRequest.getDefaultInstance()));
    }
    assertEquals(1, service.asked.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "http://127.0.0.1:50051", "HTTPS://router.example"})
  void whatIsNoTargetIsRefusedWithItsCure(String target) {
    String message =
        assertThrows(IllegalArgumentException.class, () -> RouterClient.connect(target))
            .getMessage();
    assertTrue(message.contains("is no address; say host:port or unix:/path"), message);
  }

  /** Names whose service config says: try all that fails four times. */
  private static final class Names extends NameResolverProvider {
    private static final Map<String, Object> CONFIG =
        Map.of(
            "methodConfig",
            List.of(
                Map.of(
                    "name",
                    List.of(Map.of()),
                    "retryPolicy",
                    Map.of(
                        "maxAttempts",
                        4.0,
                        "initialBackoff",
                        "0.01s",
                        "maxBackoff",
                        "0.01s",
                        "backoffMultiplier",
                        1.0,
                        "retryableStatusCodes",
                        List.of("UNAVAILABLE")))));

    @Override
    protected boolean isAvailable() {
      return true;
    }

    @Override
    protected int priority() {
      return 5;
    }

    @Override
    public String getDefaultScheme() {
      return "retrying";
    }

    @Override
    public NameResolver newNameResolver(URI target, NameResolver.Args args) {
      String[] address = target.getPath().substring(1).split(":", -1);
      InetSocketAddress where = new InetSocketAddress(address[0], Integer.parseInt(address[1]));
      return new NameResolver() {
        @Override
        public String getServiceAuthority() {
          return "router";
        }

        @Override
        public void start(Listener2 listener) {
          listener.onResult(
              ResolutionResult.newBuilder()
                  .setAddressesOrError(
                      StatusOr.fromValue(List.of(new EquivalentAddressGroup(where))))
                  .setServiceConfig(args.getServiceConfigParser().parseServiceConfig(CONFIG))
                  .build());
        }

        @Override
        public void shutdown() {
          // nothing is held
        }
      };
    }
  }
}
