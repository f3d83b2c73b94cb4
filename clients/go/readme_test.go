// What README.md shows runs: its blocks are the bodies of these functions.

package routerservice_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

type completion struct {
	Choices []struct{ Message struct{ Content string } }
	Usage   struct {
		Input  *uint32 `json:"prompt_tokens"`
		Output *uint32 `json:"completion_tokens"`
	}
}

type readmeBackend struct {
	url    string
	header http.Header
}

func readmeDecide(ctx context.Context, target string) error {
	router, err := routerservice.New(target) // 127.0.0.1:50051
	if err != nil {
		return err
	}
	defer router.Close()

	answer, err := router.Decide(ctx, &pb.DecideRequest{
		Request: &pb.RouteRequest{Model: "mistral-large", InputTokens: new(uint32(1200)), OutputTokens: new(uint32(400))},
	})
	if err != nil {
		return err // there is no default endpoint: the request may go nowhere
	}
	for _, candidate := range answer.GetDecision().GetCandidates() { // best first; nothing outside this list may be tried
		fmt.Println(candidate.GetEndpointId(), candidate.GetNeedMs())
	}
	if refusal := answer.GetRefusal(); refusal != nil { // a refusal is an answer, not an error
		fmt.Println(refusal.GetCode(), refusal.GetMessage())
	}
	return nil
}

func readmeRun(
	ctx context.Context, router *routerservice.RouterClient, backends map[string]readmeBackend, body map[string]any,
) error {
	call := func(ctx context.Context, attempt *routerservice.Try) (completion, error) {
		backend := backends[attempt.EndpointID()] // yours: the service knows no credentials
		answer, err := routerservice.PostJSON[completion](ctx, http.DefaultClient, backend.url, backend.header, body)
		attempt.Tell(routerservice.Told{InputTokens: answer.Usage.Input, OutputTokens: answer.Usage.Output})
		return answer, err
	}
	accept := func(answer completion) error {
		if len(answer.Choices) == 0 {
			return errors.New("no choices")
		}
		return nil
	}

	request := &pb.DecideRequest{OperationId: "order-17", Request: &pb.RouteRequest{DeadlineMs: new(uint32(8000))}}
	answer, err := routerservice.Run(ctx, router, request, routerservice.Accept(call, accept))
	if notAnswered, ok := errors.AsType[*routerservice.NotAnsweredError](err); ok {
		fmt.Println(notAnswered.Outcome, notAnswered.Attempts, notAnswered.Refusal) // why there is none
	}
	if err != nil {
		return err
	}
	fmt.Println(answer.Value.Choices[0].Message.Content, answer.Attempts)
	return nil
}

func readmeReport(ctx context.Context, router *routerservice.RouterClient, answer *pb.DecideResponse) error {
	decision := answer.GetDecision()
	attempt := &pb.Attempt{
		AttemptId: "1", EndpointId: decision.GetCandidates()[0].GetEndpointId(),
		LatencyMs: new(uint32(640)), InputTokens: new(uint32(1180)), OutputTokens: new(uint32(212)),
	}
	report := &pb.Report{TraceId: decision.GetTraceId(), Outcome: "accepted", Attempts: []*pb.Attempt{attempt}}
	if _, err := router.Report(ctx, report); err != nil { // may be sent again, and counts once
		return err
	}
	trace, err := router.GetTrace(ctx, decision.GetTraceId()) // as it was decided, with its reports
	if err != nil {
		return err
	}
	fmt.Println(trace.GetReports())

	since := timestamppb.New(time.Now().AddDate(0, 0, -1))
	for trace, err := range router.ListTraces(ctx, &pb.ListTracesRequest{Outcome: "budget_exceeded", Since: since}) {
		if err != nil {
			return err
		}
		fmt.Println(trace.GetTraceId(), trace.GetRefusal().GetMessage())
	}
	return nil
}

func readmeSecure(token func(context.Context) (string, error)) (*routerservice.RouterClient, error) {
	router, err := routerservice.New("router.example:50051",
		routerservice.WithTLS(nil), // the machine's own roots; or a *tls.Config
		routerservice.WithTokenFrom(token),
		routerservice.WithTimeout(500*time.Millisecond),
	)
	return router, err
}

func TestTheReadmesBlocksAreTheseFunctions(t *testing.T) {
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```go\n")[1:]
	for _, one := range blocks {
		block, _, _ := strings.Cut(one, "```")
		block = strings.ReplaceAll(block, "routerservice.DefaultTarget", "target")
		indented := strings.ReplaceAll("\t"+strings.ReplaceAll(strings.TrimSuffix(block, "\n"), "\n", "\n\t"), "\n\t\n", "\n\n")
		if !strings.Contains(string(source), indented) {
			t.Errorf("no function has this block:\n%s", block)
		}
	}
	if len(blocks) != 4 {
		t.Errorf("%d blocks", len(blocks))
	}
}

func TestLiveReadme(t *testing.T) {
	where, router := live(t)
	if err := readmeDecide(t.Context(), where.Router); err != nil {
		t.Error(err)
	}
	backends := map[string]readmeBackend{}
	for one, err := range router.ListEndpoints(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		backends[one.GetEndpoint().GetEndpointId()] = readmeBackend{url: where.Backend + "/v1/chat/completions"}
	}
	if err := readmeRun(t.Context(), router, backends, map[string]any{}); err != nil {
		t.Error(err)
	}
	answer, err := router.Decide(t.Context(), forGood(where))
	if err != nil {
		t.Fatal(err)
	}
	if err := readmeReport(t.Context(), router, answer); err != nil {
		t.Error(err)
	}
	secure, err := readmeSecure(func(context.Context) (string, error) { return "secret", nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := secure.Close(); err != nil {
		t.Error(err)
	}
}
