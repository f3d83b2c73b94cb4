// TLS, and tokens that never go over a plain connection to another machine.

package routerservice_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

// secured is a service with TLS, and what to trust so as to reach it.
func secured(t *testing.T) (*scripted, *tls.Config) {
	t.Helper()
	lender := httptest.NewTLSServer(http.NotFoundHandler()) // has a certificate for 127.0.0.1 and example.com
	t.Cleanup(lender.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(lender.Certificate())
	service := newScripted(t, grpc.Creds(credentials.NewServerTLSFromCert(&lender.TLS.Certificates[0])))
	return service, &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
}

func (s *scripted) authorization() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.metadata.Get("authorization")
}

func decided(t *testing.T, router *routerservice.RouterClient) {
	t.Helper()
	if _, err := router.Decide(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

func TestATokenIsSentOverTLS(t *testing.T) {
	service, trusted := secured(t)
	decided(t, client(t, service.target, routerservice.WithTLS(trusted), routerservice.WithToken("secret")))
	if got := service.authorization(); !slices.Equal(got, []string{"Bearer secret"}) {
		t.Error(got)
	}
	decided(t, client(t, service.target, routerservice.WithTLS(trusted)))
	if got := service.authorization(); got != nil {
		t.Error(got)
	}
}

func TestAServiceThatIsNotTrustedIsToldNothing(t *testing.T) {
	service, _ := secured(t)
	_, err := client(t, service.target, routerservice.WithTLS(nil), routerservice.WithToken("secret")).Decide(t.Context(), nil)
	routerError(t, err, routerservice.ErrRouterUnavailable)
	if service.authorization() != nil || !strings.Contains(err.Error(), "certificate") {
		t.Error(err)
	}
}

func TestATokenIsSentInTheClearOnThisMachineAlone(t *testing.T) {
	service := newScripted(t)
	tokens := []string{"first", "second"}
	router := client(t, service.target, routerservice.WithTokenFrom(func(context.Context) (string, error) {
		token := tokens[0]
		tokens = tokens[1:]
		return token, nil
	}))
	for _, wanted := range []string{"Bearer first", "Bearer second"} { // asked for before every call
		decided(t, router)
		if got := service.authorization(); !slices.Equal(got, []string{wanted}) {
			t.Error(got)
		}
	}
	for _, target := range []string{
		"router.example:50051", "192.0.2.1:50051", "dns:///router.example", "[2001:db8::1]:50051", "10.0.0.1", "127.0.0.1.example:1",
	} {
		if _, err := routerservice.New(target, routerservice.WithToken("secret")); err == nil ||
			!strings.Contains(err.Error(), "never goes over a plain connection") {
			t.Errorf("%s: %v", target, err)
		}
	}
	for _, target := range []string{
		"localhost:50051", "[::1]:50051", "127.0.0.2", "unix:/run/router.sock", "dns:///localhost:1", "passthrough:///127.0.0.1:1",
	} {
		if err := client(t, target, routerservice.WithToken("secret")).Close(); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// elsewhere is a connection to another machine, whatever the name said that led there.
type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 50051} }

func TestANameThatLeadsToAnotherMachineGetsNoToken(t *testing.T) {
	transport := routerservice.TransportOf(routerservice.WithToken("secret"))
	if _, _, err := transport.ClientHandshake(t.Context(), "localhost", elsewhere{}); err == nil {
		t.Error("connected")
	}
	if _, _, err := routerservice.TransportOf().ClientHandshake(t.Context(), "router.example", elsewhere{}); err != nil {
		t.Error("without a token:", err)
	}
}

func TestATokenOverASocketFile(t *testing.T) {
	service := &scripted{t: t, decides: two, world: &world{}}
	server := grpc.NewServer()
	pb.RegisterRouterServiceServer(server, service)
	path := t.TempDir() + "/router.sock"
	listening, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listening) }()
	decided(t, client(t, "unix:"+path, routerservice.WithToken("secret")))
	if got := service.authorization(); !slices.Equal(got, []string{"Bearer secret"}) {
		t.Error(got)
	}
	server.Stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestATokenOfAFileFollowsTheFile(t *testing.T) {
	service := newScripted(t)
	path := filepath.Join(t.TempDir(), "token")
	router := client(t, service.target, routerservice.WithTokenFile(path))
	_, err := router.Decide(t.Context(), nil)
	routerError(t, err, routerservice.ErrUnauthenticated)
	for _, token := range []string{"first", "second"} {
		renewed := path + ".new"
		if err := os.WriteFile(renewed, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(renewed, path); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			decided(t, router)
			if got := service.authorization(); !slices.Equal(got, []string{"Bearer " + token}) {
				t.Error(got)
			}
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err = router.Decide(t.Context(), nil)
	routerError(t, err, routerservice.ErrUnauthenticated)
}

func TestATokenThatCannotBeHadEndsTheCall(t *testing.T) {
	service := newScripted(t)
	for said, from := range map[string]func(context.Context) (string, error){
		"mine":          func(context.Context) (string, error) { return "", errMine },
		"visible ASCII": func(context.Context) (string, error) { return "a\nb", nil },
	} {
		_, err := client(t, service.target, routerservice.WithTokenFrom(from)).Decide(t.Context(), nil)
		if failed := routerError(t, err, routerservice.ErrUnauthenticated); failed.Code != codes.Unauthenticated ||
			!strings.Contains(failed.Message, said) {
			t.Error(err)
		}
	}
	if len(service.asked) > 0 {
		t.Error("asked all the same")
	}
	if _, err := routerservice.New(service.target, routerservice.WithToken("")); err == nil || errors.Is(err, errMine) {
		t.Error(err)
	}
}
