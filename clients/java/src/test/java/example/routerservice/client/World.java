// Time and chance that stand still until they are told.
package example.routerservice.client;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Time in whole milliseconds since a run began, and the random numbers that are left. */
class World implements RouterRuntime {
  private static final long BEGUN = 1_000_000_000_000L;

  final Instant start;
  final List<Double> draws;

  /** What happened: calls and waits, in words. */
  final List<String> steps = new ArrayList<>();

  private long goneMs;

  World(Instant start, List<Double> draws) {
    this.start = start;
    this.draws = new ArrayList<>(draws);
  }

  synchronized void goOn(long millis) {
    goneMs += millis;
  }

  @Override
  public synchronized long nanoTime() {
    return BEGUN + Duration.ofMillis(goneMs).toNanos();
  }

  @Override
  public synchronized Instant now() {
    return start.plusMillis(goneMs);
  }

  @Override
  public double random() {
    return draws.remove(0);
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    steps.add("wait " + duration.toMillis());
    goOn(duration.toMillis());
  }

  @Override
  public CompletableFuture<Void> delay(Duration duration) {
    try {
      sleep(duration);
      return CompletableFuture.completedFuture(null);
    } catch (InterruptedException | RuntimeException cancelled) {
      return CompletableFuture.failedFuture(cancelled);
    }
  }
}
