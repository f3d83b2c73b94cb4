// Why there is no answer: one error type, its kinds, and how they are made of the gRPC status that the service sent.

package routerservice

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "router-service.example/clients/go/v1"
)

// The kinds of a [RouterError], for errors.Is.
var (
	// ErrRouterUnavailable: the service cannot be reached, has no catalogue yet, or is on its way out. The request may go
	// nowhere. What asks for traces or reports is told so too where the service keeps none, or its store is lost for now.
	ErrRouterUnavailable error = &kindOfError{text: "router-service is unavailable"}
	// ErrRouterTimeout: the service did not answer in time; it is an ErrRouterUnavailable too.
	ErrRouterTimeout error = &kindOfError{"router-service did not answer in time", ErrRouterUnavailable}
	// ErrInvalidRequest: the request makes no sense; Violations names every bad field at once.
	ErrInvalidRequest error = &kindOfError{text: "router-service takes the request for invalid"}
	// ErrEndpointNotListed: a report names an endpoint that the decision did not list, and nothing of the report was
	// taken; it is an ErrInvalidRequest too.
	ErrEndpointNotListed error = &kindOfError{"router-service refuses the report", ErrInvalidRequest}
	// ErrPolicyNotFound: the catalogue has no such policy, or it is not the caller's.
	ErrPolicyNotFound error = &kindOfError{text: "router-service has no such policy"}
	// ErrWorkloadNotFound: the catalogue has no such workload, or not in this version, or it is not the caller's.
	ErrWorkloadNotFound error = &kindOfError{text: "router-service has no such workload"}
	// ErrTraceNotFound: there is no such trace, it is no longer kept, or it is not the caller's.
	ErrTraceNotFound error = &kindOfError{text: "router-service has no such trace"}
	// ErrPermissionDenied: the caller may not ask this; or the server was not started for requests that bring their own
	// policy.
	ErrPermissionDenied error = &kindOfError{text: "router-service denies permission"}
	// ErrUnauthenticated: the service does not know the caller, or the token could not be had.
	ErrUnauthenticated error = &kindOfError{text: "router-service does not know the caller"}
	// ErrLimitExceeded: a limit of the service, or 64 MiB of answer, was exceeded.
	ErrLimitExceeded error = &kindOfError{text: "a limit of router-service was exceeded"}
)

// kindOfError is a kind, which may be a kind of another.
type kindOfError struct {
	text string
	of   error
}

func (k *kindOfError) Error() string { return k.text }

func (k *kindOfError) Unwrap() error { return k.of }

var kindsByCode = map[codes.Code]error{
	codes.Unavailable:       ErrRouterUnavailable,
	codes.DeadlineExceeded:  ErrRouterTimeout,
	codes.InvalidArgument:   ErrInvalidRequest,
	codes.PermissionDenied:  ErrPermissionDenied,
	codes.Unauthenticated:   ErrUnauthenticated,
	codes.ResourceExhausted: ErrLimitExceeded,
}

// What a code alone does not tell.
var kindsByReason = map[string]error{
	pb.ErrorReason_ERROR_REASON_ENDPOINT_NOT_LISTED.String(): ErrEndpointNotListed,
	pb.ErrorReason_ERROR_REASON_POLICY_NOT_FOUND.String():    ErrPolicyNotFound,
	pb.ErrorReason_ERROR_REASON_WORKLOAD_NOT_FOUND.String():  ErrWorkloadNotFound,
	pb.ErrorReason_ERROR_REASON_TRACE_NOT_FOUND.String():     ErrTraceNotFound,
}

// FieldViolation is one field that makes no sense.
type FieldViolation struct {
	// Field is its place in the message: request.regions[2].
	Field string
	// Description is what is wrong and how to cure it.
	Description string
}

// RouterError says why a request could not be answered. errors.Is tells its kind.
type RouterError struct {
	// Code is the gRPC status.
	Code codes.Code
	// Reason is the name in ErrorReason, such as ERROR_REASON_POLICY_NOT_FOUND; empty where the answer did not come from
	// the service.
	Reason string
	// Message is what the service says, or what gRPC says where the service could not be reached.
	Message string
	// Violations are all fields that make no sense.
	Violations []FieldViolation

	kind, cause error
}

func (e *RouterError) Error() string {
	if e.kind == nil {
		return "router-service: " + e.Code.String() + ": " + e.Message
	}
	return e.kind.Error() + ": " + e.Message
}

// Unwrap is the kind, and context.Canceled or context.DeadlineExceeded where the caller's own context is done.
func (e *RouterError) Unwrap() []error {
	var wrapped []error
	for _, one := range []error{e.kind, e.cause} {
		if one != nil {
			wrapped = append(wrapped, one)
		}
	}
	return wrapped
}

// routerError is the error of a failed call; ctx is the caller's own.
func routerError(ctx context.Context, err error) *RouterError {
	told := status.Convert(err)
	made := &RouterError{Code: told.Code(), Message: told.Message(), cause: ctx.Err()}
	for _, detail := range told.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			made.Reason = detail.GetReason()
		case *errdetails.BadRequest:
			for _, one := range detail.GetFieldViolations() {
				made.Violations = append(made.Violations, FieldViolation{one.GetField(), one.GetDescription()})
			}
		}
	}
	made.kind = kindsByCode[made.Code]
	if kind, ok := kindsByReason[made.Reason]; ok {
		made.kind = kind
	}
	return made
}

// isAway says whether to ask again may help: the service could not be reached, and does not say that it keeps nothing; or
// there was no token to show for now, which is no answer of the service's either.
func isAway(err error) bool {
	failed, ok := errors.AsType[*RouterError](err)
	hasNoToken := ok && failed.Reason == "" && failed.kind == ErrUnauthenticated
	return errors.Is(err, ErrRouterUnavailable) && !isUnwanted(err) || hasNoToken
}

// isUnwanted says that the service was started without a store.
func isUnwanted(err error) bool {
	failed, ok := errors.AsType[*RouterError](err)
	return ok && failed.Reason == pb.ErrorReason_ERROR_REASON_NO_STORE.String()
}
