// Sends a bearer token with every call, and never over a connection on which others could read it.
package example.routerservice.client;

import io.grpc.Attributes;
import io.grpc.CallCredentials;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.Status;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** The metadata {@code authorization: Bearer …}. */
final class BearerToken extends CallCredentials {
  static final String NEVER_PLAIN =
      "a bearer token is sent over TLS, or to this machine itself, and never over a plain connection"
          + " to another one; give credentials(…) for TLS";

  static final String ONE_WORD = "one word of ASCII is, without Bearer before it";

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private static final Pattern TOKEN = Pattern.compile("[!-~]+");

  private final Supplier<String> token;

  BearerToken(Supplier<String> token) {
    this.token = token;
  }

  /** Whether it can be sent at all. */
  static boolean isToken(String text) {
    return TOKEN.matcher(text).matches();
  }

  @Override
  public void applyRequestMetadata(RequestInfo info, Executor executor, MetadataApplier applier) {
    if (info.getSecurityLevel() != SecurityLevel.PRIVACY_AND_INTEGRITY
        && !isLocal(info.getTransportAttrs())) {
      applier.fail(Status.UNAUTHENTICATED.withDescription(NEVER_PLAIN));
      return;
    }
    executor.execute(() -> apply(applier)); // the supplier may take its time
  }

  private void apply(MetadataApplier applier) {
    try {
      String given = token.get();
      if (!isToken(given)) {
        String why = "the supplier of the bearer token gave what is none: " + ONE_WORD;
        applier.fail(Status.UNAUTHENTICATED.withDescription(why));
        return;
      }
      Metadata headers = new Metadata();
      headers.put(AUTHORIZATION, "Bearer " + given);
      applier.apply(headers);
    } catch (RuntimeException failed) {
      String why = "the supplier of the bearer token failed: " + failed;
      applier.fail(Status.UNAUTHENTICATED.withDescription(why).withCause(failed));
    }
  }

  private static boolean isLocal(Attributes transport) {
    SocketAddress remote = transport.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    if (remote instanceof InetSocketAddress internet) {
      return internet.getAddress() != null && internet.getAddress().isLoopbackAddress();
    }
    return remote != null; // a Unix socket
  }
}
