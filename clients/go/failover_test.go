// The loop where the vectors say nothing, and what holds of every run.

package routerservice_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

// looped are the calls of a loop with their time-outs, and the outcome; every call takes takesMs and ends in a 503.
func looped(asked *pb.RouteRequest, takesMs int64, candidates ...*pb.Candidate) string {
	now := &world{start: time.Now()}
	runtime := now.runtime(func(context.Context, time.Duration) error { return nil })
	var said []string
	outcome, _ := routerservice.Loop(asked, &pb.Decision{Candidates: candidates}, runtime, false,
		func(attempt *routerservice.Try) *routerservice.Seen {
			said = append(said, fmt.Sprint(attempt.EndpointID(), " ", attempt.Timeout.Milliseconds()))
			now.goOn(takesMs)
			return &routerservice.Seen{Kind: routerservice.KindHTTP, Status: 503}
		})
	return strings.Join(append(said, string(outcome)), ", ")
}

func TestWhereAllAttemptsAreUsedUpTimeWasNotWhatLacked(t *testing.T) {
	asked := &pb.RouteRequest{DeadlineMs: new(uint32(8000)), MaxAttempts: new(uint32(2))}
	candidates := []*pb.Candidate{{EndpointId: "a", NeedMs: 600}, {EndpointId: "b", NeedMs: 600}, {EndpointId: "c", NeedMs: 100}}
	want(t, looped(asked, 7200, candidates...), "a 4500, c 500, failed")
	asked.MaxAttempts = new(uint32(3))
	want(t, looped(asked, 7200, candidates...), "a 3473, c 500, deadline_exhausted")
}

func TestAllowancesThatAddUpToTheDeadlineButForRoundingChangeNothing(t *testing.T) {
	asked := &pb.RouteRequest{DeadlineMs: new(uint32(8000))}
	for last, wanted := range map[uint32]string{
		1756: "a 3473, b 4499, c 7698, failed", // 7699 in all, of 7700
		1754: "a 3472, b 4497, c 7695, failed", // 7697: a workload's
	} {
		want(t, looped(asked, 1,
			&pb.Candidate{EndpointId: "a", AllowanceMs: new(uint32(3473))},
			&pb.Candidate{EndpointId: "b", AllowanceMs: new(uint32(2470))},
			&pb.Candidate{EndpointId: "c", AllowanceMs: &last},
		), wanted)
	}
}

// FuzzRuns holds what is true of every run, whatever backends do.
func FuzzRuns(f *testing.F) {
	for seed := range uint64(400) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkAnyRun(t, newChance(seed)) })
}

func checkAnyRun(t *testing.T, chance *chance) {
	now := &world{start: time.Now()}
	asked, decision := chance.asked(), chance.decision()
	replayable := chance.oneIn(2)
	var calls []string
	var last *routerservice.Seen
	runtime := routerservice.Runtime{
		Now:    now.now,
		Random: chance.Float64,
		Sleep: func(_ context.Context, d time.Duration) error {
			if ms := d.Milliseconds(); len(calls) == 0 || ms <= 0 || ms > 60_000 {
				t.Errorf("a wait of %d ms before attempt %d", ms, len(calls)+1)
			}
			now.goOn(d.Milliseconds())
			return nil
		},
	}
	outcome, attempts := routerservice.Loop(asked, decision, runtime, replayable, func(attempt *routerservice.Try) *routerservice.Seen {
		if last != nil && (routerservice.Classify(*last, now.now()).Then == routerservice.Stop ||
			last.Kind == routerservice.KindLost && !replayable) {
			t.Errorf("went on after %+v", last)
		}
		if asked.DeadlineMs != nil {
			left := routerservice.SpendableMs(int64(asked.GetDeadlineMs())) - now.goneMs
			if got := attempt.Timeout.Milliseconds(); got < int64(attempt.Candidate.GetNeedMs()) || got > left {
				t.Errorf("a time-out of %d ms, need %d, left %d", got, attempt.Candidate.GetNeedMs(), left)
			}
		}
		calls = append(calls, attempt.EndpointID())
		now.goOn(chance.Int64N(4000))
		last = chance.seen()
		return last
	})
	if len(calls) > int(asked.GetMaxAttempts()) || len(attempts) != len(calls) {
		t.Errorf("%d calls, %d attempts of at most %d", len(calls), len(attempts), asked.GetMaxAttempts())
	}
	if accepted := len(calls) > 0 && last == nil; (outcome == routerservice.Accepted) != accepted {
		t.Errorf("outcome %s", outcome)
	}
	var firsts []string
	for _, one := range calls {
		if !slices.Contains(firsts, one) {
			firsts = append(firsts, one)
		}
	}
	if !slices.IsSorted(firsts) {
		t.Errorf("not down the list: %v", calls)
	}
}
