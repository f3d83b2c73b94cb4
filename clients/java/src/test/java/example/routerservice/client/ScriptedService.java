// A service on the wire that answers as it is told, and keeps what it was asked.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Duration;
import example.routerservice.v1.Candidate;
import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.DecideResponse;
import example.routerservice.v1.DecideStreamRequest;
import example.routerservice.v1.DecideStreamResponse;
import example.routerservice.v1.Decision;
import example.routerservice.v1.ExplainRequest;
import example.routerservice.v1.ExplainResponse;
import example.routerservice.v1.GetTraceRequest;
import example.routerservice.v1.GetTraceResponse;
import example.routerservice.v1.ListTracesRequest;
import example.routerservice.v1.ListTracesResponse;
import example.routerservice.v1.Refusal;
import example.routerservice.v1.Report;
import example.routerservice.v1.ReportRequest;
import example.routerservice.v1.ReportResponse;
import example.routerservice.v1.RouterServiceGrpc;
import example.routerservice.v1.Trace;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Answers Decide by what is set, and keeps the reports. */
final class ScriptedService extends RouterServiceGrpc.RouterServiceImplBase
    implements AutoCloseable {
  static final String TRACE_ID = "0".repeat(32);
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** What comes of a decision; throws the status that the call ends with. */
  volatile Supplier<DecideResponse> decide = () -> answer(List.of("a", "b"));

  /** What comes of one item of a stream. */
  volatile Function<DecideRequest, DecideStreamResponse> decideItem =
      asked -> DecideStreamResponse.newBuilder().setRequestId(asked.getRequestId()).build();

  final List<DecideRequest> asked = new CopyOnWriteArrayList<>();

  /** How many seconds the calls had left when they came. */
  final List<Long> secondsLeft = new CopyOnWriteArrayList<>();

  final List<Context> contexts = new CopyOnWriteArrayList<>();
  final List<String> tokens = new CopyOnWriteArrayList<>();
  final List<Report> reports = new CopyOnWriteArrayList<>();

  /** The statuses that the next reports are answered with. */
  final Queue<Status> answers = new ArrayDeque<>();

  volatile int reportCalls;
  private final Server server;
  private final int port;
  private EventLoopGroup loop;

  private ScriptedService(ServerBuilder<?> builder) throws IOException {
    this.server = builder.addService(this).intercept(new TokenKeeper()).build().start();
    this.port = server.getPort();
  }

  /** On a port of its own. */
  static ScriptedService start() throws IOException {
    return on(Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create()));
  }

  static ScriptedService on(ServerBuilder<?> builder) throws IOException {
    return new ScriptedService(builder);
  }

  /**
   * On a Unix socket: a service that was away can come back there, which nobody else takes
   * meanwhile.
   */
  static ScriptedService on(Path socket) throws IOException {
    EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    ScriptedService service =
        on(
            NettyServerBuilder.forAddress(
                    new DomainSocketAddress(socket.toFile()), InsecureServerCredentials.create())
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop));
    service.loop = loop;
    return service;
  }

  String target() {
    return "127.0.0.1:" + port;
  }

  int port() {
    return port;
  }

  /** The one report that there is: its outcome; endpoint, class and status of each attempt. */
  List<String> told(ReportQueue queue) throws InterruptedException {
    assertTrue(queue.flush(java.time.Duration.ofSeconds(30)));
    assertEquals(1, reports.size());
    String attempts =
        reports.get(0).getAttemptsList().stream()
            .map(it -> it.getEndpointId() + ":" + it.getFailureClass() + ":" + it.getStatusCode())
            .collect(Collectors.joining(" "));
    return List.of(reports.get(0).getOutcome(), attempts);
  }

  static DecideResponse answer(List<String> endpoints) {
    Decision.Builder decision = Decision.newBuilder().setTraceId(TRACE_ID);
    endpoints.forEach(
        one -> decision.addCandidates(Candidate.newBuilder().setEndpointId(one).setNeedMs(1)));
    return DecideResponse.newBuilder().setDecision(decision).build();
  }

  static DecideResponse refusal(String code, int httpStatus, long retryAfterMs) {
    return DecideResponse.newBuilder()
        .setRefusal(
            Refusal.newBuilder()
                .setCode(code)
                .setHttpStatus(httpStatus)
                .setMessage("refused: " + code)
                .setRetryAfter(
                    Duration.newBuilder()
                        .setSeconds(retryAfterMs / 1000)
                        .setNanos((int) (retryAfterMs % 1000) * 1_000_000)))
        .build();
  }

  @Override
  public void decide(DecideRequest request, StreamObserver<DecideResponse> observer) {
    asked.add(request);
    contexts.add(Context.current());
    if (Context.current().getDeadline() != null) {
      secondsLeft.add(Context.current().getDeadline().timeRemaining(TimeUnit.SECONDS));
    }
    try {
      observer.onNext(decide.get());
      observer.onCompleted();
    } catch (StatusRuntimeException status) {
      observer.onError(status);
    }
  }

  @Override
  public StreamObserver<DecideStreamRequest> decideStream(
      StreamObserver<DecideStreamResponse> observer) {
    contexts.add(Context.current());
    return new StreamObserver<>() {
      @Override
      public void onNext(DecideStreamRequest item) {
        asked.add(item.getDecide());
        try {
          observer.onNext(decideItem.apply(item.getDecide()));
        } catch (StatusRuntimeException status) {
          observer.onError(status);
        }
      }

      @Override
      public void onError(Throwable error) {}

      @Override
      public void onCompleted() {
        observer.onCompleted();
      }
    };
  }

  @Override
  public void report(ReportRequest request, StreamObserver<ReportResponse> observer) {
    Status status;
    synchronized (this) {
      reportCalls++;
      status = answers.isEmpty() ? Status.OK : answers.remove();
    }
    if (!status.isOk()) {
      observer.onError(status.withDescription("as the test says").asRuntimeException());
      return;
    }
    reports.add(request.getReport());
    observer.onNext(ReportResponse.getDefaultInstance());
    observer.onCompleted();
  }

  @Override
  public void explain(ExplainRequest request, StreamObserver<ExplainResponse> observer) {
    observer.onNext(ExplainResponse.getDefaultInstance());
    observer.onCompleted();
  }

  @Override
  public void getTrace(GetTraceRequest request, StreamObserver<GetTraceResponse> observer) {
    observer.onNext(GetTraceResponse.getDefaultInstance());
    observer.onCompleted();
  }

  @Override
  public void listTraces(ListTracesRequest request, StreamObserver<ListTracesResponse> observer) {
    observer.onNext(ListTracesResponse.newBuilder().addTraces(Trace.getDefaultInstance()).build());
    observer.onCompleted();
  }

  @Override
  public void close() {
    server.shutdownNow();
    try {
      server.awaitTermination();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    if (loop != null) {
      loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    }
  }

  private final class TokenKeeper implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      tokens.add(String.valueOf(headers.get(AUTHORIZATION)));
      return Contexts.interceptCall(Context.current(), call, headers, next);
    }
  }
}
