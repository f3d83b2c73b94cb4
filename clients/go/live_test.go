// Runs with a real service and a real backend that does wrong in every way; what the service knows of it afterwards.

package routerservice_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

// places are where clients/conformance/live.py has put the service and the backend.
type places struct {
	Router, Backend, Refused, Kind string
}

// live skips a test where they are not.
func live(t *testing.T) (places, *routerservice.RouterClient) {
	t.Helper()
	told, ok := os.LookupEnv("ROUTER_SERVICE_LIVE")
	if !ok {
		t.Skip("needs a service: make test-clients ARGS=go, or run it under clients/conformance/live.py")
	}
	var where places
	if err := json.Unmarshal([]byte(told), &where); err != nil {
		t.Fatal(err)
	}
	return where, client(t, where.Router)
}

// fault is a run of live.json.
type fault struct {
	DeadlineMs   uint32 `json:"deadline_ms"`
	Replayable   bool
	Outcome      string
	Attempts     [][2]any // class and status
	RetryAfterMs *uint32  `json:"retry_after_ms"`
}

type total struct{ Total *int }

func TestLiveFaults(t *testing.T) {
	where, router := live(t)
	told := vectors[struct{ Runs map[string]fault }](t, "live.json")
	if len(told.Runs) == 0 {
		t.Fatal("no runs")
	}
	for name, one := range told.Runs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := name + "-" + where.Kind
			request := &pb.DecideRequest{Request: &pb.RouteRequest{Model: model, DeadlineMs: &one.DeadlineMs}}
			var options []routerservice.RunOption
			if one.Replayable {
				options = append(options, routerservice.Replayable())
			}
			answer, err := routerservice.Run(t.Context(), router, request, routerservice.Accept(where.call, acceptTotal), options...)
			checkLive(t, name, one, answer, err)
			checkTrace(t, router, one, resultOf(t, answer, err))
			if one.RetryAfterMs != nil { // the bad endpoint is left out for so long
				checkLeftOut(t, router, model)
			}
		})
	}
}

// call makes one attempt with net/http, as a proxy does that streams.
func (p places) call(ctx context.Context, attempt *routerservice.Try) (total, error) {
	var answer total
	path, _, _ := strings.Cut(attempt.EndpointID(), "@")
	base := p.Backend
	if path == "refused" {
		base = p.Refused
	}
	request, err := newRequest(ctx, base+"/"+path)
	if err != nil {
		return answer, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer, err
	}
	first := make([]byte, 4)
	if _, err := io.ReadFull(response.Body, first); err != nil {
		return answer, errors.Join(err, response.Body.Close())
	}
	attempt.FirstToken()
	if path == "truncated" {
		attempt.PassedOn()
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first), response.Body), response.Body}
	err = routerservice.ReadJSON(response, &answer)
	return answer, err
}

func acceptTotal(answer total) error {
	if answer.Total == nil {
		return errors.New("no total")
	}
	return nil
}

func resultOf[T any](t *testing.T, answer *routerservice.Answer[T], err error) routerservice.Result {
	t.Helper()
	if err == nil {
		return answer.Result
	}
	return notAnswered(t, err).Result
}

func checkLive(t *testing.T, name string, one fault, answer *routerservice.Answer[total], err error) {
	t.Helper()
	result := resultOf(t, answer, err)
	want(t, string(result.Outcome), one.Outcome)
	if err == nil && *answer.Value.Total != 12 {
		t.Error(answer.Value)
	}
	var got [][2]any
	for _, attempt := range result.Attempts {
		got = append(got, [2]any{attempt.GetFailureClass(), float64(attempt.GetStatusCode())})
		if path, _, _ := strings.Cut(attempt.GetEndpointId(), "@"); path != name && path != "good" {
			t.Error(attempt)
		}
	}
	want(t, fmt.Sprint(got), fmt.Sprint(one.Attempts))
	if one.RetryAfterMs != nil && result.Attempts[0].GetRetryAfterMs() != *one.RetryAfterMs {
		t.Error(result.Attempts[0])
	}
}

// checkTrace compares what the service keeps with what was reported.
func checkTrace(t *testing.T, router *routerservice.RouterClient, one fault, result routerservice.Result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := router.Reports().Flush(ctx); err != nil {
		t.Fatal(err)
	}
	trace, err := router.GetTrace(ctx, result.Report.GetTraceId())
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.GetReports()) != 1 {
		t.Fatalf("%d reports", len(trace.GetReports()))
	}
	kept := proto.CloneOf(trace.GetReports()[0])
	kept.Caller = "" // the service's own note
	if !proto.Equal(kept, result.Report) {
		t.Errorf("got  %v\nwant %v", kept, result.Report)
	}
	want(t, kept.GetOutcome(), one.Outcome)
}

func checkLeftOut(t *testing.T, router *routerservice.RouterClient, model string) {
	t.Helper()
	answer, err := router.Decide(t.Context(), &pb.DecideRequest{Request: &pb.RouteRequest{Model: model}})
	if err != nil {
		t.Fatal(err)
	}
	left := answer.GetDecision().GetCandidates()
	if len(left) != 1 || left[0].GetEndpointId() != "good@"+model {
		t.Error(left)
	}
}

func TestLiveExample(t *testing.T) {
	t.Parallel()
	where, _ := live(t)
	source, err := os.ReadFile(filepath.Join("examples", "ask", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(source, []byte("\n")); lines > 40 {
		t.Errorf("%d lines", lines)
	}
	run := exec.CommandContext(t.Context(), "go", "run", "./examples/ask", where.Backend+"/v1", "Is it?")
	run.Env = append(os.Environ(), "ROUTER="+where.Router)
	said, err := run.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%v: %s", err, failed.Stderr)
	}
	want(t, string(said), "Yes.\n")
}
