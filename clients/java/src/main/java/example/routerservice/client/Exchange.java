// A call of many messages and many answers, in the thread that reads the answers.
package example.routerservice.client;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * The answers as they come. Messages are taken from their iterator, and sent, while an answer is
 * waited for and the connection takes them, so that neither side ever holds more than a few.
 */
final class Exchange<Q, A> implements Iterator<A>, AutoCloseable {
  /** Answers that are asked for before they are read. */
  private static final int AHEAD = 16;

  private final ClientCall<Q, A> call;
  private final Iterator<Q> messages;

  /** One message goes at once: gRPC tells of no readiness where there is only one. */
  private final boolean sendsAtOnce;

  private final Queue<A> answers = new ArrayDeque<>(); // guarded by itself, as the two below are
  private @Nullable Status status;
  private @Nullable Metadata trailers;
  private boolean isHalfClosed; // of the reading thread alone

  Exchange(ClientCall<Q, A> call, Iterator<Q> messages, boolean sendsAtOnce) {
    this.call = call;
    this.sendsAtOnce = sendsAtOnce;
    this.messages = messages;
    call.start(new Answers(), new Metadata());
    call.request(AHEAD);
  }

  /** The answers as a stream, whose closing cancels the call. */
  Stream<A> stream() {
    return StreamSupport.stream(
            Spliterators.spliteratorUnknownSize(this, Spliterator.ORDERED | Spliterator.NONNULL),
            false)
        .onClose(this::close);
  }

  /**
   * Whether there is another answer; waits for it, and sends meanwhile.
   *
   * @throws RouterException the call broke, or the thread was interrupted
   */
  @Override
  public boolean hasNext() {
    while (true) {
      synchronized (answers) {
        while (answers.isEmpty()
            && status == null
            && (isHalfClosed || !(sendsAtOnce || call.isReady()))) {
          await();
        }
        if (!answers.isEmpty()) {
          return true;
        }
        if (status != null) {
          return ended(status);
        }
      }
      send();
    }
  }

  @Override
  public A next() {
    if (!hasNext()) {
      throw new NoSuchElementException("there are no more answers");
    }
    call.request(1);
    synchronized (answers) {
      return answers.remove();
    }
  }

  /** Ends the call, whatever is under way. */
  @Override
  public void close() {
    call.cancel("the caller closed the stream", null);
  }

  private void await() {
    try {
      answers.wait();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      call.cancel("the caller was interrupted", interrupted);
      throw Errors.of(Status.CANCELLED.withDescription("interrupted").withCause(interrupted), null);
    }
  }

  private boolean ended(Status how) {
    if (how.isOk()) {
      return false;
    }
    throw Errors.of(how, trailers);
  }

  /** Sends one message, or that there are no more; a fault of their iterator ends the call. */
  private void send() {
    try {
      if (messages.hasNext()) {
        call.sendMessage(messages.next());
        return;
      }
    } catch (RuntimeException | Error fault) {
      call.cancel("the caller's messages failed", fault);
      throw fault;
    }
    isHalfClosed = true;
    call.halfClose();
  }

  /** Keeps what comes, and wakes the reader. */
  private final class Answers extends ClientCall.Listener<A> {
    @Override
    public void onMessage(A answer) {
      synchronized (answers) {
        answers.add(answer);
        answers.notifyAll();
      }
    }

    @Override
    public void onReady() {
      synchronized (answers) {
        answers.notifyAll();
      }
    }

    @Override
    public void onClose(Status how, Metadata with) {
      synchronized (answers) {
        status = how;
        trailers = with;
        answers.notifyAll();
      }
    }
  }
}
