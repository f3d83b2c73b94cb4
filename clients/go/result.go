// What came of a run, where it was answered and where it was not.

package routerservice

import (
	"fmt"
	"strings"

	pb "router-service.example/clients/go/v1"
)

// Result is what came of a request that was decided.
type Result struct {
	// Outcome is how it ended.
	Outcome Outcome
	// Decision is the failover list and why; nil of a refusal.
	Decision *pb.Decision
	// Refusal is in its place.
	Refusal *pb.Refusal
	// Attempts are what was tried, in order, as reported.
	Attempts []*pb.Attempt
	// Report is what the service is told in the background; nil of a refusal or an inline request.
	Report *pb.Report
	// Failure is what was seen of the last attempt that failed, for a proxy to pass on; nil where none did.
	Failure *Seen
}

// Answer is what an endpoint answered, with how that came about.
type Answer[T any] struct {
	Result
	// Value is what the call returned.
	Value T
}

// NotAnsweredError is returned by [Run] where no endpoint brought an answer that was accepted; it tells all of it. It
// wraps the error of the last call, or of the caller's own context.
type NotAnsweredError struct {
	Result

	cause error
	fault bool // the cause is the caller's own
}

// Error names the outcome and what was tried; words of an endpoint it never has.
func (e *NotAnsweredError) Error() string {
	text := string(e.Outcome) + ": "
	if e.Refusal != nil {
		return text + e.Refusal.GetMessage()
	}
	tried := make([]string, len(e.Attempts))
	for i, one := range e.Attempts {
		tried[i] = fmt.Sprintf("%s (%s)", one.GetEndpointId(), summary(one))
	}
	if len(tried) == 0 {
		tried = []string{"none"}
	}
	text += "tried: " + strings.Join(tried, ", ")
	if e.fault { // what endpoints say may hold words of the request, and is had by errors.As and errors.Unwrap
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap is the error of the last call; nil where nothing was called.
func (e *NotAnsweredError) Unwrap() error { return e.cause }

// summary is an attempt in a few words.
func summary(attempt *pb.Attempt) string {
	var words []string
	if class := attempt.GetFailureClass(); class != "" {
		words = append(words, class)
	}
	if attempt.GetStatusCode() != 0 {
		words = append(words, fmt.Sprint(attempt.GetStatusCode()))
	}
	if code := attempt.GetErrorCode(); code != "" {
		words = append(words, code)
	}
	return strings.Join(words, " ")
}
