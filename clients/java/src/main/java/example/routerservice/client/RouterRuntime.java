// Where time, sleep and chance come from, so that a run can be tested without waiting.
package example.routerservice.client;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Time, sleep and chance of a run; implement what a test needs, the rest is the system's. */
public interface RouterRuntime {
  /** The system's. */
  RouterRuntime SYSTEM = new RouterRuntime() {};

  /**
   * A clock that is never set back.
   *
   * @return nanoseconds since any moment
   */
  default long nanoTime() {
    return System.nanoTime();
  }

  /**
   * The time of day.
   *
   * @return now
   */
  default Instant now() {
    return Instant.now();
  }

  /**
   * Chance.
   *
   * @return a number from 0 to 1, 1 excluded
   */
  default double random() {
    return ThreadLocalRandom.current().nextDouble();
  }

  /**
   * Waits, in {@link RouterClient#run run}.
   *
   * @param duration for how long
   * @throws InterruptedException the caller wants no answer any more
   */
  default void sleep(Duration duration) throws InterruptedException {
    TimeUnit.NANOSECONDS.sleep(duration.toNanos());
  }

  /**
   * Waits, in {@link RouterClient#runAsync runAsync}.
   *
   * @param duration for how long
   * @return done after that
   */
  default CompletableFuture<Void> delay(Duration duration) {
    Executor later = CompletableFuture.delayedExecutor(duration.toNanos(), TimeUnit.NANOSECONDS);
    return CompletableFuture.runAsync(() -> {}, later);
  }
}
