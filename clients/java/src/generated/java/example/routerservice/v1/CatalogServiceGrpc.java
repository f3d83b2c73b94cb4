package example.routerservice.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Shows the catalogue that decisions are made on.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class CatalogServiceGrpc {

  private CatalogServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "router_service.v1.CatalogService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.ListEndpointsRequest,
      example.routerservice.v1.ListEndpointsResponse> getListEndpointsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListEndpoints",
      requestType = example.routerservice.v1.ListEndpointsRequest.class,
      responseType = example.routerservice.v1.ListEndpointsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.ListEndpointsRequest,
      example.routerservice.v1.ListEndpointsResponse> getListEndpointsMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.ListEndpointsRequest, example.routerservice.v1.ListEndpointsResponse> getListEndpointsMethod;
    if ((getListEndpointsMethod = CatalogServiceGrpc.getListEndpointsMethod) == null) {
      synchronized (CatalogServiceGrpc.class) {
        if ((getListEndpointsMethod = CatalogServiceGrpc.getListEndpointsMethod) == null) {
          CatalogServiceGrpc.getListEndpointsMethod = getListEndpointsMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.ListEndpointsRequest, example.routerservice.v1.ListEndpointsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListEndpoints"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ListEndpointsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ListEndpointsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CatalogServiceMethodDescriptorSupplier("ListEndpoints"))
              .build();
        }
      }
    }
    return getListEndpointsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.ListPoliciesRequest,
      example.routerservice.v1.ListPoliciesResponse> getListPoliciesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListPolicies",
      requestType = example.routerservice.v1.ListPoliciesRequest.class,
      responseType = example.routerservice.v1.ListPoliciesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.ListPoliciesRequest,
      example.routerservice.v1.ListPoliciesResponse> getListPoliciesMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.ListPoliciesRequest, example.routerservice.v1.ListPoliciesResponse> getListPoliciesMethod;
    if ((getListPoliciesMethod = CatalogServiceGrpc.getListPoliciesMethod) == null) {
      synchronized (CatalogServiceGrpc.class) {
        if ((getListPoliciesMethod = CatalogServiceGrpc.getListPoliciesMethod) == null) {
          CatalogServiceGrpc.getListPoliciesMethod = getListPoliciesMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.ListPoliciesRequest, example.routerservice.v1.ListPoliciesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListPolicies"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ListPoliciesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ListPoliciesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CatalogServiceMethodDescriptorSupplier("ListPolicies"))
              .build();
        }
      }
    }
    return getListPoliciesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.WatchCatalogRequest,
      example.routerservice.v1.WatchCatalogResponse> getWatchCatalogMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "WatchCatalog",
      requestType = example.routerservice.v1.WatchCatalogRequest.class,
      responseType = example.routerservice.v1.WatchCatalogResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.WatchCatalogRequest,
      example.routerservice.v1.WatchCatalogResponse> getWatchCatalogMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.WatchCatalogRequest, example.routerservice.v1.WatchCatalogResponse> getWatchCatalogMethod;
    if ((getWatchCatalogMethod = CatalogServiceGrpc.getWatchCatalogMethod) == null) {
      synchronized (CatalogServiceGrpc.class) {
        if ((getWatchCatalogMethod = CatalogServiceGrpc.getWatchCatalogMethod) == null) {
          CatalogServiceGrpc.getWatchCatalogMethod = getWatchCatalogMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.WatchCatalogRequest, example.routerservice.v1.WatchCatalogResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "WatchCatalog"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.WatchCatalogRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.WatchCatalogResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CatalogServiceMethodDescriptorSupplier("WatchCatalog"))
              .build();
        }
      }
    }
    return getWatchCatalogMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.ListWorkloadsRequest,
      example.routerservice.v1.ListWorkloadsResponse> getListWorkloadsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListWorkloads",
      requestType = example.routerservice.v1.ListWorkloadsRequest.class,
      responseType = example.routerservice.v1.ListWorkloadsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.ListWorkloadsRequest,
      example.routerservice.v1.ListWorkloadsResponse> getListWorkloadsMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.ListWorkloadsRequest, example.routerservice.v1.ListWorkloadsResponse> getListWorkloadsMethod;
    if ((getListWorkloadsMethod = CatalogServiceGrpc.getListWorkloadsMethod) == null) {
      synchronized (CatalogServiceGrpc.class) {
        if ((getListWorkloadsMethod = CatalogServiceGrpc.getListWorkloadsMethod) == null) {
          CatalogServiceGrpc.getListWorkloadsMethod = getListWorkloadsMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.ListWorkloadsRequest, example.routerservice.v1.ListWorkloadsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListWorkloads"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ListWorkloadsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ListWorkloadsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CatalogServiceMethodDescriptorSupplier("ListWorkloads"))
              .build();
        }
      }
    }
    return getListWorkloadsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.SetEndpointStatusRequest,
      example.routerservice.v1.SetEndpointStatusResponse> getSetEndpointStatusMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SetEndpointStatus",
      requestType = example.routerservice.v1.SetEndpointStatusRequest.class,
      responseType = example.routerservice.v1.SetEndpointStatusResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.SetEndpointStatusRequest,
      example.routerservice.v1.SetEndpointStatusResponse> getSetEndpointStatusMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.SetEndpointStatusRequest, example.routerservice.v1.SetEndpointStatusResponse> getSetEndpointStatusMethod;
    if ((getSetEndpointStatusMethod = CatalogServiceGrpc.getSetEndpointStatusMethod) == null) {
      synchronized (CatalogServiceGrpc.class) {
        if ((getSetEndpointStatusMethod = CatalogServiceGrpc.getSetEndpointStatusMethod) == null) {
          CatalogServiceGrpc.getSetEndpointStatusMethod = getSetEndpointStatusMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.SetEndpointStatusRequest, example.routerservice.v1.SetEndpointStatusResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SetEndpointStatus"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.SetEndpointStatusRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.SetEndpointStatusResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CatalogServiceMethodDescriptorSupplier("SetEndpointStatus"))
              .build();
        }
      }
    }
    return getSetEndpointStatusMethod;
  }

  private static volatile io.grpc.MethodDescriptor<example.routerservice.v1.ReloadRequest,
      example.routerservice.v1.ReloadResponse> getReloadMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Reload",
      requestType = example.routerservice.v1.ReloadRequest.class,
      responseType = example.routerservice.v1.ReloadResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<example.routerservice.v1.ReloadRequest,
      example.routerservice.v1.ReloadResponse> getReloadMethod() {
    io.grpc.MethodDescriptor<example.routerservice.v1.ReloadRequest, example.routerservice.v1.ReloadResponse> getReloadMethod;
    if ((getReloadMethod = CatalogServiceGrpc.getReloadMethod) == null) {
      synchronized (CatalogServiceGrpc.class) {
        if ((getReloadMethod = CatalogServiceGrpc.getReloadMethod) == null) {
          CatalogServiceGrpc.getReloadMethod = getReloadMethod =
              io.grpc.MethodDescriptor.<example.routerservice.v1.ReloadRequest, example.routerservice.v1.ReloadResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Reload"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ReloadRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  example.routerservice.v1.ReloadResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CatalogServiceMethodDescriptorSupplier("Reload"))
              .build();
        }
      }
    }
    return getReloadMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static CatalogServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CatalogServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CatalogServiceStub>() {
        @java.lang.Override
        public CatalogServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CatalogServiceStub(channel, callOptions);
        }
      };
    return CatalogServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static CatalogServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CatalogServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CatalogServiceBlockingV2Stub>() {
        @java.lang.Override
        public CatalogServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CatalogServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return CatalogServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static CatalogServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CatalogServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CatalogServiceBlockingStub>() {
        @java.lang.Override
        public CatalogServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CatalogServiceBlockingStub(channel, callOptions);
        }
      };
    return CatalogServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static CatalogServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CatalogServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CatalogServiceFutureStub>() {
        @java.lang.Override
        public CatalogServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CatalogServiceFutureStub(channel, callOptions);
        }
      };
    return CatalogServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Shows the catalogue that decisions are made on.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * The endpoints served now that a policy of the caller's admits, by endpoint_id.
     * </pre>
     */
    default void listEndpoints(example.routerservice.v1.ListEndpointsRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ListEndpointsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListEndpointsMethod(), responseObserver);
    }

    /**
     * <pre>
     * The policies served now that are the caller's, by policy_id.
     * </pre>
     */
    default void listPolicies(example.routerservice.v1.ListPoliciesRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ListPoliciesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListPoliciesMethod(), responseObserver);
    }

    /**
     * <pre>
     * The version served now, and each new one from the moment it serves.
     * </pre>
     */
    default void watchCatalog(example.routerservice.v1.WatchCatalogRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.WatchCatalogResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getWatchCatalogMethod(), responseObserver);
    }

    /**
     * <pre>
     * The workloads served now that are the caller's, by name and version.
     * </pre>
     */
    default void listWorkloads(example.routerservice.v1.ListWorkloadsRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ListWorkloadsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListWorkloadsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Sets the status of an endpoint by hand, or gives it back to the catalogue. Needs the role `admin`.
     * </pre>
     */
    default void setEndpointStatus(example.routerservice.v1.SetEndpointStatusRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.SetEndpointStatusResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSetEndpointStatusMethod(), responseObserver);
    }

    /**
     * <pre>
     * Loads the catalogue now, and answers when it serves or is refused. Needs the role `admin`.
     * </pre>
     */
    default void reload(example.routerservice.v1.ReloadRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ReloadResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getReloadMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service CatalogService.
   * <pre>
   * Shows the catalogue that decisions are made on.
   * </pre>
   */
  public static abstract class CatalogServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return CatalogServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service CatalogService.
   * <pre>
   * Shows the catalogue that decisions are made on.
   * </pre>
   */
  public static final class CatalogServiceStub
      extends io.grpc.stub.AbstractAsyncStub<CatalogServiceStub> {
    private CatalogServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CatalogServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CatalogServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * The endpoints served now that a policy of the caller's admits, by endpoint_id.
     * </pre>
     */
    public void listEndpoints(example.routerservice.v1.ListEndpointsRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ListEndpointsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListEndpointsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * The policies served now that are the caller's, by policy_id.
     * </pre>
     */
    public void listPolicies(example.routerservice.v1.ListPoliciesRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ListPoliciesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListPoliciesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * The version served now, and each new one from the moment it serves.
     * </pre>
     */
    public void watchCatalog(example.routerservice.v1.WatchCatalogRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.WatchCatalogResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getWatchCatalogMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * The workloads served now that are the caller's, by name and version.
     * </pre>
     */
    public void listWorkloads(example.routerservice.v1.ListWorkloadsRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ListWorkloadsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListWorkloadsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Sets the status of an endpoint by hand, or gives it back to the catalogue. Needs the role `admin`.
     * </pre>
     */
    public void setEndpointStatus(example.routerservice.v1.SetEndpointStatusRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.SetEndpointStatusResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSetEndpointStatusMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Loads the catalogue now, and answers when it serves or is refused. Needs the role `admin`.
     * </pre>
     */
    public void reload(example.routerservice.v1.ReloadRequest request,
        io.grpc.stub.StreamObserver<example.routerservice.v1.ReloadResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getReloadMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service CatalogService.
   * <pre>
   * Shows the catalogue that decisions are made on.
   * </pre>
   */
  public static final class CatalogServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<CatalogServiceBlockingV2Stub> {
    private CatalogServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CatalogServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CatalogServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * The endpoints served now that a policy of the caller's admits, by endpoint_id.
     * </pre>
     */
    public example.routerservice.v1.ListEndpointsResponse listEndpoints(example.routerservice.v1.ListEndpointsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListEndpointsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The policies served now that are the caller's, by policy_id.
     * </pre>
     */
    public example.routerservice.v1.ListPoliciesResponse listPolicies(example.routerservice.v1.ListPoliciesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListPoliciesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The version served now, and each new one from the moment it serves.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, example.routerservice.v1.WatchCatalogResponse>
        watchCatalog(example.routerservice.v1.WatchCatalogRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getWatchCatalogMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The workloads served now that are the caller's, by name and version.
     * </pre>
     */
    public example.routerservice.v1.ListWorkloadsResponse listWorkloads(example.routerservice.v1.ListWorkloadsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListWorkloadsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Sets the status of an endpoint by hand, or gives it back to the catalogue. Needs the role `admin`.
     * </pre>
     */
    public example.routerservice.v1.SetEndpointStatusResponse setEndpointStatus(example.routerservice.v1.SetEndpointStatusRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getSetEndpointStatusMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Loads the catalogue now, and answers when it serves or is refused. Needs the role `admin`.
     * </pre>
     */
    public example.routerservice.v1.ReloadResponse reload(example.routerservice.v1.ReloadRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getReloadMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service CatalogService.
   * <pre>
   * Shows the catalogue that decisions are made on.
   * </pre>
   */
  public static final class CatalogServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<CatalogServiceBlockingStub> {
    private CatalogServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CatalogServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CatalogServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * The endpoints served now that a policy of the caller's admits, by endpoint_id.
     * </pre>
     */
    public example.routerservice.v1.ListEndpointsResponse listEndpoints(example.routerservice.v1.ListEndpointsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListEndpointsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The policies served now that are the caller's, by policy_id.
     * </pre>
     */
    public example.routerservice.v1.ListPoliciesResponse listPolicies(example.routerservice.v1.ListPoliciesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListPoliciesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The version served now, and each new one from the moment it serves.
     * </pre>
     */
    public java.util.Iterator<example.routerservice.v1.WatchCatalogResponse> watchCatalog(
        example.routerservice.v1.WatchCatalogRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getWatchCatalogMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The workloads served now that are the caller's, by name and version.
     * </pre>
     */
    public example.routerservice.v1.ListWorkloadsResponse listWorkloads(example.routerservice.v1.ListWorkloadsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListWorkloadsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Sets the status of an endpoint by hand, or gives it back to the catalogue. Needs the role `admin`.
     * </pre>
     */
    public example.routerservice.v1.SetEndpointStatusResponse setEndpointStatus(example.routerservice.v1.SetEndpointStatusRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSetEndpointStatusMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Loads the catalogue now, and answers when it serves or is refused. Needs the role `admin`.
     * </pre>
     */
    public example.routerservice.v1.ReloadResponse reload(example.routerservice.v1.ReloadRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getReloadMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service CatalogService.
   * <pre>
   * Shows the catalogue that decisions are made on.
   * </pre>
   */
  public static final class CatalogServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<CatalogServiceFutureStub> {
    private CatalogServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CatalogServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CatalogServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * The endpoints served now that a policy of the caller's admits, by endpoint_id.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<example.routerservice.v1.ListEndpointsResponse> listEndpoints(
        example.routerservice.v1.ListEndpointsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListEndpointsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * The policies served now that are the caller's, by policy_id.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<example.routerservice.v1.ListPoliciesResponse> listPolicies(
        example.routerservice.v1.ListPoliciesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListPoliciesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * The workloads served now that are the caller's, by name and version.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<example.routerservice.v1.ListWorkloadsResponse> listWorkloads(
        example.routerservice.v1.ListWorkloadsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListWorkloadsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Sets the status of an endpoint by hand, or gives it back to the catalogue. Needs the role `admin`.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<example.routerservice.v1.SetEndpointStatusResponse> setEndpointStatus(
        example.routerservice.v1.SetEndpointStatusRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSetEndpointStatusMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Loads the catalogue now, and answers when it serves or is refused. Needs the role `admin`.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<example.routerservice.v1.ReloadResponse> reload(
        example.routerservice.v1.ReloadRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getReloadMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_ENDPOINTS = 0;
  private static final int METHODID_LIST_POLICIES = 1;
  private static final int METHODID_WATCH_CATALOG = 2;
  private static final int METHODID_LIST_WORKLOADS = 3;
  private static final int METHODID_SET_ENDPOINT_STATUS = 4;
  private static final int METHODID_RELOAD = 5;

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
        case METHODID_LIST_ENDPOINTS:
          serviceImpl.listEndpoints((example.routerservice.v1.ListEndpointsRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.ListEndpointsResponse>) responseObserver);
          break;
        case METHODID_LIST_POLICIES:
          serviceImpl.listPolicies((example.routerservice.v1.ListPoliciesRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.ListPoliciesResponse>) responseObserver);
          break;
        case METHODID_WATCH_CATALOG:
          serviceImpl.watchCatalog((example.routerservice.v1.WatchCatalogRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.WatchCatalogResponse>) responseObserver);
          break;
        case METHODID_LIST_WORKLOADS:
          serviceImpl.listWorkloads((example.routerservice.v1.ListWorkloadsRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.ListWorkloadsResponse>) responseObserver);
          break;
        case METHODID_SET_ENDPOINT_STATUS:
          serviceImpl.setEndpointStatus((example.routerservice.v1.SetEndpointStatusRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.SetEndpointStatusResponse>) responseObserver);
          break;
        case METHODID_RELOAD:
          serviceImpl.reload((example.routerservice.v1.ReloadRequest) request,
              (io.grpc.stub.StreamObserver<example.routerservice.v1.ReloadResponse>) responseObserver);
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
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getListEndpointsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              example.routerservice.v1.ListEndpointsRequest,
              example.routerservice.v1.ListEndpointsResponse>(
                service, METHODID_LIST_ENDPOINTS)))
        .addMethod(
          getListPoliciesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              example.routerservice.v1.ListPoliciesRequest,
              example.routerservice.v1.ListPoliciesResponse>(
                service, METHODID_LIST_POLICIES)))
        .addMethod(
          getWatchCatalogMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              example.routerservice.v1.WatchCatalogRequest,
              example.routerservice.v1.WatchCatalogResponse>(
                service, METHODID_WATCH_CATALOG)))
        .addMethod(
          getListWorkloadsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              example.routerservice.v1.ListWorkloadsRequest,
              example.routerservice.v1.ListWorkloadsResponse>(
                service, METHODID_LIST_WORKLOADS)))
        .addMethod(
          getSetEndpointStatusMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              example.routerservice.v1.SetEndpointStatusRequest,
              example.routerservice.v1.SetEndpointStatusResponse>(
                service, METHODID_SET_ENDPOINT_STATUS)))
        .addMethod(
          getReloadMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              example.routerservice.v1.ReloadRequest,
              example.routerservice.v1.ReloadResponse>(
                service, METHODID_RELOAD)))
        .build();
  }

  private static abstract class CatalogServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    CatalogServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return example.routerservice.v1.CatalogServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("CatalogService");
    }
  }

  private static final class CatalogServiceFileDescriptorSupplier
      extends CatalogServiceBaseDescriptorSupplier {
    CatalogServiceFileDescriptorSupplier() {}
  }

  private static final class CatalogServiceMethodDescriptorSupplier
      extends CatalogServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    CatalogServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (CatalogServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new CatalogServiceFileDescriptorSupplier())
              .addMethod(getListEndpointsMethod())
              .addMethod(getListPoliciesMethod())
              .addMethod(getWatchCatalogMethod())
              .addMethod(getListWorkloadsMethod())
              .addMethod(getSetEndpointStatusMethod())
              .addMethod(getReloadMethod())
              .build();
        }
      }
    }
    return result;
  }
}
