// What a failed attempt means: its class, what comes next, and what its report tells.

package routerservice

import (
	"net/http"
	"strings"
	"time"
)

// Then is what comes after a failed attempt.
type Then string

// What may come next.
const (
	// SameOnce: the same endpoint once, if less than a second went by since the attempt began; then the next.
	SameOnce Then = "same_once"
	// Next: the next endpoint.
	Next Then = "next"
	// NextElseSame: the next, and the same where nothing else is left and its Retry-After fits.
	NextElseSame Then = "next_else_same"
	// NextIfReplayable: the next where the operation may be sent again; else nothing.
	NextIfReplayable Then = "next_if_replayable"
	// NextLargerContext: the next that is known to have a larger window.
	NextLargerContext Then = "next_larger_context"
	// Stop: nothing.
	Stop Then = "stop"
)

// Verdict is what a failed attempt means.
type Verdict struct {
	// FailureClass is transient, ambiguous, permanent, incompatible or invalid_response; empty where the caller cancelled.
	FailureClass string
	// Then is what comes next.
	Then Then
	// Of is what a permanent failure is of: endpoint or request.
	Of string
	// Effect is what it means for the endpoint: failure, suppressed, invalid or none. The service has the last word: a
	// time-out shorter than the endpoint's need counts against nothing.
	Effect string
	// StatusCode is the status to report, HTTP's or gRPC's; nil where nothing answered.
	StatusCode *uint32
	// ErrorCode is the code to report; empty where there is none.
	ErrorCode string
	// RetryAfterMs is for how many milliseconds the endpoint asks to be left alone; nil where it does not.
	RetryAfterMs *uint32
}

// Classify tells what was seen by the first row of the table of failure classes that holds; now is what a Retry-After's
// date is told from.
func Classify(seen Seen, now time.Time) Verdict {
	rules := table()
	kind, header := seen.Kind, lowered(seen.Header)
	var body any
	var status, reported *int // the status that rows speak of, and the one that is reported
	switch kind {
	case KindGRPC:
		kind, status, reported = ofGRPC(seen, rules)
		body = map[string]any{"error": parsedBody(seen.Body)}
	case KindHTTP:
		body = parsedBody(seen.Body)
		status = &seen.Status
		if 200 <= seen.Status && seen.Status < 300 {
			if own, ok := toldStatus(body, rules.StatusPlaces); ok {
				status = &own
			}
		}
		reported = status
	default:
		if number, ok := rules.KindStatus[kind]; ok {
			reported = &number
		}
	}
	var what told
	verdict := Verdict{StatusCode: unsigned(reported)}
	if status != nil {
		what = toldBy(*status, header, body, rules)
		verdict.RetryAfterMs = retryAfterMs(header, firstAt(body, rules.RetryDelayPlaces), now)
	}
	final := strings.EqualFold(strings.TrimSpace(header["x-should-retry"]), "false")
	for i := range rules.Rows {
		if row := &rules.Rows[i]; row.holds(kind, status, what.subject, final) {
			verdict.FailureClass, verdict.Then, verdict.Of, verdict.Effect = row.Class, row.Then, row.Of, row.Effect
			verdict.ErrorCode = row.Report
			break // the last row holds always
		}
	}
	if verdict.ErrorCode == "" {
		verdict.ErrorCode = what.errorCode
	}
	return verdict
}

// ofGRPC tells the kind, the HTTP status that a gRPC status stands for, and its own number, which is reported.
func ofGRPC(seen Seen, rules *failureClasses) (Kind, *int, *int) {
	name, number := "UNKNOWN", rules.GRPCNumbers["UNKNOWN"]
	for known, its := range rules.GRPCNumbers {
		if its == int(seen.Code) {
			name, number = known, its
		}
	}
	for _, row := range rules.GRPCKinds {
		if row.Code == name && (row.Sent == nil || *row.Sent != seen.NotSent) {
			return row.Kind, nil, &number
		}
	}
	status := rules.GRPC[name]
	return KindHTTP, &status, &number
}

// lowered is the first value of each header, by its name in small letters.
func lowered(header http.Header) map[string]string {
	small := make(map[string]string, len(header))
	for name, values := range header {
		if len(values) > 0 {
			small[strings.ToLower(name)] = values[0]
		}
	}
	return small
}

func unsigned(number *int) *uint32 {
	if number == nil || *number < 0 {
		return nil
	}
	return new(uint32(*number))
}
