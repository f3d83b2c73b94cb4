// Answers of a real service to every call of the client.

package routerservice_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

// forGood asks for a model that nobody else of these tests reports of.
func forGood(where places) *pb.DecideRequest {
	return &pb.DecideRequest{RequestId: "mine", Request: &pb.RouteRequest{Model: "schema-" + where.Kind}}
}

func TestLiveDecisions(t *testing.T) {
	where, router := live(t)
	answer, err := router.Decide(t.Context(), forGood(where))
	if err != nil {
		t.Fatal(err)
	}
	decision := answer.GetDecision()
	if answer.GetRequestId() != "mine" || len(decision.GetCandidates()) == 0 || len(decision.GetTraceId()) != 32 {
		t.Error(answer)
	}
	again, err := router.Explain(t.Context(), &pb.ExplainRequest{TraceId: decision.GetTraceId()})
	if err != nil {
		t.Fatal(err)
	}
	want(t, again.GetExplanation().GetDecision().GetSentence(), decision.GetSentence())
	answer, err = router.Decide(t.Context(), &pb.DecideRequest{Request: &pb.RouteRequest{Model: "no-such-model"}})
	if err != nil || answer.GetRefusal().GetHttpStatus() != 404 {
		t.Error(answer, err)
	}
}

func TestLiveErrors(t *testing.T) {
	where, router := live(t)
	_, err := router.Decide(t.Context(), &pb.DecideRequest{
		Request: &pb.RouteRequest{MaxPrice: new(-1.0), Residency: "the-moon"},
	})
	failed := routerError(t, err, routerservice.ErrInvalidRequest)
	var fields []string
	for _, one := range failed.Violations {
		fields = append(fields, one.Field)
		if one.Description == "" {
			t.Error(one)
		}
	}
	slices.Sort(fields)
	want(t, strings.Join(fields, " "), "request.max_price request.residency")
	want(t, failed.Reason, "ERROR_REASON_INVALID_REQUEST")
	if failed.Code != codes.InvalidArgument || !strings.Contains(err.Error(), "request.residency") {
		t.Error(err)
	}
	_, err = router.Explain(t.Context(), &pb.ExplainRequest{PolicyId: "nobody-has-this"})
	routerError(t, err, routerservice.ErrPolicyNotFound)
	_, err = router.Decide(t.Context(), &pb.DecideRequest{Workload: "nobody-has-this"})
	routerError(t, err, routerservice.ErrWorkloadNotFound)
	_, err = router.GetTrace(t.Context(), strings.Repeat("0", 32))
	routerError(t, err, routerservice.ErrTraceNotFound)
	inline := &pb.Inline{
		Policy:     &pb.Policy{PolicyId: "mine", Residency: []string{"eu-owned"}},
		Candidates: []*pb.Endpoint{{EndpointId: "here", Model: "one", Kind: "hosted", Status: "up", ModelType: "text"}},
	}
	_, err = router.Decide(t.Context(), &pb.DecideRequest{Inline: inline})
	routerError(t, err, routerservice.ErrPermissionDenied)

	answer, err := router.Decide(t.Context(), forGood(where))
	if err != nil {
		t.Fatal(err)
	}
	_, err = router.Report(t.Context(), &pb.Report{
		TraceId: answer.GetDecision().GetTraceId(), Outcome: "accepted", Attempts: []*pb.Attempt{{AttemptId: "1", EndpointId: "other"}},
	})
	if failed := routerError(t, err, routerservice.ErrEndpointNotListed); !errors.Is(failed, routerservice.ErrInvalidRequest) {
		t.Error(failed)
	}
}

