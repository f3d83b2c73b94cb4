// Run: decides, calls the candidates one after the other by the rules, and reports.

package routerservice

import (
	"context"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	pb "router-service.example/clients/go/v1"
)

// Call makes one attempt, within the context's deadline and without retries of its own, and returns the whole answer: its
// context ends when it returns. Its error may be a [*CallFailedError], or what an HTTP or gRPC library or an SDK
// returns ([SeenOfError]). Any other error is a fault of the caller's own, which ends the run and counts against no
// endpoint.
type Call[T any] func(ctx context.Context, attempt *Try) (T, error)

// Accept is a call whose answers are checked before anybody gets them. What accept has against an answer it says in words
// that hold nothing of it, since they are reported; nil is accepted. Then the next endpoint is asked.
func Accept[T any](call Call[T], accept func(answer T) error) Call[T] {
	return func(ctx context.Context, attempt *Try) (T, error) {
		answer, err := call(ctx, attempt)
		attempt.end()
		if err != nil {
			return answer, err
		}
		if why := accept(answer); why != nil {
			attempt.wasChecked(refused)
			failed := NotAccepted(why.Error())
			failed.Err = why
			return answer, failed
		}
		attempt.wasChecked(accepted)
		return answer, nil
	}
}

// RunOption is something that [Run] is told.
type RunOption func(*runSettings)

type runSettings struct {
	replayable bool
	canCall    func(*pb.Candidate) bool
	runtime    Runtime
}

// Replayable allows to send again what may have been carried out already. Without it an attempt of which it is not known
// what became ends the run as [Ambiguous].
func Replayable() RunOption { return func(s *runSettings) { s.replayable = true } }

// CanCall says which candidates the caller can call at all, where those are not all that the catalogue has; the others are
// passed over as if they were not listed.
func CanCall(canCall func(candidate *pb.Candidate) bool) RunOption {
	return func(s *runSettings) { s.canCall = canCall }
}

// WithRuntime gives a run its time, sleep and chance.
func WithRuntime(runtime Runtime) RunOption { return func(s *runSettings) { s.runtime = runtime } }

// Run decides, calls the candidates in order until one answers, and reports in the background.
//
// The deadline of the context is that of the request too, where the request names none or a later one. Where the context
// is cancelled, so is the call, and the run is reported as cancelled. Of an inline request nothing is reported, since it
// leaves no trace.
//
// The error is a [*RouterError] where there is no decision: there is no default endpoint, and nothing was called. Else it
// is a [*NotAnsweredError], of a refusal too.
func Run[T any](
	ctx context.Context, router *RouterClient, request *pb.DecideRequest, call Call[T], options ...RunOption,
) (*Answer[T], error) {
	var told runSettings
	for _, option := range options {
		option(&told)
	}
	told.runtime = told.runtime.whole()
	begun := told.runtime.Now()
	message := asked(ctx, request)
	answer, err := router.decideInTime(ctx, message)
	if err != nil {
		return nil, err
	}
	under := &course[T]{router: router, call: call, operation: message.GetOperationId(), inline: message.Inline != nil}
	under.result.Decision, under.result.Refusal = answer.GetDecision(), answer.GetRefusal()
	if under.result.Decision == nil {
		under.result.Outcome = Refused
		return nil, &NotAnsweredError{Result: under.result}
	}
	under.failover = newFailover(message.GetRequest(), answer.GetDecision(), begun, &told)
	return under.run(ctx, told.runtime)
}

// asked is a request of which the deadline is the context's where that is sooner.
func asked(ctx context.Context, request *pb.DecideRequest) *pb.DecideRequest {
	message := &pb.DecideRequest{}
	proto.Merge(message, request)
	if message.Request == nil {
		message.Request = &pb.RouteRequest{}
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := held(time.Until(deadline).Milliseconds())
		if own := message.Request.DeadlineMs; own == nil || left < *own {
			message.Request.DeadlineMs = &left
		}
	}
	return message
}

// decideInTime is Decide within the request's own deadline.
func (c *RouterClient) decideInTime(ctx context.Context, message *pb.DecideRequest) (*pb.DecideResponse, error) {
	timeout := c.timeout
	if own := message.GetRequest().DeadlineMs; own != nil {
		timeout = min(timeout, time.Duration(*own)*time.Millisecond)
	}
	return once(ctx, c, timeout, c.router.Decide, message)
}

func newFailover(asked *pb.RouteRequest, decision *pb.Decision, begun time.Time, told *runSettings) *failover {
	made := &failover{
		now:         told.runtime.Now,
		random:      told.runtime.Random,
		begun:       begun,
		spendable:   spendable(asked, decision),
		maxAttempts: maxAttempts,
		replayable:  told.replayable,
		decision:    decision,
	}
	if most := asked.GetMaxAttempts(); most > 0 {
		made.maxAttempts = int(min(most, math.MaxInt32))
	}
	for _, one := range decision.GetCandidates() {
		if told.canCall == nil || told.canCall(one) {
			made.places = append(made.places, &place{candidate: one})
		}
	}
	return made
}

// spendable is what can be spent on attempts, in ms: of the request's deadline, or of the workload's where that is
// shorter. Allowances are rounded down, so that they add up to at most one less per candidate.
func spendable(asked *pb.RouteRequest, decision *pb.Decision) *int64 {
	var own *int64
	if asked.DeadlineMs != nil {
		own = new(spendableMs(int64(*asked.DeadlineMs)))
	}
	var sum, count int64
	for _, one := range decision.GetCandidates() {
		if one.AllowanceMs != nil {
			sum += int64(*one.AllowanceMs)
			count++
		}
	}
	if count == 0 || own != nil && *own < sum+count {
		return own
	}
	return &sum
}
