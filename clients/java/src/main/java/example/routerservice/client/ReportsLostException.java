// The exception of a closing that left reports untold.
package example.routerservice.client;

import example.routerservice.v1.Report;
import java.util.List;

/**
 * Thrown on closing: these reports were not delivered. They may be sent again, by any client; each
 * counts once.
 */
public final class ReportsLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient List<Report> reports;
  private final long dropped;

  ReportsLostException(List<Report> reports, long dropped) {
    super(
        (reports.size() + dropped)
            + " reports were not delivered, "
            + dropped
            + " of them for lack of room");
    this.reports = reports;
    this.dropped = dropped;
  }

  /**
   * Those that still waited.
   *
   * @return in the order in which they were to be sent
   */
  public List<Report> reports() {
    return reports;
  }

  /**
   * How many found no room when they came; they are not among {@link #reports()}.
   *
   * @return a count, since the client began
   */
  public long dropped() {
    return dropped;
  }
}
