// What a client asks of the service: decisions, explanations, traces; and what it reports.
package example.routerservice.client;

import example.routerservice.v1.DecideRequest;
import example.routerservice.v1.DecideResponse;
import example.routerservice.v1.DecideStreamRequest;
import example.routerservice.v1.DecideStreamResponse;
import example.routerservice.v1.ExplainRequest;
import example.routerservice.v1.ExplainResponse;
import example.routerservice.v1.GetTraceRequest;
import example.routerservice.v1.GetTraceResponse;
import example.routerservice.v1.ListTracesRequest;
import example.routerservice.v1.ListTracesResponse;
import example.routerservice.v1.Report;
import example.routerservice.v1.ReportRequest;
import example.routerservice.v1.ReportResponse;
import example.routerservice.v1.ReportStreamRequest;
import example.routerservice.v1.ReportStreamResponse;
import example.routerservice.v1.RouterServiceGrpc;
import example.routerservice.v1.Trace;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The RPCs of RouterService. */
abstract sealed class ServiceCalls extends CatalogCalls permits RouterClient {
  ServiceCalls(Calls calls, Duration timeout) {
    super(calls, timeout);
  }

  /**
   * The ranked, already filtered failover list of a request, or a refusal.
   *
   * @param request what is needed, and under which policy
   * @return a decision, whose candidates are best first and outside of which nothing may be tried;
   *     or a refusal, which is an answer
   * @throws RouterException there is no answer; its subclass says why
   */
  public DecideResponse decide(DecideRequest request) {
    return calls.answer(RouterServiceGrpc.getDecideMethod(), request, timeout);
  }

  /**
   * The same, without waiting.
   *
   * @param request as of {@link #decide}
   * @return a decision or a refusal to come; cancelling it cancels the call
   */
  public CompletableFuture<DecideResponse> decideAsync(DecideRequest request) {
    return calls.future(RouterServiceGrpc.getDecideMethod(), request, timeout);
  }

  /**
   * The same for many requests, in their order, for as long as they come.
   *
   * @param requests are taken one by one in the thread that reads the answers, as the connection
   *     takes them; where they make it wait, so do the answers
   * @return an answer each, or the error of that one request, which ends nothing. It is to be
   *     closed, which ends the call before its time
   */
  public Stream<DecideStreamResponse> decideStream(Iterable<DecideRequest> requests) {
    return calls
        .exchange(
            RouterServiceGrpc.getDecideStreamMethod(),
            StreamSupport.stream(requests.spliterator(), false)
                .map(one -> DecideStreamRequest.newBuilder().setDecide(one).build())
                .iterator())
        .stream();
  }

  /**
   * The decision that {@link RouterClient#decide} would make, and for every endpoint of the pool
   * why it is in or out.
   *
   * @param request as of decide; or the trace_id of a decision or refusal, and nothing else but a
   *     request_id, to have that one told again, word for word, on the catalogue that it was made
   *     on
   * @return the explanation; nothing was decided
   * @throws RouterException there is no answer; its subclass says why
   */
  public ExplainResponse explain(ExplainRequest request) {
    return calls.answer(RouterServiceGrpc.getExplainMethod(), request, timeout);
  }

  /**
   * The same, without waiting.
   *
   * @param request as of {@link #explain}
   * @return the explanation to come; cancelling it cancels the call
   */
  public CompletableFuture<ExplainResponse> explainAsync(ExplainRequest request) {
    return calls.future(RouterServiceGrpc.getExplainMethod(), request, timeout);
  }

  /**
   * Tells what came of a decision. A report that comes again changes nothing, so that it may be
   * sent until it is answered; {@link RouterClient#reports()} does that in the background.
   *
   * @param report what came of it
   * @return how many of the attempts were new, and how many were known already
   * @throws RouterException it was not taken: {@link TraceNotFoundException}, {@link
   *     EndpointNotListedException}, or another
   */
  public ReportResponse report(Report report) {
    return calls.answer(RouterServiceGrpc.getReportMethod(), request(report), timeout);
  }

  /**
   * The same, without waiting.
   *
   * @param report as of {@link #report}
   * @return what became of it, to come; cancelling it cancels the call
   */
  public CompletableFuture<ReportResponse> reportAsync(Report report) {
    return calls.future(RouterServiceGrpc.getReportMethod(), request(report), timeout);
  }

  private static ReportRequest request(Report report) {
    return ReportRequest.newBuilder().setReport(report).build();
  }

  /**
   * Tells many reports, for as long as they come; one that is not taken never ends the stream.
   *
   * @param reports what came of decisions, in any order
   * @return how many attempts were new or known, and the reports that were not taken
   * @throws RouterException the stream broke. What was taken is not known; all of it may be sent
   *     again
   */
  public ReportStreamResponse reportStream(Iterable<Report> reports) {
    Stream<ReportStreamRequest> messages =
        StreamSupport.stream(reports.spliterator(), false)
            .map(one -> ReportStreamRequest.newBuilder().setReport(one).build());
    try (Exchange<ReportStreamRequest, ReportStreamResponse> exchange =
        calls.exchange(RouterServiceGrpc.getReportStreamMethod(), messages.iterator())) {
      if (exchange.hasNext()) {
        return exchange.next();
      }
    }
    throw Errors.of(Status.INTERNAL.withDescription("the service ended without an answer"), null);
  }

  /**
   * A decision or refusal as it was made, with what was asked and what was reported of it.
   *
   * @param traceId that of the decision or refusal
   * @return the trace
   * @throws RouterException there is no answer: {@link TraceNotFoundException}, or another that
   *     says why
   */
  public Trace getTrace(String traceId) {
    GetTraceRequest request = GetTraceRequest.newBuilder().setTraceId(traceId).build();
    return calls.answer(RouterServiceGrpc.getGetTraceMethod(), request, timeout).getTrace();
  }

  /**
   * The same, without waiting.
   *
   * @param traceId as of {@link #getTrace}
   * @return the trace to come; cancelling it cancels the call
   */
  @SuppressWarnings("FutureReturnValueIgnored") // what follows is done for its effect
  public CompletableFuture<Trace> getTraceAsync(String traceId) {
    GetTraceRequest request = GetTraceRequest.newBuilder().setTraceId(traceId).build();
    CompletableFuture<GetTraceResponse> answer =
        calls.future(RouterServiceGrpc.getGetTraceMethod(), request, timeout);
    CompletableFuture<Trace> trace = answer.thenApply(GetTraceResponse::getTrace);
    trace.whenComplete((told, error) -> answer.cancel(true));
    return trace;
  }

  /**
   * Decisions and refusals without their reports, newest first; a page is asked for when it is come
   * to.
   *
   * @param query which ones; every filter that is given must hold
   * @return all of them
   */
  public Stream<Trace> listTraces(ListTracesRequest query) {
    return paged(
        query.getPageToken(),
        token ->
            calls.answer(
                RouterServiceGrpc.getListTracesMethod(),
                query.toBuilder().setPageToken(token).build(),
                timeout),
        ListTracesResponse::getTracesList,
        ListTracesResponse::getNextPageToken);
  }
}
