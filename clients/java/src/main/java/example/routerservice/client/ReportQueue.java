// Tells reports in a thread of its own, and what is left of them on closing.
package example.routerservice.client;

import example.routerservice.v1.Report;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The reports on their way: told one after the other in the background, again while the service is
 * away, after waits that grow. A report counts once however often it is sent.
 */
public final class ReportQueue {
  private static final String THREAD = "router-service-reports";

  private final Consumer<Report> send;
  private final Duration flushTimeout;
  private final Object lock = new Object();
  private final Outbox outbox;
  private @Nullable Thread worker;
  private @Nullable Thread hook;
  private boolean isClosed;

  ReportQueue(Consumer<Report> send, int limit, Duration flushTimeout, DoubleSupplier random) {
    this.send = send;
    this.flushTimeout = flushTimeout;
    this.outbox = new Outbox(limit, random);
  }

  /**
   * Takes a report, to be sent soon. One that finds no room, or comes after closing, is dropped,
   * counted and logged.
   *
   * @param report what came of a decision
   * @return whether it was taken
   */
  public boolean put(Report report) {
    synchronized (lock) {
      if (!outbox.put(report, isClosed)) {
        return false;
      }
      if (worker == null) {
        worker = new Thread(this::work, THREAD);
        worker.setDaemon(true);
        worker.start();
        hook = new Thread(this::close, THREAD + "-at-exit"); // of a client that nobody closes
        addHook(hook);
      }
      lock.notifyAll();
      return true;
    }
  }

  /**
   * Waits until all are sent.
   *
   * @param timeout for how long at most
   * @return whether they are
   * @throws InterruptedException the thread was interrupted
   */
  public boolean flush(Duration timeout) throws InterruptedException {
    long until = System.nanoTime() + timeout.toNanos();
    synchronized (lock) {
      while (outbox.waiting() > 0) {
        long left = until - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.timedWait(lock, left);
      }
      return true;
    }
  }

  /**
   * How many wait.
   *
   * @return at most as many as the client was built to keep
   */
  public int waiting() {
    synchronized (lock) {
      return outbox.waiting();
    }
  }

  /**
   * How many were taken by the service.
   *
   * @return a count, since the client began
   */
  public long delivered() {
    synchronized (lock) {
      return outbox.delivered();
    }
  }

  /**
   * How many were answered with an error that no repetition cures; each is logged.
   *
   * @return a count, since the client began
   */
  public long refused() {
    synchronized (lock) {
      return outbox.refused();
    }
  }

  /**
   * How many found no room; each is logged.
   *
   * @return a count, since the client began
   */
  public long dropped() {
    synchronized (lock) {
      return outbox.dropped();
    }
  }

  /**
   * How many met a service that keeps none.
   *
   * @return a count, since the client began
   */
  public long unwanted() {
    synchronized (lock) {
      return outbox.unwanted();
    }
  }

  /**
   * Sends what still waits, for as long as the client was built to; what could not be delivered, or
   * null. Again: null.
   */
  @Nullable ReportsLostException close() {
    synchronized (lock) {
      if (isClosed) {
        return null;
      }
      isClosed = true;
    }
    boolean wasInterrupted = false;
    try {
      flush(flushTimeout);
    } catch (InterruptedException interrupted) {
      // Somebody is in a hurry: what was not sent is told.
      wasInterrupted = true;
    }
    ReportsLostException loss;
    synchronized (lock) {
      loss = outbox.lost();
      lock.notifyAll();
      if (worker != null) {
        worker.interrupt(); // it may be waiting for an answer
      }
    }
    removeHook();
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
    return loss;
  }

  private void work() {
    Report report = first();
    while (report != null) {
      RuntimeException error = null;
      try {
        send.accept(report);
      } catch (RuntimeException failed) { // one report must never end the telling of the others
        error = failed;
      }
      synchronized (lock) {
        if (outbox.waiting() > 0) {
          outbox.answered(error);
        }
        lock.notifyAll();
      }
      report = first();
    }
  }

  /** The next to be sent, when its time has come; null once there will be none. */
  private @Nullable Report first() {
    synchronized (lock) {
      long until = System.nanoTime() + outbox.pause().toNanos();
      try {
        while (!(isClosed && outbox.waiting() == 0)) {
          long left = until - System.nanoTime();
          if (outbox.waiting() > 0 && left <= 0) {
            return outbox.first();
          }
          if (outbox.waiting() > 0) {
            TimeUnit.NANOSECONDS.timedWait(lock, left);
          } else {
            lock.wait();
          }
        }
      } catch (InterruptedException closed) {
        return null;
      }
      return null;
    }
  }

  private static void addHook(Thread hook) {
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException exiting) {
      return; // too late for it: the worker goes on for as long as there is a process
    }
  }

  private void removeHook() {
    Thread installed = hook;
    try {
      if (installed != null && installed != Thread.currentThread()) {
        Runtime.getRuntime().removeShutdownHook(installed);
      }
    } catch (IllegalStateException exiting) {
      return; // it has begun, and finds nothing to do
    }
  }
}
