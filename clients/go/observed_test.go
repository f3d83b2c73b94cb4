// What is seen of errors, by real calls of net/http and gRPC where they can be made.

package routerservice_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	routerservice "router-service.example/clients/go"
)

func kindOf(err error) routerservice.Kind {
	seen, _ := routerservice.SeenOfError(err)
	return seen.Kind
}

// closedAddress is one at which nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listening.Close()
	return listening.Addr().String()
}

func TestHTTP(t *testing.T) {
	backend := newBackend(t)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of those who do not trust it
	secure.StartTLS()
	t.Cleanup(secure.Close)
	quiet := &http.Client{Transport: &http.Transport{}, Timeout: 100 * time.Millisecond}
	t.Cleanup(quiet.CloseIdleConnections)
	for asked, wanted := range map[string]routerservice.Kind{
		"http://" + closedAddress(t):                 routerservice.KindConnect,
		"https://" + secure.Listener.Addr().String(): routerservice.KindConnect, // not trusted
		"https://" + backend[len("http://"):]:        routerservice.KindConnect, // speaks no TLS
		backend + "/reset":                           routerservice.KindLost,
		backend + "/hang":                            routerservice.KindLost,
		backend + "/truncated":                       routerservice.KindLost,
		"http://" + "127.0.0.1:%41":                  "", // an address that makes no sense is one's own fault
	} {
		_, err := post(t.Context(), quiet, asked)
		if got := kindOf(err); got != wanted || err == nil {
			t.Errorf("%s: got %s of %v", asked, got, err)
		}
	}
	_, err := post(t.Context(), quiet, backend+"/limited")
	seen, ok := routerservice.SeenOfError(fmt.Errorf("wrapped: %w", err))
	if !ok || seen.Status != 429 || seen.Header.Get("retry-after") != "30" ||
		string(seen.Body.([]byte)) != `{"error":{"code":"rate_limit_exceeded"}}` {
		t.Errorf("%+v", seen)
	}
	want(t, err.Error(), "attempt failed: http 429")
}

func wrapped(err error) error { return fmt.Errorf("wrapped: %w", err) }

// noPort is behind no address.
var noPort = "%41"

func inURL(err error) error { return &url.Error{Op: "Post", URL: "http://127.0.0.1", Err: err} }

func inOperation(name string, err error) error { return &net.OpError{Op: name, Net: "tcp", Err: err} }

func ofJSON(text string, into any) error { return json.Unmarshal([]byte(text), into) }

func errorOf[T any](_ T, err error) error { return err }

func TestErrorsByKind(t *testing.T) {
	for _, one := range []struct {
		err  error
		kind routerservice.Kind
	}{
		{routerservice.NotConnected(nil), routerservice.KindConnect},
		{routerservice.Lost(errMine), routerservice.KindLost},
		{routerservice.BrokenOff(nil), routerservice.KindBrokenOff},
		{routerservice.Cancelled(), routerservice.KindCallerCancelled},
		{routerservice.NotAccepted("why"), routerservice.KindAcceptanceFailed},
		{routerservice.ContentRefused(), routerservice.KindContentRefused},
		{routerservice.HTTPStatus(503, nil, nil), routerservice.KindHTTP},
		{wrapped(routerservice.Lost(syscall.ECONNREFUSED)), routerservice.KindLost},
		{syscall.ECONNREFUSED, routerservice.KindConnect},
		{&net.DNSError{Err: "no such host"}, routerservice.KindConnect},
		{inOperation("dial", syscall.ENETUNREACH), routerservice.KindConnect},
		{inURL(inOperation("dial", context.DeadlineExceeded)), routerservice.KindConnect},
		{inURL(&tls.CertificateVerificationError{Err: errMine}), routerservice.KindConnect},
		{inURL(inOperation("read", syscall.ECONNRESET)), routerservice.KindLost},
		{inURL(errors.New("http: server closed idle connection")), routerservice.KindLost},
		{inURL(context.Canceled), routerservice.KindCallerCancelled},
		{errorOf(url.Parse("http://127.0.0.1:" + noPort)), ""},
		{inOperation("read", syscall.ECONNRESET), routerservice.KindLost},
		{syscall.EPIPE, routerservice.KindLost},
		{context.DeadlineExceeded, routerservice.KindLost},
		{context.Canceled, routerservice.KindCallerCancelled},
		{os.ErrDeadlineExceeded, routerservice.KindLost},
		{wrapped(io.ErrUnexpectedEOF), routerservice.KindLost},
		{io.EOF, routerservice.KindLost},
		{bodyOfHTTP2(t), routerservice.KindLost},
		{ofJSON(`{"total": `, new(any)), routerservice.KindAcceptanceFailed},
		{ofJSON(`{"total": 1}`, &struct{ Total string }{}), routerservice.KindAcceptanceFailed},
		{errors.Join(errMine, syscall.ECONNRESET), routerservice.KindLost},
		{errMine, ""},
		{errorOf(os.Open("no such file")), ""},
		{fs.ErrNotExist, ""},
		{syscall.EACCES, ""},
		{errorOf(strconv.Atoi("x")), ""},
	} {
		if got := kindOf(one.err); got != one.kind {
			t.Errorf("%T (%v): got %q, want %q", one.err, one.err, got, one.kind)
		}
	}
	if seen, ok := routerservice.SeenOfError(nil); ok {
		t.Error(seen)
	}
}

