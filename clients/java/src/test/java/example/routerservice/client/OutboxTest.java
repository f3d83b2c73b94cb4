// What the queue of reports makes of the answers that sending one meets.
package example.routerservice.client;

import static example.routerservice.client.ReportQueueTest.away;
import static example.routerservice.client.ReportQueueTest.report;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxTest {
  @Test
  void aReportThatIsItselfTooLargeHoldsUpTheOthersForSoLongOnly() {
    RouterException busy = Errors.of(Status.RESOURCE_EXHAUSTED, new Metadata());
    Outbox outbox = new Outbox(10, () -> 1.0);
    outbox.put(report(1), false);
    outbox.put(report(2), false);
    List<Long> waits = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      assertEquals(report(1), outbox.first());
      outbox.answered(busy);
      waits.add(outbox.pause().toMillis());
    }
    assertEquals(List.of(200L, 400L, 800L, 1600L, 3200L, 5000L, 5000L, 5000L, 5000L, 0L), waits);
    assertEquals(report(2), outbox.first());
    assertEquals(1, outbox.refused());
    // The next one meets a limit too, and was not taken by it: that its trace is gone then is no
    // delivery.
    outbox.answered(busy);
    outbox.answered(
        new TraceNotFoundException(
            new RouterException.Details("gone", Status.Code.NOT_FOUND, "", List.of(), null)));
    assertEquals(List.of(0L, 2L), List.of(outbox.delivered(), outbox.refused()));
  }

  @Test
  void aTokenThatCannotBeHadForNowLosesNoReport() {
    Outbox outbox = new Outbox(10, () -> 0.0);
    outbox.put(report(1), false);
    outbox.answered(Errors.of(Status.UNAUTHENTICATED, new Metadata()));
    assertEquals(report(1), outbox.first());
    outbox.answered(null);
    assertEquals(1, outbox.delivered());
  }

  @Test
  void aTraceThatIsGoneAfterALostAnswerWasTold() {
    RouterException gone =
        new TraceNotFoundException(
            new RouterException.Details("gone", Status.Code.NOT_FOUND, "", List.of(), null));
    Outbox outbox = new Outbox(10, () -> 0.0);
    outbox.put(report(1), false);
    outbox.answered(away());
    outbox.answered(gone);
    assertEquals(List.of(1L, 0L), List.of(outbox.delivered(), outbox.refused()));
    outbox.put(report(2), false);
    outbox.answered(gone);
    assertEquals(List.of(1L, 1L), List.of(outbox.delivered(), outbox.refused()));
  }

  @Test
  void waitsGrowAndEndWithAnAnswer() {
    Outbox outbox = new Outbox(10, () -> 1.0);
    outbox.put(report(1), false);
    List<Long> waits = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      outbox.answered(away());
      waits.add(outbox.pause().toMillis());
    }
    assertEquals(List.of(200L, 400L, 800L, 1600L, 3200L, 5000L, 5000L, 5000L), waits);
    outbox.answered(null);
    assertEquals(Duration.ZERO, outbox.pause());
    assertEquals(1, outbox.delivered());
    assertNull(outbox.lost());
  }

  @Test
  void aServiceWithoutAStoreWantsNone() {
    RouterException none =
        new RouterUnavailableException(
            new RouterException.Details(
                "none", Status.Code.UNAVAILABLE, Errors.NO_STORE, List.of(), null));
    Outbox outbox = new Outbox(10, () -> 1.0);
    outbox.put(report(1), false);
    outbox.answered(none);
    assertEquals(1, outbox.unwanted());
    assertNull(outbox.lost());
  }
}
