// How a client reaches the service, and what it keeps to.
package example.routerservice.client;

import io.grpc.CallCredentials;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes a {@link RouterClient}. Whatever is not set has the value that its method tells. */
public final class RouterClientBuilder {
  /** Where a service listens that was not told otherwise. */
  public static final String DEFAULT_TARGET = "127.0.0.1:50051";

  // An explanation of 5,000 endpoints has several MiB, and gRPC's own limit is 4.
  private static final int MAX_ANSWER_BYTES = 64 * 1024 * 1024;

  // What names this machine, in the forms of a target; a name that only resolves to it is looked at
  // when it is called.
  private static final Pattern LOCAL =
      Pattern.compile("(unix:.*|(dns:/*)?(localhost|127(\\.\\d{1,3}){3}|\\[::1])(:\\d+)?)");

  private static final Pattern URL = Pattern.compile("https?://", Pattern.CASE_INSENSITIVE);

  private String target = DEFAULT_TARGET;
  private @Nullable ChannelCredentials credentials;
  private @Nullable Channel channel;
  private @Nullable Supplier<String> token;
  private Duration timeout = Duration.ofSeconds(5);
  private Duration flushTimeout = Duration.ofSeconds(5);
  private int reportLimit = 1000;

  RouterClientBuilder() {}

  /**
   * Where the service is. Connecting happens with the first call, and again when it was lost.
   *
   * @param target {@code host:port}, or {@code unix:/path} on Linux; {@value #DEFAULT_TARGET} by
   *     default
   * @return this
   */
  public RouterClientBuilder target(String target) {
    this.target = target;
    return this;
  }

  /**
   * TLS; without it the connection is plain.
   *
   * @param credentials {@link io.grpc.TlsChannelCredentials} for example
   * @return this
   */
  public RouterClientBuilder credentials(ChannelCredentials credentials) {
    this.credentials = credentials;
    return this;
  }

  /**
   * A channel of the caller's own in the place of target and credentials. Closing it stays with the
   * caller, and so do its retries, which should be off.
   *
   * @param channel a channel, with interceptors or without
   * @return this
   */
  public RouterClientBuilder channel(Channel channel) {
    this.channel = channel;
    return this;
  }

  /**
   * What tells the service who calls, sent as {@code authorization: Bearer …}. It is never sent
   * over a plain connection to another machine.
   *
   * @param token one word of ASCII, without {@code Bearer} before it
   * @return this
   * @throws IllegalArgumentException it is none; it is not repeated in the message
   */
  public RouterClientBuilder token(String token) {
    if (!BearerToken.isToken(token)) {
      throw new IllegalArgumentException("this is no bearer token: " + BearerToken.ONE_WORD);
    }
    return token(() -> token);
  }

  /**
   * The same, asked for anew before every call.
   *
   * @param token gives the token of now; it may take its time, and is called by several threads
   * @return this
   */
  public RouterClientBuilder token(Supplier<String> token) {
    this.token = token;
    return this;
  }

  /**
   * The same, from a file that holds it and nothing else, and may be renewed.
   *
   * @param file is read again when it was replaced or written
   * @return this
   */
  public RouterClientBuilder token(Path file) {
    return token(new TokenFile(file)::read);
  }

  /**
   * How long a call of the service may take.
   *
   * @param timeout longer than zero; 5 seconds by default
   * @return this
   * @throws IllegalArgumentException it is not longer than zero
   */
  public RouterClientBuilder timeout(Duration timeout) {
    this.timeout = positive(timeout, "timeout");
    return this;
  }

  /**
   * How long closing waits for the reports that were not sent yet.
   *
   * @param flushTimeout longer than zero; 5 seconds by default
   * @return this
   * @throws IllegalArgumentException it is not longer than zero
   */
  public RouterClientBuilder flushTimeout(Duration flushTimeout) {
    this.flushTimeout = positive(flushTimeout, "flushTimeout");
    return this;
  }

  /**
   * How many reports may wait while the service is away; those that find no room are dropped and
   * counted.
   *
   * @param reportLimit 1 at least; 1000 by default
   * @return this
   * @throws IllegalArgumentException it is less than 1
   */
  public RouterClientBuilder reportLimit(int reportLimit) {
    if (reportLimit < 1) {
      throw new IllegalArgumentException(
          "reportLimit is " + reportLimit + "; it has to be 1 at least");
    }
    this.reportLimit = reportLimit;
    return this;
  }

  /**
   * The client. It connects with its first call.
   *
   * @return to be closed
   * @throws IllegalArgumentException a token would go to another machine over a plain connection,
   *     or the target is none
   */
  public RouterClient build() {
    CallCredentials bearer = token == null ? null : new BearerToken(token);
    if (channel != null) {
      return new RouterClient(new Calls(channel, bearer), null, timeout, reportLimit, flushTimeout);
    }
    if (token != null && credentials == null && !LOCAL.matcher(target).matches()) {
      throw new IllegalArgumentException(target + ": " + BearerToken.NEVER_PLAIN);
    }
    if (target.isEmpty() || URL.matcher(target).lookingAt()) {
      throw new IllegalArgumentException(
          "target: \"%s\" is no address; say host:port or unix:/path, such as %s"
              .formatted(target, DEFAULT_TARGET));
    }
    ManagedChannel own = open();
    return new RouterClient(new Calls(own, bearer), own, timeout, reportLimit, flushTimeout);
  }

  /**
   * A service stands beside its callers: a proxy of the environment, meant for the way out, is not
   * asked. No call is tried again, whatever a service config says; what never left this process, as
   * the connection ended meanwhile, goes on a new one.
   */
  private ManagedChannel open() {
    return Grpc.newChannelBuilder(
            target, credentials == null ? InsecureChannelCredentials.create() : credentials)
        .disableRetry()
        .disableServiceConfigLookUp()
        .proxyDetector(address -> null)
        .maxInboundMessageSize(MAX_ANSWER_BYTES)
        .build();
  }

  static Duration positive(Duration duration, String name) {
    if (duration.isNegative() || duration.isZero()) {
      throw new IllegalArgumentException(
          name + " is " + duration + "; it has to be longer than zero");
    }
    return duration;
  }
}
