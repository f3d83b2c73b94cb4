// What was seen of a failed attempt, and the error that carries it out of a call.

package routerservice

import (
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"
)

// Kind is what was seen of an attempt that brought no answer.
type Kind string

// The kinds.
const (
	// KindConnect: refused, unresolvable, TLS failure, or timed out before the request was sent.
	KindConnect Kind = "connect"
	// KindLost: lost or timed out after it was sent, nothing received.
	KindLost Kind = "lost"
	// KindBrokenOff: broken off after a part of the answer was passed on.
	KindBrokenOff Kind = "broken_off"
	// KindHTTP: an answer over HTTP that is an error.
	KindHTTP Kind = "http"
	// KindGRPC: an answer over gRPC that is an error.
	KindGRPC Kind = "grpc"
	// KindCallerCancelled: the caller wants no answer any more.
	KindCallerCancelled Kind = "caller_cancelled"
	// KindAcceptanceFailed: an answer that acceptance refuses.
	KindAcceptanceFailed Kind = "acceptance_failed"
	// KindContentRefused: an answer that only says that the endpoint will not speak of this.
	KindContentRefused Kind = "content_refused"
)

// Seen is what was seen of an attempt that brought no answer.
type Seen struct {
	Kind Kind
	// Status is the HTTP status of KindHTTP.
	Status int
	// Header is that of the answer; names count in any case.
	Header http.Header
	// Body is the JSON of the answer, as encoding/json reads it into an any, or its text as a string or []byte.
	Body any
	// Code is the status of KindGRPC.
	Code codes.Code
	// NotSent says of KindGRPC that the call had not reached the wire.
	NotSent bool
	// Why is for people: what acceptance said, which is reported, or what could not be connected to, which is not.
	Why string
}

// CallFailedError is what a call returns that made an attempt without an answer. Errors of net/http, of gRPC and of the
// usual SDKs say by themselves what was seen ([SeenOfError]); this one is for what they do not know.
type CallFailedError struct {
	Seen Seen
	// Err is what it came of, and may be nil.
	Err error
}

// Error never has words of an answer, unless Err does.
func (e *CallFailedError) Error() string {
	told := []string{"attempt failed: " + string(e.Seen.Kind)}
	if e.Seen.Kind == KindHTTP {
		told = append(told, fmt.Sprint(e.Seen.Status))
	}
	if e.Seen.Kind == KindGRPC {
		told = append(told, e.Seen.Code.String())
	}
	text := strings.Join(told, " ")
	switch {
	case e.Err != nil:
		return text + ": " + e.Err.Error()
	case e.Seen.Why != "":
		return text + ": " + e.Seen.Why
	}
	return text
}

// Unwrap is what it came of.
func (e *CallFailedError) Unwrap() error { return e.Err }

// NotConnected is refused, unresolvable, a TLS failure, or timed out before the request was sent. The cause may be nil.
func NotConnected(cause error) *CallFailedError {
	return &CallFailedError{Seen: Seen{Kind: KindConnect}, Err: cause}
}

// Lost is lost or timed out after the request was sent, nothing received. The cause may be nil.
func Lost(cause error) *CallFailedError {
	return &CallFailedError{Seen: Seen{Kind: KindLost}, Err: cause}
}

// BrokenOff is broken off after a part of the answer was passed on. The cause may be nil.
func BrokenOff(cause error) *CallFailedError {
	return &CallFailedError{Seen: Seen{Kind: KindBrokenOff}, Err: cause}
}

// Cancelled says that the caller wants no answer any more.
func Cancelled() *CallFailedError { return &CallFailedError{Seen: Seen{Kind: KindCallerCancelled}} }

// NotAccepted is an answer that fails acceptance, and why; no words of the answer, since they are reported.
func NotAccepted(why string) *CallFailedError {
	return &CallFailedError{Seen: Seen{Kind: KindAcceptanceFailed, Why: why}}
}

// ContentRefused is an answer that only says that the endpoint will not speak of this.
func ContentRefused() *CallFailedError { return &CallFailedError{Seen: Seen{Kind: KindContentRefused}} }

// HTTPStatus is an answer over HTTP that is an error: its status, header, and body as it came.
func HTTPStatus(status int, header http.Header, body []byte) *CallFailedError {
	return &CallFailedError{Seen: Seen{Kind: KindHTTP, Status: status, Header: header, Body: body}}
}
