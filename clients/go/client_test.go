// What a caller gets where there is no answer: an error that says so, never an endpoint; and how clients are made.

package routerservice_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

func noCall(t *testing.T) routerservice.Call[string] {
	return func(_ context.Context, attempt *routerservice.Try) (string, error) {
		t.Errorf("%s was called", attempt.EndpointID())
		return "", nil
	}
}

func routerError(t *testing.T, err error, kind error) *routerservice.RouterError {
	t.Helper()
	failed, ok := errors.AsType[*routerservice.RouterError](err)
	if !ok || !errors.Is(err, kind) {
		t.Fatalf("got %v, want %v", err, kind)
	}
	return failed
}

func TestNobodyListens(t *testing.T) {
	router := client(t, "unix:"+t.TempDir()+"/nothing.sock")
	_, err := router.Decide(t.Context(), nil)
	failed := routerError(t, err, routerservice.ErrRouterUnavailable)
	if failed.Code != codes.Unavailable || failed.Reason != "" || errors.Is(err, routerservice.ErrRouterTimeout) {
		t.Errorf("%+v", failed)
	}
	if !strings.HasPrefix(err.Error(), "router-service is unavailable: ") || !strings.Contains(err.Error(), "nothing.sock") {
		t.Error(err)
	}
	_, err = routerservice.Run(t.Context(), router, nil, noCall(t))
	routerError(t, err, routerservice.ErrRouterUnavailable)
}

// silent is an address that takes connections and never says a word.
func silent(t *testing.T) string {
	t.Helper()
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listening.Close() })
	return listening.Addr().String()
}

func TestACallEndsInTime(t *testing.T) {
	router := client(t, silent(t), routerservice.WithTimeout(100*time.Millisecond))
	_, err := router.Decide(t.Context(), nil)
	routerError(t, err, routerservice.ErrRouterTimeout)
	routerError(t, err, routerservice.ErrRouterUnavailable)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Error("the caller's own context had no deadline:", err)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	router := client(t, silent(t), routerservice.WithTimeout(patience))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := router.GetTrace(ctx, traceID)
	routerError(t, err, routerservice.ErrRouterTimeout)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = routerservice.Run(ctx, router, nil, noCall(t))
	if routerError(t, err, context.Canceled).Code != codes.Canceled {
		t.Error(err)
	}
}

func TestTheRequestsOwnDeadlineHoldsForItsDecisionToo(t *testing.T) {
	router := client(t, silent(t), routerservice.WithTimeout(patience))
	request := &pb.DecideRequest{Request: &pb.RouteRequest{DeadlineMs: new(uint32(100))}}
	_, err := routerservice.Run(t.Context(), router, request, noCall(t))
	routerError(t, err, routerservice.ErrRouterTimeout)
}

func TestAServiceThatIsBackIsFoundAgain(t *testing.T) {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listening.Addr().String()
	_ = listening.Close()
	router := client(t, address)
	for range 20 { // so that gRPC's waits have grown
		_, err := router.Decide(t.Context(), nil)
		routerError(t, err, routerservice.ErrRouterUnavailable)
		time.Sleep(20 * time.Millisecond)
	}
	service := &scripted{t: t, decides: two, world: &world{start: time.Now()}}
	server := grpc.NewServer()
	pb.RegisterRouterServiceServer(server, service)
	serve(t, server, address)
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := router.Decide(t.Context(), nil); err == nil {
			return
		}
		if time.Now().After(until) {
			t.Fatal("not found again")
		}
	}
}

func TestAConnectionOfOnesOwnStaysOpen(t *testing.T) {
	service := newScripted(t)
	conn, err := grpc.NewClient(service.target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 2 {
		router, err := routerservice.NewWithConn(conn)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := router.Decide(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if err := router.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAfterClosingNothingIsAnswered(t *testing.T) {
	service := newScripted(t)
	router, err := routerservice.New(service.target)
	if err != nil {
		t.Fatal(err)
	}
	if err := router.Close(); err != nil {
		t.Error(err)
	}
	if answer, err := router.Decide(t.Context(), nil); err == nil {
		t.Error(answer)
	}
}

func TestAllThatIsWrongWithTheOptionsIsToldAtOnce(t *testing.T) {
	_, err := routerservice.New("", routerservice.WithTimeout(0), routerservice.WithCloseTimeout(-1),
		routerservice.WithReportLimit(0), routerservice.WithLogger(nil), routerservice.WithTokenFrom(nil))
	if err == nil {
		t.Fatal("made")
	}
	for _, part := range []string{
		"target: ", "WithTimeout: ", "WithCloseTimeout: ", "WithReportLimit: ", "WithLogger: ", "WithTokenFrom: ",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	_, err = routerservice.NewWithConn(nil, routerservice.WithToken("a b"), routerservice.WithTLS(nil))
	for _, part := range []string{"conn: ", "WithTLS: ", "WithToken: the connection", "WithToken: must have"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}
