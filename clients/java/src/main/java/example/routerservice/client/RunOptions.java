// What a run goes by, beside its request and its call.
package example.routerservice.client;

import example.routerservice.v1.Candidate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a run goes by, beside its request and its call. It never changes: each method gives another
 * one.
 *
 * @param <T> the answer
 */
public final class RunOptions<T> {
  private final @Nullable Accept<? super T> accept;
  private final boolean replayable;
  private final Predicate<Candidate> canCall;
  private final RouterRuntime runtime;

  private RunOptions(
      @Nullable Accept<? super T> accept,
      boolean replayable,
      Predicate<Candidate> canCall,
      RouterRuntime runtime) {
    this.accept = accept;
    this.replayable = replayable;
    this.canCall = canCall;
    this.runtime = runtime;
  }

  /**
   * Every answer is accepted, and nothing is sent again where it is not known what became of it.
   *
   * @param <T> the answer
   * @return the options of {@link RouterClient#run(example.routerservice.v1.DecideRequest, Call)}
   */
  public static <T> RunOptions<T> defaults() {
    return new RunOptions<>(null, false, candidate -> true, RouterRuntime.SYSTEM);
  }

  /**
   * Every answer is checked before anybody gets it.
   *
   * @param <T> the answer
   * @param accept says what is wrong with an answer; what fails is tried on the next endpoint
   * @return such options
   */
  public static <T> RunOptions<T> accepting(Accept<? super T> accept) {
    return new RunOptions<>(accept, false, candidate -> true, RouterRuntime.SYSTEM);
  }

  /**
   * Whether the operation may be sent again where it is not known what became of the first time.
   * Without it such an attempt ends the run as {@link Outcome#AMBIGUOUS}.
   *
   * @param replayable true where doing it twice does no harm
   * @return such options
   */
  public RunOptions<T> replayable(boolean replayable) {
    return new RunOptions<>(accept, replayable, canCall, runtime);
  }

  /**
   * Which candidates can be called at all, where not all that the catalogue has can be; the others
   * are passed over as if they were not listed.
   *
   * @param canCall whether a candidate can be called
   * @return such options
   */
  public RunOptions<T> canCall(Predicate<Candidate> canCall) {
    return new RunOptions<>(accept, replayable, canCall, runtime);
  }

  /**
   * Where time, sleep and chance come from.
   *
   * @param runtime in the place of {@link RouterRuntime#SYSTEM}
   * @return such options
   */
  public RunOptions<T> runtime(RouterRuntime runtime) {
    return new RunOptions<>(accept, replayable, canCall, runtime);
  }

  @Nullable Accept<? super T> accept() {
    return accept;
  }

  Predicate<Candidate> canCall() {
    return canCall;
  }

  boolean isReplayable() {
    return replayable;
  }

  RouterRuntime runtime() {
    return runtime;
  }
}
