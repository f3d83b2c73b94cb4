// The failover loop: which candidate is tried next, when, and how long, and when to end. It makes no calls itself.

package routerservice

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"time"

	pb "router-service.example/clients/go/v1"
)

const (
	maxAttempts = 3
	// againWithinMs: an endpoint that could not be reached is tried once more where that became clear within this time.
	againWithinMs = 1000
)

// Outcome is how a run ended.
type Outcome string

// The outcomes; all but Refused are reported.
const (
	// Accepted: an endpoint answered, and acceptance has nothing against it.
	Accepted Outcome = "accepted"
	// Rejected: the last answer failed acceptance.
	Rejected Outcome = "rejected"
	// Failed: no endpoint brought an answer.
	Failed Outcome = "failed"
	// DeadlineExhausted: something was left to try, and no time for it.
	DeadlineExhausted Outcome = "deadline_exhausted"
	// Ambiguous: it is not known whether the request was carried out.
	Ambiguous Outcome = "ambiguous"
	// CancelledByCaller: the caller wanted no answer any more.
	CancelledByCaller Outcome = "cancelled"
	// Refused: the decision was a refusal, and nothing was tried.
	Refused Outcome = "refused"
)

// place is a candidate and what has become of it.
type place struct {
	candidate         *pb.Candidate
	tried, triedAgain bool
	readyAt           *int64 // when its Retry-After is over, in ms of the run
}

func (p *place) need() int64 { return int64(p.candidate.GetNeedMs()) }

// failover is one run down a decision's candidates, best first; nothing else is tried.
type failover struct {
	now         func() time.Time
	random      func() float64
	begun       time.Time // when the run began; the time that Decide took is part of it
	spendable   *int64    // what could be spent on attempts then, in ms; nil without a deadline
	maxAttempts int       // in all, second tries on the same endpoint counted
	replayable  bool      // whether it may be sent again where it is not known what became of it
	decision    *pb.Decision
	places      []*place // the decision's candidates that can be called

	attempts []*pb.Attempt
	again    *place
	retries  int
	window   uint64
	short    bool // something was left that had no time
	last     string
}

// doing is what a failover has others do: wait, and make an attempt, which says what was seen where it brought no
// answer.
type doing struct {
	wait func(ctx context.Context, ms int64) error
	call func(ctx context.Context, attempt *Try) *Seen
}

// run goes down the candidates until one answers or nothing is left to be done.
func (f *failover) run(ctx context.Context, do doing) Outcome {
	for len(f.attempts) < f.maxAttempts {
		next, wait := f.next()
		if next == nil {
			break
		}
		err := ctx.Err()
		if err == nil && wait > 0 {
			err = do.wait(ctx, wait)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return DeadlineExhausted
		}
		if err != nil {
			return CancelledByCaller
		}
		allowed, ok := f.allowance(next, 0)
		if !ok { // it took longer to wake up, or just now
			f.short = true
			continue
		}
		if next.tried {
			f.retries++
		}
		next.tried = true
		attempt := newTry(next.candidate, len(f.attempts)+1, allowed, f.now)
		attempt.Decision = f.decision
		seen := do.call(ctx, attempt)
		if seen == nil {
			f.attempts = append(f.attempts, attempt.succeeded())
			return Accepted
		}
		verdict := Classify(*seen, f.now())
		f.attempts = append(f.attempts, attempt.failed(*seen, verdict))
		f.last = verdict.FailureClass
		if seen.Kind == KindCallerCancelled {
			return CancelledByCaller
		}
		if attempt.wasPassedOn() || !f.goesOn(next, verdict, attempt) {
			return f.byLast()
		}
	}
	if f.short && len(f.attempts) < f.maxAttempts {
		return DeadlineExhausted
	}
	return f.byLast()
}

// byLast is the outcome that the class of the last attempt tells.
func (f *failover) byLast() Outcome {
	switch f.last {
	case "invalid_response":
		return Rejected
	case "ambiguous":
		return Ambiguous
	}
	return Failed
}

// next is the next to be tried and how long to wait before, in ms; nil where nobody is left.
func (f *failover) next() (*place, int64) {
	if again := f.again; again != nil {
		f.again = nil
		wait := jitterMs(f.retries, f.random())
		if _, ok := f.allowance(again, wait); ok {
			return again, wait
		}
		f.short = true
	}
	for one := range f.fresh() {
		if _, ok := f.allowance(one, 0); ok {
			return one, 0
		}
		f.short = true
		one.tried = true // time only gets shorter
	}
	return f.postponed()
}

// postponed is, with nobody else left, the first that is ready of those that asked for a pause which fits the time left.
func (f *failover) postponed() (*place, int64) {
	gone, left := f.gone(), f.left()
	waiting := slices.Collect(f.those(func(one *place) bool { return one.readyAt != nil }))
	slices.SortStableFunc(waiting, func(a, b *place) int { return cmp.Compare(*a.readyAt, *b.readyAt) })
	for _, one := range waiting {
		wait := max(0, *one.readyAt-gone)
		one.readyAt = nil
		if f.isWideEnough(one) && fits(wait, one.need(), left) {
			return one, wait
		}
	}
	return nil, 0
}

// goesOn notes what a verdict means for the candidates, and says whether anything may be tried after it.
func (f *failover) goesOn(at *place, verdict Verdict, attempt *Try) bool {
	switch verdict.Then {
	case Stop:
		return false
	case NextIfReplayable:
		return f.replayable
	case NextLargerContext:
		window := uint64(at.candidate.GetContextWindow())
		if window == 0 { // where this one's window is not known, none is known to be larger
			window = math.MaxUint64
		}
		f.window = max(f.window, window)
	case SameOnce:
		if attempt.latencyMs() < againWithinMs && !at.triedAgain {
			at.triedAgain = true
			f.again = at
		}
	case NextElseSame:
		if verdict.RetryAfterMs != nil {
			at.readyAt = new(f.gone() + int64(*verdict.RetryAfterMs))
		}
	case Next:
	}
	return true
}

// allowance is the time of an attempt after a wait of so many ms, nil without a deadline; false where it does not fit.
func (f *failover) allowance(at *place, wait int64) (*allotted, bool) {
	left := f.left()
	if left == nil {
		return nil, true
	}
	needs := []int64{at.need()}
	for one := range f.fresh() {
		if one != at {
			needs = append(needs, one.need())
		}
	}
	share, ok := allowanceMs(*left-wait, needs, f.maxAttempts-len(f.attempts))
	return &allotted{share: share, rest: *left - wait}, ok
}

// fresh are those not tried yet that may be, down the list.
func (f *failover) fresh() iter.Seq[*place] {
	return f.those(func(one *place) bool { return !one.tried && f.isWideEnough(one) })
}

func (f *failover) those(holds func(*place) bool) iter.Seq[*place] {
	return func(yield func(*place) bool) {
		for _, one := range f.places {
			if holds(one) && !yield(one) {
				return
			}
		}
	}
}

// isWideEnough: after a request was too long for a window, only a window known to be larger will do.
func (f *failover) isWideEnough(at *place) bool {
	return f.window == 0 || uint64(at.candidate.GetContextWindow()) > f.window
}

func (f *failover) gone() int64 { return f.now().Sub(f.begun).Round(time.Millisecond).Milliseconds() }

func (f *failover) left() *int64 {
	if f.spendable == nil {
		return nil
	}
	return new(*f.spendable - f.gone())
}
