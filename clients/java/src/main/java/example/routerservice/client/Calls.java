// Calls of the service: one answer to one message, waited for or not, and many.
package example.routerservice.client;

import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Calls on a channel, with the token where there is one. */
final class Calls {
  private final Channel channel;
  private final CallOptions options;

  Calls(Channel channel, @Nullable CallCredentials token) {
    this.channel = channel;
    this.options =
        token == null ? CallOptions.DEFAULT : CallOptions.DEFAULT.withCallCredentials(token);
  }

  /**
   * The answer to one message. An interrupt of the thread cancels the call, and stays.
   *
   * @throws RouterException there is none
   */
  <Q, A> A answer(MethodDescriptor<Q, A> method, Q message, Duration timeout) {
    try {
      return ClientCalls.blockingUnaryCall(awake(), method, within(timeout), message);
    } catch (StatusRuntimeException failure) {
      throw Errors.of(failure);
    }
  }

  /** The answer to one message, to come; cancelling it cancels the call. */
  @SuppressWarnings("FutureReturnValueIgnored") // what follows is done for its effect
  <Q, A> CompletableFuture<A> future(MethodDescriptor<Q, A> method, Q message, Duration timeout) {
    ClientCall<Q, A> call = awake().newCall(method, within(timeout));
    CompletableFuture<A> promised = new CompletableFuture<>();
    ClientCalls.asyncUnaryCall(call, message, new Promise<>(promised));
    promised.whenComplete(
        (answer, error) -> {
          if (promised.isCancelled()) {
            call.cancel("the caller cancelled", null);
          }
        });
    return promised;
  }

  /** A call of many messages or many answers, which takes as long as it does. */
  <Q, A> Exchange<Q, A> exchange(MethodDescriptor<Q, A> method, Iterator<Q> messages) {
    boolean sendsOne = method.getType().clientSendsOneMessage();
    return new Exchange<>(awake().newCall(method, options), messages, sendsOne);
  }

  private CallOptions within(Duration timeout) {
    return options.withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** The channel, which does not sit out its wait of up to two minutes before it connects again. */
  private Channel awake() {
    if (channel instanceof ManagedChannel managed
        && managed.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
      managed.resetConnectBackoff();
    }
    return channel;
  }

  /** Keeps a promise by what a call brings. */
  private record Promise<A>(CompletableFuture<A> promised) implements StreamObserver<A> {
    @Override
    public void onNext(A answer) {
      promised.complete(answer);
    }

    @Override
    public void onError(Throwable error) {
      promised.completeExceptionally(
          error instanceof StatusRuntimeException failure ? Errors.of(failure) : error);
    }

    @Override
    public void onCompleted() {
      String none = "the service ended the call without an answer";
      promised.completeExceptionally(Errors.of(Status.INTERNAL.withDescription(none), null));
    }
  }
}
