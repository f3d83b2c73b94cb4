// What was seen, told from the errors that net/http, gRPC, SDKs and the standard library return.

package routerservice

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
)

// SeenOfError is what was seen, of an error of a call or of what it wraps; false where it is no failure of a call but a
// fault of the caller's own.
//
// It knows [CallFailedError] and what net/http, gRPC, the SDKs of OpenAI, Anthropic, Google, AWS and Azure and those made
// like them, and the standard library return. What is not surely from before the request was sent is lost: to send it
// again could do a thing twice.
func SeenOfError(err error) (Seen, bool) {
	if failed, ok := errors.AsType[*CallFailedError](err); ok {
		return failed.Seen, true
	}
	for one := range chain(err) {
		if seen, ok := seenOfAnswer(err, one); ok {
			return seen, true
		}
	}
	for _, row := range observed {
		if slices.ContainsFunc(slices.Collect(chain(err)), row.is) {
			return Seen{Kind: row.kind, Why: row.why}, true
		}
	}
	return Seen{}, false
}

// observed tells kinds by errors; the first row of which one is met anywhere holds.
var observed = []struct {
	kind Kind
	why  string
	is   func(error) bool
}{
	{KindCallerCancelled, "", oneOf(context.Canceled)},
	{KindConnect, "", func(err error) bool {
		operation, ok := err.(*net.OpError)
		return ok && operation.Op == "dial"
	}},
	{KindConnect, "", oneOf(syscall.ECONNREFUSED, http.ErrSchemeMismatch)},
	{KindConnect, "", ofType[*net.DNSError]},
	{KindConnect, "", ofType[*net.AddrError]},
	{KindConnect, "", ofType[*tls.CertificateVerificationError]},
	{KindConnect, "", ofType[tls.RecordHeaderError]},
	{KindConnect, "", ofType[x509.UnknownAuthorityError]},
	{KindConnect, "", ofType[x509.HostnameError]},
	{KindConnect, "", ofType[x509.CertificateInvalidError]},
	{KindAcceptanceFailed, unparsed, ofType[*json.SyntaxError]},
	{KindAcceptanceFailed, unparsed, ofType[*json.UnmarshalTypeError]},
	{KindAcceptanceFailed, unparsed, func(err error) bool { // of SDKs of OpenAI and Anthropic, when they had all of it
		return strings.HasPrefix(err.Error(), "error parsing response json: ")
	}},
	{KindLost, "", oneOf(context.DeadlineExceeded, os.ErrDeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed)},
	{KindLost, "", oneOf(syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT)},
	{KindLost, "", func(err error) bool {
		switch failed := err.(type) {
		case syscall.Errno: // of files too
			return false
		case *url.Error:
			return failed.Op != "parse"
		case net.Error:
			return true
		}
		return false
	}},
	{KindLost, "", ofHTTP},
}

const unparsed = "the answer does not parse"

func oneOf(known ...error) func(error) bool {
	// Not by ==: several kinds of errors say of themselves that they are one of these.
	return func(err error) bool {
		return slices.ContainsFunc(known, func(one error) bool {
			if err == one {
				return true
			}
			like, ok := err.(interface{ Is(error) bool })
			return ok && like.Is(one)
		})
	}
}

func ofType[E error](err error) bool {
	_, ok := err.(E)
	return ok
}

// ofHTTP knows the errors of HTTP/2 streams, whose types have no names in public.
func ofHTTP(err error) bool {
	kind := reflect.TypeOf(err)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	from := kind.PkgPath()
	return from == "net/http" || strings.HasSuffix(from, "golang.org/x/net/http2")
}

// chain is an error and all that it wraps, outermost first.
func chain(err error) func(yield func(error) bool) {
	return func(yield func(error) bool) { walk(err, yield) }
}

func walk(err error, yield func(error) bool) bool {
	if value := reflect.ValueOf(err); err == nil || value.Kind() == reflect.Pointer && value.IsNil() {
		return true
	}
	if !yield(err) {
		return false
	}
	switch wrapping := err.(type) {
	case interface{ Unwrap() error }:
		return walk(wrapping.Unwrap(), yield)
	case interface{ Unwrap() []error }:
		for _, one := range wrapping.Unwrap() {
			if !walk(one, yield) {
				return false
			}
		}
	}
	return true
}
