package example.routerservice.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Decides which endpoint a request may go to, and tells why. It sees metadata, never a payload.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class RouterServiceGrpc {

  private RouterServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "router_service.v1.RouterService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.DecideRequest,
      example.routerservice.v1.DecideResponse> getDecideMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Decide",
      requestType = example.routerservice.v1.DecideRequest.class,
      responseType = example.routerservice.v1.DecideResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.DecideRequest,
      example.routerservice.v1.DecideResponse> getDecideMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.DecideRequest, example.routerservice.v1.DecideResponse> getDecideMethod;
    if ((getDecideMethod = RouterServiceGrpc.getDecideMethod) == null) {
      synchronized (RouterServiceGrpc.class) {
        if ((getDecideMethod = RouterServiceGrpc.getDecideMethod) == null) {
          RouterServiceGrpc.getDecideMethod = getDecideMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.DecideRequest, example.routerservice.v1.DecideResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Decide"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.DecideRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.DecideResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RouterServiceMethodDescriptorSupplier("Decide"))
              .build();
        }
      }
    }
    return getDecideMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.DecideStreamRequest,
      example.routerservice.v1.DecideStreamResponse> getDecideStreamMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DecideStream",
      requestType = example.routerservice.v1.DecideStreamRequest.class,
      responseType = example.routerservice.v1.DecideStreamResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.DecideStreamRequest,
      example.routerservice.v1.DecideStreamResponse> getDecideStreamMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.DecideStreamRequest, example.routerservice.v1.DecideStreamResponse> getDecideStreamMethod;
    if ((getDecideStreamMethod = RouterServiceGrpc.getDecideStreamMethod) == null) {
      synchronized (RouterServiceGrpc.class) {
        if ((getDecideStreamMethod = RouterServiceGrpc.getDecideStreamMethod) == null) {
          RouterServiceGrpc.getDecideStreamMethod = getDecideStreamMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.DecideStreamRequest, example.routerservice.v1.DecideStreamResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DecideStream"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.DecideStreamRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.DecideStreamResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RouterServiceMethodDescriptorSupplier("DecideStream"))
              .build();
        }
      }
    }
    return getDecideStreamMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.ExplainRequest,
      example.routerservice.v1.ExplainResponse> getExplainMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Explain",
      requestType = example.routerservice.v1.ExplainRequest.class,
      responseType = example.routerservice.v1.ExplainResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.ExplainRequest,
      example.routerservice.v1.ExplainResponse> getExplainMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.ExplainRequest, example.routerservice.v1.ExplainResponse> getExplainMethod;
    if ((getExplainMethod = RouterServiceGrpc.getExplainMethod) == null) {
      synchronized (RouterServiceGrpc.class) {
        if ((getExplainMethod = RouterServiceGrpc.getExplainMethod) == null) {
          RouterServiceGrpc.getExplainMethod = getExplainMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.ExplainRequest, example.routerservice.v1.ExplainResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Explain"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ExplainRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ExplainResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RouterServiceMethodDescriptorSupplier("Explain"))
              .build();
        }
      }
    }
    return getExplainMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.ReportRequest,
      example.routerservice.v1.ReportResponse> getReportMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Report",
      requestType = example.routerservice.v1.ReportRequest.class,
      responseType = example.routerservice.v1.ReportResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.ReportRequest,
      example.routerservice.v1.ReportResponse> getReportMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.ReportRequest, example.routerservice.v1.ReportResponse> getReportMethod;
    if ((getReportMethod = RouterServiceGrpc.getReportMethod) == null) {
      synchronized (RouterServiceGrpc.class) {
        if ((getReportMethod = RouterServiceGrpc.getReportMethod) == null) {
          RouterServiceGrpc.getReportMethod = getReportMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.ReportRequest, example.routerservice.v1.ReportResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Report"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ReportRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ReportResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RouterServiceMethodDescriptorSupplier("Report"))
              .build();
        }
      }
    }
    return getReportMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.ReportStreamRequest,
      example.routerservice.v1.ReportStreamResponse> getReportStreamMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ReportStream",
      requestType = example.routerservice.v1.ReportStreamRequest.class,
      responseType = example.routerservice.v1.ReportStreamResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.ReportStreamRequest,
      example.routerservice.v1.ReportStreamResponse> getReportStreamMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.ReportStreamRequest, example.routerservice.v1.ReportStreamResponse> getReportStreamMethod;
    if ((getReportStreamMethod = RouterServiceGrpc.getReportStreamMethod) == null) {
      synchronized (RouterServiceGrpc.class) {
        if ((getReportStreamMethod = RouterServiceGrpc.getReportStreamMethod) == null) {
          RouterServiceGrpc.getReportStreamMethod = getReportStreamMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.ReportStreamRequest, example.routerservice.v1.ReportStreamResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ReportStream"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ReportStreamRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ReportStreamResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RouterServiceMethodDescriptorSupplier("ReportStream"))
              .build();
        }
      }
    }
    return getReportStreamMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.GetTraceRequest,
      example.routerservice.v1.GetTraceResponse> getGetTraceMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetTrace",
      requestType = example.routerservice.v1.GetTraceRequest.class,
      responseType = example.routerservice.v1.GetTraceResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.GetTraceRequest,
      example.routerservice.v1.GetTraceResponse> getGetTraceMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.GetTraceRequest, example.routerservice.v1.GetTraceResponse> getGetTraceMethod;
    if ((getGetTraceMethod = RouterServiceGrpc.getGetTraceMethod) == null) {
      synchronized (RouterServiceGrpc.class) {
        if ((getGetTraceMethod = RouterServiceGrpc.getGetTraceMethod) == null) {
          RouterServiceGrpc.getGetTraceMethod = getGetTraceMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.GetTraceRequest, example.routerservice.v1.GetTraceResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetTrace"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.GetTraceRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.GetTraceResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RouterServiceMethodDescriptorSupplier("GetTrace"))
              .build();
        }
      }
    }
    return getGetTraceMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.ListTracesRequest,
      example.routerservice.v1.ListTracesResponse> getListTracesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListTraces",
      requestType = example.routerservice.v1.ListTracesRequest.class,
      responseType = example.routerservice.v1.ListTracesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.ListTracesRequest,
      example.routerservice.v1.ListTracesResponse> getListTracesMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.ListTracesRequest, example.routerservice.v1.ListTracesResponse> getListTracesMethod;
    if ((getListTracesMethod = RouterServiceGrpc.getListTracesMethod) == null) {
      synchronized (RouterServiceGrpc.class) {
        if ((getListTracesMethod = RouterServiceGrpc.getListTracesMethod) == null) {
          RouterServiceGrpc.getListTracesMethod = getListTracesMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.ListTracesRequest, example.routerservice.v1.ListTracesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListTraces"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ListTracesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ListTracesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RouterServiceMethodDescriptorSupplier("ListTraces"))
              .build();
        }
      }
    }
    return getListTracesMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static RouterServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RouterServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RouterServiceStub>() {
        @java.lang.Override
        public RouterServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RouterServiceStub(channel, callOptions);
        }
      };
    return RouterServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static RouterServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RouterServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RouterServiceBlockingV2Stub>() {
        @java.lang.Override
        public RouterServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RouterServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return RouterServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static RouterServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RouterServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RouterServiceBlockingStub>() {
        @java.lang.Override
        public RouterServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RouterServiceBlockingStub(channel, callOptions);
        }
      };
    return RouterServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static RouterServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RouterServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RouterServiceFutureStub>() {
        @java.lang.Override
        public RouterServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RouterServiceFutureStub(channel, callOptions);
        }
      };
    return RouterServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Decides which endpoint a request may go to, and tells why. It sees metadata, never a payload.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * The ranked, already filtered failover list of a request, or a refusal.
     * </pre>
     */
    default void decide(example.routerservice.v1.DecideRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.DecideResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDecideMethod(), responseObserver);
    }

    /**
     * <pre>
     * The same for many requests, answered in the order they come. An item's error never ends the stream.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<example.routerservice.v1.DecideStreamRequest> decideStream(
        io.grpc.stub.StreamObserver<example.routerservice.v1.DecideStreamResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getDecideStreamMethod(), responseObserver);
    }

    /**
     * <pre>
     * The decision that Decide would make, and for every endpoint of the pool why it is in or out. Changes nothing.
     * </pre>
     */
    default void explain(example.routerservice.v1.ExplainRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ExplainResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getExplainMethod(), responseObserver);
    }

    /**
     * <pre>
     * Takes what came of a decision. A report that comes again changes nothing.
     * </pre>
     */
    default void report(example.routerservice.v1.ReportRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ReportResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getReportMethod(), responseObserver);
    }

    /**
     * <pre>
     * The same for many reports. A report's error never ends the stream.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<example.routerservice.v1.ReportStreamRequest> reportStream(
        io.grpc.stub.StreamObserver<example.routerservice.v1.ReportStreamResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getReportStreamMethod(), responseObserver);
    }

    /**
     * <pre>
     * One decision or refusal as it was made, with what was reported of it.
     * </pre>
     */
    default void getTrace(example.routerservice.v1.GetTraceRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.GetTraceResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetTraceMethod(), responseObserver);
    }

    /**
     * <pre>
     * Decisions and refusals, newest first.
     * </pre>
     */
    default void listTraces(example.routerservice.v1.ListTracesRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ListTracesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListTracesMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service RouterService.
   * <pre>
   * Decides which endpoint a request may go to, and tells why. It sees metadata, never a payload.
   * </pre>
   */
  public static abstract class RouterServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return RouterServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service RouterService.
   * <pre>
   * Decides which endpoint a request may go to, and tells why. It sees metadata, never a payload.
   * </pre>
   */
  public static final class RouterServiceStub
      extends io.grpc.stub.AbstractAsyncStub<RouterServiceStub> {
    private RouterServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RouterServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RouterServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * The ranked, already filtered failover list of a request, or a refusal.
     * </pre>
     */
    public void decide(example.routerservice.v1.DecideRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.DecideResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDecideMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * The same for many requests, answered in the order they come. An item's error never ends the stream.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<example.routerservice.v1.DecideStreamRequest> decideStream(
        io.grpc.stub.StreamObserver<example.routerservice.v1.DecideStreamResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncBidiStreamingCall(
          getChannel().newCall(getDecideStreamMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * The decision that Decide would make, and for every endpoint of the pool why it is in or out. Changes nothing.
     * </pre>
     */
    public void explain(example.routerservice.v1.ExplainRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ExplainResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getExplainMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Takes what came of a decision. A report that comes again changes nothing.
     * </pre>
     */
    public void report(example.routerservice.v1.ReportRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ReportResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getReportMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * The same for many reports. A report's error never ends the stream.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<example.routerservice.v1.ReportStreamRequest> reportStream(
        io.grpc.stub.StreamObserver<example.routerservice.v1.ReportStreamResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getReportStreamMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * One decision or refusal as it was made, with what was reported of it.
     * </pre>
     */
    public void getTrace(example.routerservice.v1.GetTraceRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.GetTraceResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetTraceMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Decisions and refusals, newest first.
     * </pre>
     */
    public void listTraces(example.routerservice.v1.ListTracesRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ListTracesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListTracesMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service RouterService.
   * <pre>
   * Decides which endpoint a request may go to, and tells why. It sees metadata, never a payload.
   * </pre>
   */
  public static final class RouterServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<RouterServiceBlockingV2Stub> {
    private RouterServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RouterServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RouterServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * The ranked, already filtered failover list of a request, or a refusal.
     * </pre>
     */
    public example.routerservice.v1.DecideResponse decide(example.routerservice.v1.DecideRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDecideMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The same for many requests, answered in the order they come. An item's error never ends the stream.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<example.routerservice.v1.DecideStreamRequest, example.routerservice.v1.DecideStreamResponse>
        decideStream() {
      return io.grpc.stub.ClientCalls.blockingBidiStreamingCall(
          getChannel(), getDecideStreamMethod(), getCallOptions());
    }

    /**
     * <pre>
     * The decision that Decide would make, and for every endpoint of the pool why it is in or out. Changes nothing.
     * </pre>
     */
    public example.routerservice.v1.ExplainResponse explain(example.routerservice.v1.ExplainRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getExplainMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Takes what came of a decision. A report that comes again changes nothing.
     * </pre>
     */
    public example.routerservice.v1.ReportResponse report(example.routerservice.v1.ReportRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getReportMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The same for many reports. A report's error never ends the stream.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<example.routerservice.v1.ReportStreamRequest, example.routerservice.v1.ReportStreamResponse>
        reportStream() {
      return io.grpc.stub.ClientCalls.blockingClientStreamingCall(
          getChannel(), getReportStreamMethod(), getCallOptions());
    }

    /**
     * <pre>
     * One decision or refusal as it was made, with what was reported of it.
     * </pre>
     */
    public example.routerservice.v1.GetTraceResponse getTrace(example.routerservice.v1.GetTraceRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetTraceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Decisions and refusals, newest first.
     * </pre>
     */
    public example.routerservice.v1.ListTracesResponse listTraces(example.routerservice.v1.ListTracesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListTracesMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service RouterService.
   * <pre>
   * Decides which endpoint a request may go to, and tells why. It sees metadata, never a payload.
   * </pre>
   */
  public static final class RouterServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<RouterServiceBlockingStub> {
    private RouterServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RouterServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RouterServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * The ranked, already filtered failover list of a request, or a refusal.
     * </pre>
     */
    public example.routerservice.v1.DecideResponse decide(example.routerservice.v1.DecideRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDecideMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The decision that Decide would make, and for every endpoint of the pool why it is in or out. Changes nothing.
     * </pre>
     */
    public example.routerservice.v1.ExplainResponse explain(example.routerservice.v1.ExplainRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getExplainMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Takes what came of a decision. A report that comes again changes nothing.
     * </pre>
     */
    public example.routerservice.v1.ReportResponse report(example.routerservice.v1.ReportRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getReportMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * One decision or refusal as it was made, with what was reported of it.
     * </pre>
     */
    public example.routerservice.v1.GetTraceResponse getTrace(example.routerservice.v1.GetTraceRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetTraceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Decisions and refusals, newest first.
     * </pre>
     */
    public example.routerservice.v1.ListTracesResponse listTraces(example.routerservice.v1.ListTracesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListTracesMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service RouterService.
   * <pre>
   * Decides which endpoint a request may go to, and tells why. It sees metadata, never a payload.
   * </pre>
   */
  public static final class RouterServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<RouterServiceFutureStub> {
    private RouterServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RouterServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RouterServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * The ranked, already filtered failover list of a request, or a refusal.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<example.routerservice.v1.DecideResponse> decide(
        example.routerservice.v1.DecideRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDecideMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * The decision that Decide would make, and for every endpoint of the pool why it is in or out. Changes nothing.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<example.routerservice.v1.ExplainResponse> explain(
        example.routerservice.v1.ExplainRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getExplainMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Takes what came of a decision. A report that comes again changes nothing.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<example.routerservice.v1.ReportResponse> report(
        example.routerservice.v1.ReportRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getReportMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * One decision or refusal as it was made, with what was reported of it.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<example.routerservice.v1.GetTraceResponse> getTrace(
        example.routerservice.v1.GetTraceRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetTraceMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Decisions and refusals, newest first.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<example.routerservice.v1.ListTracesResponse> listTraces(
        example.routerservice.v1.ListTracesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListTracesMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_DECIDE = 0;
  private static final int METHODID_EXPLAIN = 1;
  private static final int METHODID_REPORT = 2;
  private static final int METHODID_GET_TRACE = 3;
  private static final int METHODID_LIST_TRACES = 4;
  private static final int METHODID_DECIDE_STREAM = 5;
  private static final int METHODID_REPORT_STREAM = 6;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_DECIDE:
          serviceImpl.decide((example.routerservice.v1.DecideRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.DecideResponse>) responseObserver);
          break;
        case METHODID_EXPLAIN:
          serviceImpl.explain((example.routerservice.v1.ExplainRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.ExplainResponse>) responseObserver);
          break;
        case METHODID_REPORT:
          serviceImpl.report((example.routerservice.v1.ReportRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.ReportResponse>) responseObserver);
          break;
        case METHODID_GET_TRACE:
          serviceImpl.getTrace((example.routerservice.v1.GetTraceRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.GetTraceResponse>) responseObserver);
          break;
        case METHODID_LIST_TRACES:
          serviceImpl.listTraces((example.routerservice.v1.ListTracesRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.ListTracesResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_DECIDE_STREAM:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.decideStream(
              (io.grpc.stub.StreamObserver<example.routerservice.v1.DecideStreamResponse>) responseObserver);
        case METHODID_REPORT_STREAM:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.reportStream(
              (io.grpc.stub.StreamObserver<example.routerservice.v1.ReportStreamResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getDecideMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              example.routerservice.v1.DecideRequest,
              example.routerservice.v1.DecideResponse>(
                service, METHODID_DECIDE)))
        .addMethod(
          getDecideStreamMethod(),
          io.grpc.stub.ServerCalls.asyncBidiStreamingCall(
            new MethodHandlers<
              example.routerservice.v1.DecideStreamRequest,
              example.routerservice.v1.DecideStreamResponse>(
                service, METHODID_DECIDE_STREAM)))
        .addMethod(
          getExplainMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              example.routerservice.v1.ExplainRequest,
              example.routerservice.v1.ExplainResponse>(
                service, METHODID_EXPLAIN)))
        .addMethod(
          getReportMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              example.routerservice.v1.ReportRequest,
              example.routerservice.v1.ReportResponse>(
                service, METHODID_REPORT)))
        .addMethod(
          getReportStreamMethod(),
          io.grpc.stub.ServerCalls.asyncClientStreamingCall(
            new MethodHandlers<
              example.routerservice.v1.ReportStreamRequest,
              example.routerservice.v1.ReportStreamResponse>(
                service, METHODID_REPORT_STREAM)))
        .addMethod(
          getGetTraceMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              example.routerservice.v1.GetTraceRequest,
              example.routerservice.v1.GetTraceResponse>(
                service, METHODID_GET_TRACE)))
        .addMethod(
          getListTracesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              example.routerservice.v1.ListTracesRequest,
              example.routerservice.v1.ListTracesResponse>(
                service, METHODID_LIST_TRACES)))
        .build();
  }

  private static abstract class RouterServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    RouterServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return example.routerservice.v1.RouterServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("RouterService");
    }
  }

  private static final class RouterServiceFileDescriptorSupplier
      extends RouterServiceBaseDescriptorSupplier {
    RouterServiceFileDescriptorSupplier() {}
  }

  private static final class RouterServiceMethodDescriptorSupplier
      extends RouterServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    RouterServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (RouterServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new RouterServiceFileDescriptorSupplier())
              .addMethod(getDecideMethod())
              .addMethod(getDecideStreamMethod())
              .addMethod(getExplainMethod())
              .addMethod(getReportMethod())
              .addMethod(getReportStreamMethod())
              .addMethod(getGetTraceMethod())
              .addMethod(getListTracesMethod())
              .build();
        }
      }
    }
    return result;
  }
}
