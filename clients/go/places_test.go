// Many calls at once, over one connection that is not there yet.

package routerservice_test

import (
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

// burst asks so many things at once, and gives the errors.
func burst(t *testing.T, router *routerservice.RouterClient, many int) []error {
	t.Helper()
	all := make([]error, many)
	var asking sync.WaitGroup
	start := make(chan struct{})
	for i := range all {
		asking.Go(func() {
			<-start
			_, all[i] = router.Decide(t.Context(), &pb.DecideRequest{})
		})
	}
	close(start)
	asking.Wait()
	return all
}

func TestABurstOverANewConnectionIsAnsweredInFull(t *testing.T) {
	service := newScripted(t, grpc.MaxConcurrentStreams(100))
	if err := errors.Join(burst(t, client(t, service.target, routerservice.WithTimeout(patience)), 400)...); err != nil {
		t.Error(err)
	}
}

func TestWaitingForAPlaceIsPartOfTheTime(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	begun := time.Now()
	for _, err := range burst(t, client(t, silent.Addr().String(), routerservice.WithTimeout(time.Second)), 200) {
		if !errors.Is(err, routerservice.ErrRouterTimeout) {
			t.Error(err)
		}
	}
	if took := time.Since(begun); took > 3*time.Second { // and not four times the time-out
		t.Error(took)
	}
}
