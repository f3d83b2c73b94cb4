// Every call of the client, answered by a real service.
package example.routerservice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.routerservice.v1.Attempt;
import example.routerservice.v1.Candidate;
import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.DecideResponse;
import example.routerservice.v1.DecideStreamResponse;
import example.routerservice.v1.Decision;
import example.routerservice.v1.Endpoint;
import example.routerservice.v1.ExplainRequest;
import example.routerservice.v1.Explanation;
import example.routerservice.v1.FieldViolation;
import example.routerservice.v1.Inline;
import example.routerservice.v1.ListTracesRequest;
import example.routerservice.v1.Policy;
import example.routerservice.v1.RejectedReport;
import example.routerservice.v1.Report;
import example.routerservice.v1.ReportResponse;
import example.routerservice.v1.ReportStreamResponse;
import example.routerservice.v1.RouteRequest;
import example.routerservice.v1.ServedEndpoint;
import example.routerservice.v1.Trace;
import example.routerservice.v1.WatchCatalogResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

@EnabledIfEnvironmentVariable(named = Live.VARIABLE, matches = ".+", disabledReason = Live.MISSING)
class LiveServiceTest {
  private static Live places;
  private static RouterClient router;

  @BeforeAll
  static void open() {
    places = Live.places();
    router = RouterClient.builder().target(places.router()).timeout(Duration.ofSeconds(30)).build();
  }

  @AfterAll
  static void close() {
    router.close();
  }

  private static DecideRequest asking(String model) {
    return DecideRequest.newBuilder()
        .setRequestId("mine")
        .setRequest(RouteRequest.newBuilder().setModel(model))
        .build();
  }

  private static Decision decided() {
    return router.decide(asking("malformed-" + places.kind())).getDecision();
  }

  private static List<String> ids(List<Candidate> candidates) {
    return candidates.stream().map(Candidate::getEndpointId).toList();
  }

  @Test
  void aDecisionHasAFailoverListAndARefusalIsAnAnswer() {
    DecideResponse answer = router.decide(asking("schema-" + places.kind()));
    assertEquals("mine", answer.getRequestId());
    assertEquals(32, answer.getDecision().getTraceId().length());
    assertTrue(
        ids(answer.getDecision().getCandidatesList()).contains("good@schema-" + places.kind()));
    DecideResponse refused = router.decideAsync(asking("no-such-model-at-all")).join();
    assertEquals("model_not_found", refused.getRefusal().getCode());
    assertEquals(404, refused.getRefusal().getHttpStatus());
    assertFalse(refused.hasDecision());
  }

  @Test
  void anExplanationTellsWhatWouldBeDecidedAndWhatWas() {
    Decision decision = decided();
    ExplainRequest fresh =
        ExplainRequest.newBuilder()
            .setRequest(RouteRequest.newBuilder().setModel("malformed-" + places.kind()))
            .build();
    Explanation told = router.explain(fresh).getExplanation();
    assertEquals(ids(decision.getCandidatesList()), ids(told.getDecision().getCandidatesList()));
    assertEquals("", told.getDecision().getTraceId());
    Explanation again =
        router
            .explainAsync(ExplainRequest.newBuilder().setTraceId(decision.getTraceId()).build())
            .join()
            .getExplanation();
    assertEquals(decision.getSentence(), again.getDecision().getSentence());
  }

  @Test
  void everyBadFieldIsNamedAndWhatIsNotThereIsNotFound() {
    RouteRequest bad = RouteRequest.newBuilder().setMaxPrice(-1).setResidency("the-moon").build();
    InvalidRequestException invalid =
        assertThrows(
            InvalidRequestException.class,
            () -> router.decide(DecideRequest.newBuilder().setRequest(bad).build()));
    assertEquals(
        Set.of("request.max_price", "request.residency"),
        invalid.violations().stream().map(FieldViolation::getField).collect(Collectors.toSet()));
    assertTrue(invalid.violations().stream().noneMatch(it -> it.getDescription().isEmpty()));
    assertEquals("ERROR_REASON_INVALID_REQUEST", invalid.reason());
    DecideRequest policy = DecideRequest.newBuilder().setPolicyId("nobody-has-this").build();
    assertThrows(PolicyNotFoundException.class, () -> router.decide(policy));
    DecideRequest workload = DecideRequest.newBuilder().setWorkload("invoices@1").build();
    assertThrows(WorkloadNotFoundException.class, () -> router.decide(workload));
    assertThrows(TraceNotFoundException.class, () -> router.getTrace("0".repeat(32)));
    Inline own =
        Inline.newBuilder()
            .addCandidates(
                Endpoint.newBuilder()
                    .setEndpointId("here")
                    .setModel("one")
                    .setModelType("text")
                    .setCountry("DE")
                    .setSovereignty("eu-owned")
                    .setKind("hosted")
                    .setStatus("up"))
            .setPolicy(Policy.newBuilder().setPolicyId("mine").addResidency("eu-owned"))
            .build();
    PermissionDeniedException off =
        assertThrows(
            PermissionDeniedException.class,
            () -> router.decide(DecideRequest.newBuilder().setInline(own).build()));
    assertEquals("ERROR_REASON_STATELESS_MODE_OFF", off.reason());
  }

