// How many calls one connection carries at once; what exceeds that waits here.
package example.routerservice.client;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/** Places for calls, taken in the order in which they are asked for. */
final class Places {
  /**
   * Servers take some 100 streams on a connection. A client that does not know yet how many it may
   * begin begins more, and those are refused.
   */
  static final int AT_ONCE = 64;

  private final Queue<CompletableFuture<Places>> waiting = new ArrayDeque<>();
  private int free;

  Places(int many) {
    this.free = many;
  }

  /** A place, as soon as there is one, which is to be left; {@link #giveUp} takes the wish back. */
  synchronized CompletableFuture<Places> take() {
    if (free > 0) {
      free--;
      return CompletableFuture.completedFuture(this);
    }
    CompletableFuture<Places> place = new CompletableFuture<>();
    waiting.add(place);
    return place;
  }

  /** Nobody waits for it any more; one that had come meanwhile goes to the next. */
  void giveUp(CompletableFuture<Places> place) {
    if (!place.cancel(false) && !place.isCompletedExceptionally()) {
      leave();
    }
  }

  /** The call is over. */
  void leave() {
    while (true) {
      CompletableFuture<Places> next;
      synchronized (this) {
        next = waiting.poll();
        if (next == null) {
          free++;
          return;
        }
      }
      if (next.complete(this)) { // else it was given up
        return;
      }
    }
  }
}