// bodyOfHTTP2 is what reading a body returns whose stream was reset.
func bodyOfHTTP2(t *testing.T) error {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(answer, "a part")
		_ = http.NewResponseController(answer).Flush()
		panic(http.ErrAbortHandler)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	_, err = io.ReadAll(response.Body)
	return err
}

func TestErrorsThatCarryAnAnswerByTheirShape(t *testing.T) {
	header := http.Header{"Retry-After": {"1"}}
	for _, one := range []struct {
		err    error
		status uint32
		code   string
	}{
		{wrapped(&codeError{Code: 429, Type: "insufficient_quota"}), 429, "insufficient_quota"},
		{codeError{Code: 400, Type: "content_filter"}, 400, "content_filter"},
		{&bodyError{StatusCode: 404, Body: `{"error": {"code": "model_not_found"}}`, Header: header}, 404, "model_not_found"},
	} {
		seen, ok := routerservice.SeenOfError(one.err)
		verdict := routerservice.Classify(seen, time.Now())
		if !ok || *verdict.StatusCode != one.status || verdict.ErrorCode != one.code {
			t.Errorf("%v: %+v", one.err, verdict)
		}
	}
	if seen, _ := routerservice.SeenOfError(&bodyError{StatusCode: 503, Header: header}); seen.Header.Get("retry-after") != "1" {
		t.Error(seen)
	}
	for _, own := range []error{&codeError{Code: 2}, codeError{}, &bodyError{StatusCode: 200}, (*bodyError)(nil)} {
		if seen, ok := routerservice.SeenOfError(own); ok {
			t.Errorf("%#v: %+v", own, seen)
		}
	}
}

func TestAResponseThatAnErrorKeepsCanStillBeRead(t *testing.T) {
	kept := &keepingError{StatusCode: 429, RawResponse: &http.Response{
		StatusCode: 429,
		Header:     http.Header{"Retry-After-Ms": {"1500"}},
		Body:       io.NopCloser(strings.NewReader(`{"error": {"code": "429", "type": "insufficient_quota"}}`)),
	}}
	for range 2 {
		seen, _ := routerservice.SeenOfError(kept)
		verdict := routerservice.Classify(seen, time.Now())
		if verdict.ErrorCode != "insufficient_quota" || *verdict.RetryAfterMs != 1500 {
			t.Errorf("%+v", verdict)
		}
	}
}

// keepingError has the shape of Azure's.
type keepingError struct {
	ErrorCode   string
	StatusCode  int
	RawResponse *http.Response
}

func (*keepingError) Error() string { return "an error of an SDK" }

// codeError has the shape of errors of Google's SDK and others like it.
type codeError struct {
	Code int    `json:"-"`
	Type string `json:"type"`
	More []int  `json:"-"` // makes values of it incomparable
}

func (codeError) Error() string { return "an error of an SDK" }

// bodyError has the shape of those that keep the body.
type bodyError struct {
	StatusCode int
	Body       string
	Header     http.Header
}

func (*bodyError) Error() string { return "an error of an SDK" }

func TestGRPC(t *testing.T) {
	failed := status.New(codes.ResourceExhausted, "slow down")
	failed, err := failed.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(3500 * time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	seen, ok := routerservice.SeenOfError(wrapped(failed.Err()))
	verdict := routerservice.Classify(seen, time.Now())
	if !ok || verdict.Then != routerservice.NextElseSame || *verdict.StatusCode != 8 || *verdict.RetryAfterMs != 3500 {
		t.Errorf("%+v", verdict)
	}
}

func TestWhetherAGRPCCallWasSent(t *testing.T) {
	hanging, ended := silent(t), grpc.WithTransportCredentials(insecure.NewCredentials())
	service := newScripted(t)
	encrypted := grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12}))
	for _, one := range []struct {
		target string
		option grpc.DialOption
		code   codes.Code
		sent   bool
	}{
		{closedAddress(t), ended, codes.Unavailable, false},
		{hanging, ended, codes.DeadlineExceeded, false},
		{service.target, encrypted, codes.Unavailable, false},
		{service.target, ended, codes.Unimplemented, true},
	} {
		conn, err := grpc.NewClient(one.target, one.option)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err = conn.Invoke(ctx, "/a.B/C", &errdetails.ErrorInfo{}, &errdetails.ErrorInfo{})
		cancel()
		if seen, _ := routerservice.SeenOfError(err); seen.Code != one.code || seen.NotSent == one.sent {
			t.Errorf("%s: %+v of %v", one.target, seen, err)
		}
		_ = conn.Close()
	}
}
