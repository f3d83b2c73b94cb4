// What tests look at that callers do not.

package routerservice

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	pb "router-service.example/clients/go/v1"
)

var (
	SpendableMs  = spendableMs
	AllowancesMs = allowancesMs
	AllowanceMs  = allowanceMs
	JitterMs     = jitterMs
	Fits         = fits
	Pause        = pause
)

// FailureClassesJSON is the table as it ships.
func FailureClassesJSON() []byte { return failureClassesJSON }

// NewReportQueue is a queue of its own, which waits as it is told.
func NewReportQueue(
	send func(context.Context, *pb.Report) error, limit int, wait func(ctx context.Context, failures int) error,
) *ReportQueue {
	made := newReportQueue(send, &settings{reportLimit: limit, logger: slog.New(slog.DiscardHandler)})
	made.wait = wait
	return made
}

// CloseWithin is what closing the client does with the queue.
func (q *ReportQueue) CloseWithin(timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return q.close(ctx)
}

// TransportOf is how a client with these options opens its connection.
func TransportOf(options ...Option) credentials.TransportCredentials {
	return newSettings(options).transport()
}

// Loop is a run without a service: down the candidates, with everything else given. It tells how it ended and what was
// reported of the attempts.
func Loop(
	asked *pb.RouteRequest, decision *pb.Decision, runtime Runtime, replayable bool, call func(*Try) *Seen,
) (Outcome, []*pb.Attempt) {
	loop := newFailover(asked, decision, runtime.Now(), &runSettings{replayable: replayable, runtime: runtime})
	outcome := loop.run(context.Background(), doing{
		wait: func(ctx context.Context, ms int64) error {
			return runtime.Sleep(ctx, time.Duration(ms)*time.Millisecond)
		},
		call: func(_ context.Context, attempt *Try) *Seen {
			seen := call(attempt)
			attempt.end()
			return seen
		},
	})
	return outcome, loop.attempts
}

// UnmarshalJSON reads what was seen as the vectors write it.
func (s *Seen) UnmarshalJSON(text []byte) error {
	type plain Seen
	written := struct {
		*plain
		Headers map[string]string `json:"headers"`
		Sent    *bool             `json:"sent"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(text, &written); err != nil {
		return err
	}
	s.NotSent = written.Sent != nil && !*written.Sent
	for name, value := range written.Headers {
		if s.Header == nil {
			s.Header = map[string][]string{}
		}
		s.Header[name] = []string{value} // in the case it came in
	}
	return nil
}

// MadeError is the error of a call that the service answered so.
func MadeError(code codes.Code, reason pb.ErrorReason) error {
	told, err := status.New(code, "as the test says").WithDetails(&errdetails.ErrorInfo{Reason: reason.String()})
	if err != nil {
		panic(err)
	}
	return routerError(context.Background(), told.Err())
}
