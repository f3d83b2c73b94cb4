// The exception of a run that brought no answer.
package example.routerservice.client;

import example.routerservice.v1.Attempt;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Thrown by {@link Run#answer()}: no endpoint brought an answer that was accepted; {@link #run()}
 * tells all of it.
 */
public final class NotAnsweredException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Run<?> run;

  NotAnsweredException(Run<?> run) {
    super(run.outcome().written() + ": " + why(run));
    this.run = run;
  }

  /**
   * The run without an answer.
   *
   * @return its outcome, attempts, refusal, and what was seen last
   */
  public Run<?> run() {
    return run;
  }

  private static String why(Run<?> run) {
    if (run.refusal() != null) {
      return run.refusal().getMessage();
    }
    String tried =
        run.attempts().stream()
            .map(one -> one.getEndpointId() + " (" + what(one) + ")")
            .collect(Collectors.joining(", "));
    return "tried: " + (tried.isEmpty() ? "none" : tried);
  }

  private static String what(Attempt attempt) {
    String status = attempt.getStatusCode() == 0 ? "" : Integer.toString(attempt.getStatusCode());
    String told =
        Stream.of(attempt.getFailureClass(), status, attempt.getErrorCode())
            .filter(one -> !one.isEmpty())
            .collect(Collectors.joining(" "));
    return told.isEmpty() ? "answered" : told;
  }
}