func TestLiveReportsAndTraces(t *testing.T) {
	where, router := live(t)
	begun := time.Now().Add(-time.Second)
	var reports []*pb.Report
	var made []string
	for range 3 {
		answer, err := router.Decide(t.Context(), forGood(where))
		if err != nil {
			t.Fatal(err)
		}
		decision := answer.GetDecision()
		made = append(made, decision.GetTraceId())
		attempt := &pb.Attempt{AttemptId: "1", EndpointId: decision.GetCandidates()[0].GetEndpointId(), LatencyMs: new(uint32(9))}
		reports = append(reports, &pb.Report{TraceId: decision.GetTraceId(), Outcome: "accepted", Attempts: []*pb.Attempt{attempt}})
	}
	first, err := router.Report(t.Context(), reports[0])
	if err != nil || first.GetAccepted() != 1 {
		t.Error(first, err)
	}
	all, err := router.ReportStream(t.Context(), slices.Values(append(reports, &pb.Report{TraceId: "odd"})))
	if err != nil || all.GetAccepted() != 2 || all.GetDuplicates() != 1 || len(all.GetRejected()) != 1 {
		t.Error(all, err)
	}
	var listed []string
	request := &pb.ListTracesRequest{PageSize: 2, Outcome: "decided", Since: timestamppb.New(begun)} // more than one page
	for until := time.Now().Add(patience); len(listed) < len(made) && time.Now().Before(until); {    // written soon after
		listed = nil
		for trace, err := range router.ListTraces(t.Context(), request) {
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(made, trace.GetTraceId()) {
				listed = append(listed, trace.GetTraceId())
			}
		}
	}
	slices.Reverse(made)
	want(t, strings.Join(listed, " "), strings.Join(made, " ")) // newest first
	if request.GetPageToken() != "" {
		t.Error("the caller's own message was changed")
	}
	for _, err := range router.ListTraces(t.Context(), &pb.ListTracesRequest{PageToken: "odd"}) {
		routerError(t, err, routerservice.ErrInvalidRequest)
	}
}

func TestLiveCatalogue(t *testing.T) {
	where, router := live(t)
	endpoints, policies := 0, 0
	for one, err := range router.ListEndpoints(t.Context()) {
		if err != nil || !strings.HasSuffix(one.GetEndpoint().GetEndpointId(), "-"+where.Kind) {
			t.Fatal(one, err)
		}
		endpoints++
	}
	for one, err := range router.ListPolicies(t.Context()) {
		if err != nil || one.GetPolicyId() != "all" {
			t.Fatal(one, err)
		}
		policies++
	}
	for one, err := range router.ListWorkloads(t.Context()) {
		t.Error("the catalogue has none", one, err)
	}
	for one, err := range router.WatchCatalog(t.Context()) {
		if err != nil || one.GetDefaultPolicy() != "all" || one.GetCurrency() != "EUR" {
			t.Fatal(one, err)
		}
		if int(one.GetEndpoints()) != endpoints || int(one.GetPolicies()) != policies {
			t.Errorf("%v: listed %d and %d", one, endpoints, policies)
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	for _, err := range router.WatchCatalog(ctx) {
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	cancel()
}

func TestLiveStream(t *testing.T) {
	where, router := live(t)
	odd := &pb.DecideRequest{RequestId: "odd", PolicyId: "nobody-has-this"}
	asked := []*pb.DecideRequest{forGood(where), odd, forGood(where)}
	var said []string
	for answer, err := range router.DecideStream(t.Context(), slices.Values(asked)) {
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, answer.GetRequestId())
		if isOdd := answer.GetRequestId() == "odd"; isOdd != (answer.GetError() != nil) || isOdd != (answer.GetDecision() == nil) {
			t.Error(answer)
		}
	}
	want(t, strings.Join(said, " "), "mine odd mine")
	for range router.DecideStream(t.Context(), func(yield func(*pb.DecideRequest) bool) {
		for yield(forGood(where)) {
		}
	}) {
		break // its goroutine ends too: TestMain looks
	}
	away := client(t, "unix:"+t.TempDir()+"/nothing.sock")
	for _, err := range away.DecideStream(t.Context(), slices.Values(asked)) {
		routerError(t, err, routerservice.ErrRouterUnavailable)
	}
	_, err := away.ReportStream(t.Context(), slices.Values([]*pb.Report{{}}))
	routerError(t, err, routerservice.ErrRouterUnavailable)
	for _, err := range away.WatchCatalog(t.Context()) {
		routerError(t, err, routerservice.ErrRouterUnavailable)
	}
}
