// Reports in the background: repeated while the service is away, never lost in silence.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.Report;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportQueueTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private ScriptedService service;

  @BeforeEach
  void open() throws Exception {
    service = ScriptedService.start();
  }

  @AfterEach
  void close() {
    service.close();
  }

  private RouterClientBuilder builder() {
    return RouterClient.builder().target(service.target()).timeout(LONG).flushTimeout(LONG);
  }

  static Report report(int number) {
    return Report.newBuilder().setTraceId("%032x".formatted(number)).setOutcome("accepted").build();
  }

  static RouterException away() {
    return Errors.of(Status.UNAVAILABLE, new Metadata());
  }

  @Test
  void closingDeliversWhatWaits() {
    List<Report> reports = IntStream.range(0, 20).mapToObj(ReportQueueTest::report).toList();
    ReportQueue queue;
    try (RouterClient client = builder().build()) {
      queue = client.reports();
      reports.forEach(queue::put);
    }
    assertEquals(reports, service.reports);
    assertEquals(20, queue.delivered());
  }

  @Test
  void runsOfManyThreadsAreAllReported() throws Exception {
    try (RouterClient client = builder().build()) {
      ExecutorService threads = Executors.newFixedThreadPool(8);
      List<Future<Run<String>>> runs = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        String id = Integer.toString(i);
        DecideRequest request = DecideRequest.newBuilder().setOperationId(id).build();
        runs.add(threads.submit(() -> client.run(request, attempt -> id)));
      }
      for (int i = 0; i < 200; i++) {
        assertEquals(Integer.toString(i), runs.get(i).get(60, TimeUnit.SECONDS).answer());
      }
      threads.shutdown();
    }
    assertEquals(
        IntStream.range(0, 200).mapToObj(Integer::toString).sorted().toList(),
        service.reports.stream().map(Report::getOperationId).sorted().toList());
  }

  @Test
  void aServiceThatIsAwayIsAskedAgain() {
    service.answers.addAll(List.of(Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED));
    try (RouterClient client = builder().build()) {
      client.reports().put(report(1));
      client.reports().put(report(2));
    }
    assertEquals(List.of(report(1), report(2)), service.reports);
    assertEquals(4, service.reportCalls); // twice in vain; nothing beneath tried again
  }

  @Test
  void aServiceThatIsBusyIsAskedAgain() {
    service.answers.addAll(List.of(Status.RESOURCE_EXHAUSTED, Status.RESOURCE_EXHAUSTED));
    ReportQueue queue;
    try (RouterClient client = builder().build()) {
      queue = client.reports();
      queue.put(report(1));
      queue.put(report(2));
    }
    assertEquals(List.of(report(1), report(2)), service.reports);
    assertEquals(List.of(2L, 0L), List.of(queue.delivered(), queue.refused()));
  }

  @Test
  void aServiceThatStartsLaterIsToldAll(@TempDir Path folder) throws Exception {
    Path socket = folder.resolve("router.sock");
    ScriptedService late;
    try (RouterClient client = builder().target("unix:" + socket).build()) {
      client.reports().put(report(1));
      assertFalse(client.reports().flush(Duration.ofMillis(300)));
      late = ScriptedService.on(socket);
    }
    late.close();
    assertEquals(List.of(report(1)), late.reports);
  }

  @Test
  void whatTheServiceRefusesIsCountedAndTheNextIsTold() {
    service.answers.add(Status.INVALID_ARGUMENT);
    ReportQueue queue;
    try (RouterClient client = builder().build()) {
      queue = client.reports();
      queue.put(report(1));
      queue.put(report(2));
    }
    assertEquals(List.of(1L, 1L), List.of(queue.refused(), queue.delivered()));
    assertEquals(List.of(report(2)), service.reports);
  }

  @Test
  void whatCannotBeDeliveredIsThrownOnClosingAndToldOnce() {
    service.close();
    RouterClient client = builder().flushTimeout(Duration.ofMillis(200)).build();
    client.reports().put(report(1));
    ReportsLostException loss = assertThrows(ReportsLostException.class, client::close);
    assertEquals(List.of(report(1)), loss.reports());
    assertEquals(0, loss.dropped());
    assertEquals("1 reports were not delivered, 0 of them for lack of room", loss.getMessage());
    client.close();
  }

  @Test
  void whatWentWrongFirstIsNotHiddenByALoss() {
    service.close();
    IllegalStateException first =
        assertThrows(
            IllegalStateException.class,
            () -> {
              try (RouterClient client = builder().flushTimeout(Duration.ofMillis(50)).build()) {
                client.reports().put(report(1));
                throw new IllegalStateException("first");
              }
            });
    assertEquals(ReportsLostException.class, first.getSuppressed()[0].getClass());
  }

  @Test
  void closingThatIsInterruptedTellsWhatWasNotSent() throws Exception {
    CountDownLatch sending = new CountDownLatch(1);
    ReportQueue queue =
        new ReportQueue(
            report -> {
              sending.countDown();
              throw away();
            },
            10,
            LONG,
            () -> 1.0);
    queue.put(report(1));
    assertTrue(sending.await(30, TimeUnit.SECONDS));
    Thread.currentThread().interrupt();
    ReportsLostException loss = queue.close();
    assertTrue(Thread.interrupted());
    assertEquals(List.of(report(1)), loss.reports());
  }

  @Test
  void aQueueThatIsFullDropsTheNewestAndCountsIt() {
    CountDownLatch release = new CountDownLatch(1);
    List<Report> sent = new CopyOnWriteArrayList<>();
    ReportQueue queue =
        new ReportQueue(
            report -> {
              try {
                release.await();
              } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
              }
              sent.add(report);
            },
            2,
            LONG,
            () -> 0.0);
    assertTrue(queue.put(report(1)));
    assertTrue(queue.put(report(2)));
    assertFalse(queue.put(report(3)));
    assertEquals(2, queue.waiting());
    release.countDown();
    ReportsLostException loss = queue.close();
    assertNotNull(loss);
    assertEquals(1, loss.dropped());
    assertEquals(List.of(), loss.reports());
    assertEquals(List.of(report(1), report(2)), sent);
  }

  @Test
  void afterClosingNothingIsTakenInSilence() {
    ReportQueue queue = new ReportQueue(report -> {}, 10, LONG, () -> 0.0);
    assertNull(queue.close());
    assertFalse(queue.put(report(1)));
    assertEquals(1, queue.dropped());
  }

  @Test
  void aFaultInSendingEndsNothing() {
    List<Report> sent = new ArrayList<>();
    ReportQueue queue =
        new ReportQueue(
            report -> {
              sent.add(report);
              if (sent.size() == 1) {
                throw new IllegalStateException("odd");
              }
            },
            10,
            LONG,
            () -> 0.0);
    queue.put(report(1));
    queue.put(report(2));
    assertNull(queue.close());
    assertEquals(List.of(1L, 1L), List.of(queue.refused(), queue.delivered()));
  }
}