  @Test
  void aReportCountsOnceAndIsInItsTrace() {
    Decision decision = decided();
    String endpoint = decision.getCandidates(0).getEndpointId();
    Report report =
        Report.newBuilder()
            .setTraceId(decision.getTraceId())
            .setOutcome("accepted")
            .addAttempts(Attempt.newBuilder().setAttemptId("1").setEndpointId(endpoint))
            .build();
    ReportResponse first = router.report(report);
    ReportResponse second = router.reportAsync(report).join();
    assertEquals(List.of(1, 0), List.of(first.getAccepted(), first.getDuplicates()));
    assertEquals(List.of(0, 1), List.of(second.getAccepted(), second.getDuplicates()));
    Trace trace = router.getTraceAsync(decision.getTraceId()).join();
    assertEquals(1, trace.getReportsCount());
    assertEquals(report, trace.getReports(0).toBuilder().clearCaller().build());
    assertEquals(decision.getCandidatesList(), trace.getDecision().getCandidatesList());
    Report.Builder elsewhere = report.toBuilder();
    elsewhere.getAttemptsBuilder(0).setAttemptId("2").setEndpointId("somewhere@else");
    assertThrows(EndpointNotListedException.class, () -> router.report(elsewhere.build()));
  }

  @Test
  void manyAreDecidedAndReportedInStreams() {
    List<DecideRequest> requests =
        IntStream.range(0, 300)
            .mapToObj(
                one ->
                    asking("malformed-" + places.kind()).toBuilder()
                        .setRequestId(Integer.toString(one))
                        .setPolicyId(one == 7 ? "nobody-has-this" : "")
                        .build())
            .toList();
    List<DecideStreamResponse> answers;
    try (Stream<DecideStreamResponse> stream = router.decideStream(requests)) {
      answers = stream.toList();
    }
    assertEquals(
        requests.stream().map(DecideRequest::getRequestId).toList(),
        answers.stream().map(DecideStreamResponse::getRequestId).toList());
    assertTrue(answers.get(7).hasError());
    List<Report> reports =
        answers.stream()
            .filter(DecideStreamResponse::hasDecision)
            .map(
                one ->
                    Report.newBuilder()
                        .setTraceId(one.getDecision().getTraceId())
                        .setOutcome("failed")
                        .addAttempts(
                            Attempt.newBuilder()
                                .setAttemptId("1")
                                .setEndpointId(one.getDecision().getCandidates(0).getEndpointId()))
                        .build())
            .toList();
    List<Report> all = new ArrayList<>(reports);
    all.add(0, reports.get(0).toBuilder().setTraceId("f".repeat(32)).build());
    ReportStreamResponse told = router.reportStream(all);
    assertEquals(299, told.getAccepted());
    assertEquals(
        List.of(0), told.getRejectedList().stream().map(RejectedReport::getPosition).toList());
  }

  @Test
  void tracesAreListedNewestFirstOverPages() {
    List<String> made = Stream.generate(() -> decided().getTraceId()).limit(5).toList();
    ListTracesRequest query =
        ListTracesRequest.newBuilder()
            .setPageSize(2)
            .setEndpointId("good@malformed-" + places.kind())
            .build();
    List<String> listed = router.listTraces(query).map(Trace::getTraceId).limit(5).toList();
    assertEquals(Set.copyOf(made), Set.copyOf(listed));
  }

  @Test
  void theCatalogueIsListedAndWatched() {
    List<String> endpoints =
        router
            .listEndpoints()
            .map(ServedEndpoint::getEndpoint)
            .map(Endpoint::getEndpointId)
            .toList();
    assertTrue(endpoints.contains("good@schema-" + places.kind()));
    assertEquals(endpoints.stream().sorted().toList(), endpoints);
    assertEquals(List.of("all"), router.listPolicies().map(Policy::getPolicyId).toList());
    assertEquals(0, router.listWorkloads().count());
    try (Stream<WatchCatalogResponse> versions = router.watchCatalog()) {
      WatchCatalogResponse now = versions.findFirst().orElseThrow();
      assertEquals(endpoints.size(), now.getEndpoints());
      assertEquals("all", now.getDefaultPolicy());
      assertEquals(decided().getCatalogVersion(), now.getCatalogVersion());
    }
  }
}
