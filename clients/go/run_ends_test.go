// How a run ends otherwise: by a fault of the caller's own, without an answer, or with one that tells much.

package routerservice_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

// attempted is what a report says of its attempts: endpoint, class, status.
func attempted(report *pb.Report) string {
	said := report.GetOutcome() + ":"
	for _, one := range report.GetAttempts() {
		said += fmt.Sprintf(" %s %q %d;", one.GetEndpointId(), one.GetFailureClass(), one.GetStatusCode())
	}
	return said
}

func onlyReport(t *testing.T, service *scripted, router *routerservice.RouterClient) *pb.Report {
	t.Helper()
	reports := service.told(router)
	if len(reports) != 1 {
		t.Fatalf("%d reports", len(reports))
	}
	return reports[0]
}

func want(t *testing.T, got, wanted string) {
	t.Helper()
	if got != wanted {
		t.Errorf("got  %s\nwant %s", got, wanted)
	}
}

func notAnswered(t *testing.T, err error) *routerservice.NotAnsweredError {
	t.Helper()
	found, ok := errors.AsType[*routerservice.NotAnsweredError](err)
	if !ok {
		t.Fatalf("no NotAnsweredError: %v", err)
	}
	return found
}

var errMine = errors.New("mine")

func TestAFaultOfOnesOwnIsReportedAndCountsAgainstNoEndpoint(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	_, err := routerservice.Run(t.Context(), router, nil, func(context.Context, *routerservice.Try) (string, error) {
		return "", errMine
	})
	if !errors.Is(err, errMine) || !strings.HasSuffix(err.Error(), ": mine") {
		t.Error(err)
	}
	want(t, attempted(onlyReport(t, service, router)), `failed: a "" 499;`)
}

func TestAPanicIsReportedAndGoesOn(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	func() {
		defer func() {
			if recovered := recover(); recovered != "mine" {
				t.Error(recovered)
			}
		}()
		_, err := routerservice.Run(t.Context(), router, nil, func(context.Context, *routerservice.Try) (string, error) {
			panic("mine")
		})
		t.Error("went on", err)
	}()
	want(t, attempted(onlyReport(t, service, router)), `failed: a "" 499;`)
}

func TestNoAnswerSaysWhatWasTried(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	_, err := routerservice.Run(t.Context(), router, nil, func(_ context.Context, attempt *routerservice.Try) (string, error) {
		status := 503
		if attempt.Number == 2 {
			status = 400
		}
		return "", routerservice.HTTPStatus(status, nil, []byte(`{"error": {"code": "content_filter", "message": "secret"}}`))
	})
	want(t, err.Error(), "failed: tried: a (permanent 503 content_filter)")
	failed := notAnswered(t, err)
	if failed.Failure == nil || failed.Failure.Status != 503 {
		t.Error(failed.Failure)
	}
	if _, ok := errors.AsType[*routerservice.CallFailedError](err); !ok {
		t.Error("the call's own error is not wrapped")
	}
}

func TestARefusalSaysWhy(t *testing.T) {
	service := newScripted(t)
	refusing := vectors[struct{ Runs []runCase }](t, "runs.json")
	for _, one := range refusing.Runs {
		if one.Decide.Refusal != nil {
			service.begin(one.Decide, service.world)
		}
	}
	router := client(t, service.target)
	_, err := routerservice.Run(t.Context(), router, nil, func(context.Context, *routerservice.Try) (string, error) {
		t.Error("called")
		return "", nil
	})
	want(t, err.Error(), "refused: as the vector says")
	refusal := notAnswered(t, err).Refusal
	if refusal.GetHttpStatus() != 503 || refusal.GetRetryAfter().AsDuration() != 40*time.Second {
		t.Error(refusal)
	}
}

func TestWhatTheEndpointTellsIsReportedAndAcceptanceOnlyWhereItWasAsked(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	_, err := routerservice.Run(t.Context(), router, nil, func(_ context.Context, attempt *routerservice.Try) (any, error) {
		attempt.FirstToken()
		attempt.Tell(routerservice.Told{InputTokens: new(uint32(5)), OutputTokens: new(uint32(0)), FinishReason: "stop"})
		attempt.Tell(routerservice.Told{Cost: new(0.5), StatusCode: new(uint32(200))})
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	told := onlyReport(t, service, router).GetAttempts()[0]
	if told.GetInputTokens() != 5 || told.OutputTokens == nil || told.GetFinishReason() != "stop" || told.GetCost() != 0.5 ||
		told.GetStatusCode() != 200 || told.TimeToFirstTokenMs == nil || told.GetValidationResult() != "" ||
		told.GetStartedAt().GetNanos()%1_000_000 != 0 {
		t.Error(told)
	}
}

func TestWhatAcceptanceSaysIsReportedAsFarAsThereIsRoom(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	call := func(context.Context, *routerservice.Try) (string, error) { return "words", nil }
	_, err := routerservice.Run(t.Context(), router, nil, routerservice.Accept(call, func(string) error {
		return fmt.Errorf("%w: %s", errMine, strings.Repeat("ä", 300))
	}))
	if !errors.Is(err, errMine) {
		t.Error(err)
	}
	report := onlyReport(t, service, router)
	want(t, attempted(report), `rejected: a "invalid_response" 200; b "invalid_response" 200;`)
	want(t, report.GetAttempts()[0].GetValidationResult(), "mine: "+strings.Repeat("ä", 194))
}

func TestWhatTheCallerCannotCallIsPassedOver(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	call := func(_ context.Context, attempt *routerservice.Try) (string, error) { return attempt.EndpointID(), nil }
	answer, err := routerservice.Run(t.Context(), router, nil, call, routerservice.CanCall(func(one *pb.Candidate) bool {
		return one.GetEndpointId() == "b"
	}))
	if err != nil || answer.Value != "b" || len(answer.Attempts) != 1 {
		t.Error(answer, err)
	}
	_, err = routerservice.Run(t.Context(), router, nil, call, routerservice.CanCall(func(*pb.Candidate) bool { return false }))
	want(t, notAnswered(t, err).Error(), "failed: tried: none")
}

func TestCandidatesOfOnesOwnAreNotReported(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	request := &pb.DecideRequest{Inline: &pb.Inline{}, OperationId: "mine"}
	answer, err := routerservice.Run(t.Context(), router, request, func(context.Context, *routerservice.Try) (string, error) {
		return "words", nil
	})
	if err != nil || answer.Report != nil || len(service.told(router)) > 0 {
		t.Error(answer, err)
	}
	want(t, service.asked[0].GetOperationId(), "mine")
}

func TestNobodyElseTriesAgain(t *testing.T) {
	service := newScripted(t)
	service.begin(decideCase{Error: new(codes.Unavailable)}, service.world)
	router := client(t, service.target)
	_, err := routerservice.Run(t.Context(), router, nil, func(context.Context, *routerservice.Try) (string, error) {
		t.Error("called")
		return "", nil
	})
	if !errors.Is(err, routerservice.ErrRouterUnavailable) {
		t.Error(err)
	}
	if len(service.asked) != 1 {
		t.Error("asked", len(service.asked), "times")
	}
}
