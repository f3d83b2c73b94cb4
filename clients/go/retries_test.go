// Nothing beneath Run tries again: what the service saw is counted.

package routerservice_test

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

// retrying is what a name server may say of a service: try all that fails four times.
const retrying = `{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.01s",
	"maxBackoff": "0.01s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`

func TestNothingBeneathTriesAgain(t *testing.T) {
	service := newScripted(t)
	names := manual.NewBuilderWithScheme("retrying")
	names.BuildCallback = func(_ resolver.Target, conn resolver.ClientConn, _ resolver.BuildOptions) {
		names.InitialState(resolver.State{
			Addresses: []resolver.Address{{Addr: service.target}}, ServiceConfig: conn.ParseServiceConfig(retrying),
		})
	}
	resolver.Register(names)
	failing := decideCase{Error: new(codes.Unavailable)}

	// As gRPC does it where nobody turns it off.
	conn, err := grpc.NewClient("retrying:///router", grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	service.begin(failing, service.world)
	if _, err := pb.NewRouterServiceClient(conn).Decide(t.Context(), &pb.DecideRequest{}); err == nil || len(service.asked) != 4 {
		t.Fatalf("gRPC asked %d times: %v", len(service.asked), err)
	}

	service.begin(failing, service.world)
	if _, err := client(t, "retrying:///router").Decide(t.Context(), nil); err == nil || len(service.asked) != 1 {
		t.Errorf("asked %d times: %v", len(service.asked), err)
	}
}

func TestATargetThatIsAURLIsRefused(t *testing.T) {
	_, err := routerservice.New("http://127.0.0.1:50051")
	if err == nil {
		t.Fatal("taken")
	}
	want(t, err.Error(), `routerservice.New: target: "http://127.0.0.1:50051" is a URL; say host:port or unix:/path`)
}
