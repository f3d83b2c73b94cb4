// Runs that are cancelled from outside, or run out of time.

package routerservice_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

func TestACallIsCancelledWithItsCallerAndReportedSo(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := routerservice.Run(ctx, router, nil, func(inner context.Context, _ *routerservice.Try) (string, error) {
		cancel()
		select {
		case <-inner.Done():
			return "", fmt.Errorf("of some library: %w", inner.Err())
		case <-time.After(patience):
			return "", errors.New("the call's context lives on")
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	want(t, string(notAnswered(t, err).Outcome), "cancelled")
	want(t, attempted(onlyReport(t, service, router)), `cancelled: a "" 499;`)
}

func TestAnAnswerThatCameBeforeTheCancellationIsReported(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	for seen, reported := range map[*routerservice.Seen]string{
		{Kind: routerservice.KindHTTP, Status: 503}:             `cancelled: a "transient" 503;`,
		{Kind: routerservice.KindGRPC, Code: codes.Canceled}:    `cancelled: a "" 499;`,
		{Kind: routerservice.KindGRPC, Code: codes.Unavailable}: `cancelled: a "transient" 14;`,
		{Kind: routerservice.KindLost}:                          `cancelled: a "" 499;`,
	} {
		service.begin(two, service.world)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := routerservice.Run(ctx, router, nil, func(context.Context, *routerservice.Try) (string, error) {
			cancel()
			return "", &routerservice.CallFailedError{Seen: *seen}
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		want(t, attempted(onlyReport(t, service, router)), reported)
		want(t, string(notAnswered(t, err).Outcome), "cancelled")
	}
}

func TestAnAttemptThatTakesTooLongIsEnded(t *testing.T) {
	t.Parallel()
	service := newScripted(t)
	router := client(t, service.target)
	request := &pb.DecideRequest{Request: &pb.RouteRequest{DeadlineMs: new(uint32(2000))}}
	call := func(ctx context.Context, attempt *routerservice.Try) (string, error) {
		if attempt.Number == 1 {
			<-ctx.Done()
			return "", errors.New("a library that does not say what was the matter")
		}
		return attempt.EndpointID(), nil
	}
	answer, err := routerservice.Run(t.Context(), router, request, call, routerservice.Replayable())
	if err != nil {
		t.Fatal(err)
	}
	want(t, answer.Value, "b")
	want(t, attempted(onlyReport(t, service, router)), `accepted: a "ambiguous" 0; b "" 0;`)
	first := answer.Attempts[0]
	if first.GetTimeoutMs() > 1110 || first.GetLatencyMs() < first.GetTimeoutMs() { // 45/77 of 1900
		t.Error(first)
	}
}

// streamed waits until its context ends, or the time is over that it wants.
func streamed(ctx context.Context, wanted time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wanted):
		return nil
	}
}

func TestACallThatPassedAPartOnMayTakeAllTheTimeThatIsLeft(t *testing.T) {
	t.Parallel()
	service := newScripted(t)
	router := client(t, service.target)
	request := &pb.DecideRequest{Request: &pb.RouteRequest{DeadlineMs: new(uint32(2000))}} // 1110 ms of 1900 for the first
	answer, err := routerservice.Run(t.Context(), router, request, func(ctx context.Context, attempt *routerservice.Try) (string, error) {
		derived, cancel := context.WithCancel(ctx) // as libraries do
		defer cancel()
		before, _ := derived.Deadline()
		attempt.PassedOn()
		attempt.PassedOn() // as with every further part
		after, _ := derived.Deadline()
		kept := attempt.Timeout * 32 / 45 // for the attempt after it
		if by := after.Sub(before); (by - kept).Abs() > 2*time.Millisecond {
			t.Errorf("%v more, %v kept", by, kept)
		}
		return attempt.Decision.GetTraceId(), streamed(derived, attempt.Timeout+100*time.Millisecond)
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, answer.Value, traceID)
	if told := onlyReport(t, service, router).GetAttempts()[0]; told.GetTimeoutMs() > 1110 || told.GetLatencyMs() < told.GetTimeoutMs() {
		t.Error(told)
	}
}

func TestACallThatPassedAPartOnEndsAtTheDeadlineAllTheSame(t *testing.T) {
	t.Parallel()
	service := newScripted(t)
	router := client(t, service.target)
	request := &pb.DecideRequest{Request: &pb.RouteRequest{DeadlineMs: new(uint32(500))}}
	begun := time.Now()
	_, err := routerservice.Run(t.Context(), router, request, func(ctx context.Context, attempt *routerservice.Try) (string, error) {
		attempt.PassedOn()
		derived, cancel := context.WithCancel(ctx)
		defer cancel()
		return "", streamed(derived, patience)
	}, routerservice.Replayable())
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) < 470*time.Millisecond {
		t.Error(err, time.Since(begun))
	}
	want(t, attempted(onlyReport(t, service, router)), `ambiguous: a "ambiguous" 0;`)
}

func TestTheCallersOwnDeadlineIsNotMoved(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := routerservice.Run(ctx, router, nil, func(inner context.Context, attempt *routerservice.Try) (string, error) {
		attempt.PassedOn()
		own, _ := ctx.Deadline()
		if its, ok := inner.Deadline(); !ok || its.After(own) {
			t.Error(its, own)
		}
		return "words", nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTheDeadlineOfTheContextIsTheRequests(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, own := range []*uint32{nil, new(uint32(60_000)), new(uint32(5_000))} {
		request := &pb.DecideRequest{Request: &pb.RouteRequest{DeadlineMs: own}}
		answer, err := routerservice.Run(ctx, router, request, func(inner context.Context, attempt *routerservice.Try) (string, error) {
			if deadline, ok := inner.Deadline(); !ok || attempt.Timeout <= 0 || time.Until(deadline) > attempt.Timeout {
				t.Error("no deadline for the call, or a later one", attempt.Timeout)
			}
			return "words", nil
		})
		if err != nil {
			t.Fatal(err)
		}
		asked := service.asked[len(service.asked)-1].GetRequest().GetDeadlineMs()
		if most := min(uint32(10_000), *cmpOr(own, new(uint32(10_000)))); asked > most || asked == 0 {
			t.Errorf("deadline_ms %d, at most %d", asked, most)
		}
		if own != nil && request.GetRequest().GetDeadlineMs() != *own {
			t.Error("the caller's own message was changed")
		}
		if answer.Attempts[0].TimeoutMs == nil {
			t.Error("no time-out")
		}
	}
}

func cmpOr[T any](first, second *T) *T {
	if first != nil {
		return first
	}
	return second
}

func TestAWaitThatTheDeadlineEndsHasNoTimeLeft(t *testing.T) {
	service := newScripted(t)
	service.begin(decideCase{Candidates: two.Candidates[:1]}, &world{})
	router := client(t, service.target)
	runtime := routerservice.Runtime{Sleep: func(context.Context, time.Duration) error { return context.DeadlineExceeded }}
	_, err := routerservice.Run(t.Context(), router, nil, func(context.Context, *routerservice.Try) (string, error) {
		return "", routerservice.NotConnected(nil)
	}, routerservice.WithRuntime(runtime))
	want(t, string(notAnswered(t, err).Outcome), "deadline_exhausted")
}

// A connection that is never made differs from an answer that never comes only by what net/http says meanwhile.
func TestATimeOutOfConnectingIsToldFromOneAfterIt(t *testing.T) {
	dialing := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	for class, transport := range map[string]*http.Transport{"transient": dialing, "ambiguous": new(http.Transport)} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			service, backend := newScripted(t), newBackend(t)
			router := client(t, service.target)
			http := &http.Client{Transport: transport}
			request := &pb.DecideRequest{Request: &pb.RouteRequest{DeadlineMs: new(uint32(1000)), MaxAttempts: new(uint32(1))}}
			_, err := routerservice.Run(t.Context(), router, request, func(ctx context.Context, _ *routerservice.Try) ([]byte, error) {
				return post(ctx, http, backend+"/hang")
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			want(t, notAnswered(t, err).Attempts[0].GetFailureClass(), class)
			transport.CloseIdleConnections()
		})
	}
}
