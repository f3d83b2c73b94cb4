// One run under way: it makes the calls that the failover loop asks for, and tells what came of it.

package routerservice

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"

	pb "router-service.example/clients/go/v1"
)

// course is one run under way.
type course[T any] struct {
	router    *RouterClient
	call      Call[T]
	failover  *failover
	operation string
	inline    bool

	result Result
	value  T
	cause  error // of the last call or wait that failed
	fault  bool  // it was a fault of the caller's own
}

// run calls until an endpoint answers or nothing is left to be tried.
func (c *course[T]) run(ctx context.Context, runtime Runtime) (*Answer[T], error) {
	returned := false
	defer func() {
		if !returned { // a call panicked or ended its goroutine: the service is told all the same
			c.ended(Failed)
		}
	}()
	outcome := c.failover.run(ctx, doing{
		call: c.try,
		wait: func(ctx context.Context, ms int64) error {
			c.cause = runtime.Sleep(ctx, time.Duration(ms)*time.Millisecond)
			return c.cause
		},
	})
	returned = true
	if c.fault {
		outcome = Failed
	}
	c.ended(outcome)
	if outcome == Accepted {
		return &Answer[T]{Result: c.result, Value: c.value}, nil
	}
	if err := ctx.Err(); err != nil && !errors.Is(c.cause, err) {
		c.cause = errors.Join(err, c.cause)
	}
	return nil, &NotAnsweredError{Result: c.result, cause: c.cause, fault: c.fault}
}

// ended fills the result, and has it reported.
func (c *course[T]) ended(outcome Outcome) {
	c.result.Outcome, c.result.Attempts = outcome, c.failover.attempts
	if c.inline {
		return
	}
	c.result.Report = &pb.Report{
		TraceId:     c.result.Decision.GetTraceId(),
		OperationId: c.operation,
		Attempts:    c.result.Attempts,
		Outcome:     string(outcome),
	}
	c.router.reports.Put(c.result.Report)
}

// try makes one attempt, and says what was seen where it brought no answer.
func (c *course[T]) try(ctx context.Context, attempt *Try) *Seen {
	bounded, cancel := boundedBy(ctx, attempt)
	defer cancel()
	var reached wire
	returned := false
	defer func() {
		if !returned {
			attempt.end()
			seen := Seen{Kind: KindCallerCancelled}
			c.failover.attempts = append(c.failover.attempts, attempt.failed(seen, Classify(seen, c.failover.now())))
		}
	}()
	value, err := c.call(reached.watch(bounded), attempt)
	returned = true
	attempt.end()
	c.value, c.cause = value, err
	if err == nil {
		return nil
	}
	seen := c.seen(ctx, bounded, err)
	_, explicit := errors.AsType[*CallFailedError](err)
	switch {
	case seen.Kind == KindCallerCancelled:
	case attempt.spliced():
		seen = Seen{Kind: KindBrokenOff, Why: seen.Why}
	case seen.Kind == KindLost && !explicit && reached.neverReached():
		seen.Kind = KindConnect
	}
	c.result.Failure = &seen
	return &seen
}

// boundedBy is a context that ends with the attempt's time.
func boundedBy(ctx context.Context, attempt *Try) (context.Context, context.CancelFunc) {
	if attempt.told.TimeoutMs == nil {
		return context.WithCancel(ctx)
	}
	bounded, cancel := within(ctx, attempt.Timeout)
	attempt.whenExtended(bounded.extend)
	return bounded, cancel
}

// seen is what an error of a call means within its run.
func (c *course[T]) seen(ctx, bounded context.Context, err error) Seen {
	seen, ok := SeenOfError(err)
	// gRPC says the same of a call that the caller cancelled and of one that the backend did.
	isAnswer := seen.Kind == KindHTTP || seen.Kind == KindAcceptanceFailed ||
		seen.Kind == KindGRPC && seen.Code != codes.Canceled
	switch {
	case errors.Is(ctx.Err(), context.Canceled) && !isAnswer:
		return Seen{Kind: KindCallerCancelled}
	case ok:
		return seen
	case bounded.Err() != nil:
		return Seen{Kind: KindLost} // an error without a name, but the time was up
	}
	c.fault = true
	return Seen{Kind: KindCallerCancelled}
}
