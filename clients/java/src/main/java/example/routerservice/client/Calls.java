// Calls of the service: one answer to one message, waited for or not, and many.
package example.routerservice.client;

import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Calls on a channel, with the token where there is one. */
final class Calls {
  private final Channel channel;
  private final CallOptions options;
  private final Places places = new Places(Places.AT_ONCE);

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
    long until = System.nanoTime() + timeout.toNanos();
    await(places.take(), timeout);
    try {
      return ClientCalls.blockingUnaryCall(awake(), method, within(until), message);
    } catch (StatusRuntimeException failure) {
      throw Errors.of(failure);
    } finally {
      places.leave();
    }
  }

  private void await(CompletableFuture<Places> place, Duration timeout) {
    if (place.isDone()) {
      return;
    }
    try {
      place.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException late) {
      places.giveUp(place);
      throw late(timeout);
    } catch (InterruptedException interrupted) {
      places.giveUp(place);
      Thread.currentThread().interrupt();
      throw Errors.of(Status.CANCELLED.withDescription("interrupted").withCause(interrupted), null);
    }
  }

  private static RouterException late(Duration timeout) {
    String why = "the calls before it took more than %d ms".formatted(timeout.toMillis());
    return Errors.of(Status.DEADLINE_EXCEEDED.withDescription(why), null);
  }

  /** The answer to one message, to come; cancelling it cancels the call. */
  @SuppressWarnings("FutureReturnValueIgnored") // what follows is done for its effect
  <Q, A> CompletableFuture<A> future(MethodDescriptor<Q, A> method, Q message, Duration timeout) {
    long until = System.nanoTime() + timeout.toNanos();
    Context context = Context.current();
    CompletableFuture<A> promised = new CompletableFuture<>();
    CompletableFuture<Places> place = places.take();
    if (!place.isDone()) {
      place.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
      promised.whenComplete((answer, error) -> place.cancel(false));
    }
    place.whenComplete(
        (taken, error) -> {
          if (taken == null) {
            promised.completeExceptionally(late(timeout)); // or was cancelled while it waited
          } else {
            promised.whenComplete((answer, failure) -> places.leave());
            context.run(() -> begin(method, message, until, promised));
          }
        });
    return promised;
  }

  @SuppressWarnings("FutureReturnValueIgnored") // what follows is done for its effect
  private <Q, A> void begin(
      MethodDescriptor<Q, A> method, Q message, long until, CompletableFuture<A> promised) {
    if (promised.isDone()) { // cancelled while it waited
      return;
    }
    ClientCall<Q, A> call = awake().newCall(method, within(until));
    promised.whenComplete(
        (answer, error) -> {
          if (promised.isCancelled()) {
            call.cancel("the caller cancelled", null);
          }
        });
    try {
      ClientCalls.asyncUnaryCall(call, message, new Promise<>(promised));
    } catch (RuntimeException fault) { // of the message: whoever waits is to hear of it
      promised.completeExceptionally(fault);
    }
  }

  /** A call of many messages or many answers, which takes as long as it does. */
  <Q, A> Exchange<Q, A> exchange(MethodDescriptor<Q, A> method, Iterator<Q> messages) {
    boolean sendsOne = method.getType().clientSendsOneMessage();
    return new Exchange<>(awake().newCall(method, options), messages, sendsOne);
  }

  private CallOptions within(long until) {
    return options.withDeadlineAfter(until - System.nanoTime(), TimeUnit.NANOSECONDS);
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
