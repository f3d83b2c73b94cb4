// How a client reaches the service, and how it says who it is.

package routerservice

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/credentials/local"
	"google.golang.org/grpc/status"
)

// answerMax: an explanation of 5,000 endpoints has several MiB, and gRPC's own limit is 4.
const answerMax = 64 << 20

// connect makes a connection, which is opened with the first call.
func connect(target string, s *settings) (*grpc.ClientConn, error) {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(s.transport()),
		grpc.WithUserAgent("router-service-go/" + Version),
		// Run is the only one that tries again.
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		// A router stands beside its callers: a proxy of the environment, meant for the way out, is not asked.
		grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(answerMax)),
		// gRPC's own wait of up to two minutes would refuse calls to a service that has long been back.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
	}
	if s.token != nil {
		options = append(options, grpc.WithPerRPCCredentials(bearer{s.token, s.tls != nil}))
	}
	return grpc.NewClient(target, options...)
}

func (s *settings) transport() credentials.TransportCredentials {
	switch {
	case s.tls != nil:
		return credentials.NewTLS(s.tls)
	case s.token != nil:
		return local.NewCredentials() // whose handshake fails where the other end is not on this machine
	}
	return insecure.NewCredentials()
}

// bearer sends a token with every call.
type bearer struct {
	token  func(context.Context) (string, error)
	secure bool
}

func (b bearer) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := b.token(ctx)
	if err == nil && !isToken(token) {
		err = errors.New("it must have 1 or more visible ASCII characters and no spaces")
	}
	if err != nil {
		return nil, status.Errorf(codes.Unauthenticated, "no token could be had: %v", err)
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

func (b bearer) RequireTransportSecurity() bool { return b.secure }

func isToken(text string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	return text != "" && !strings.ContainsFunc(text, odd)
}

// isURL says whether a target is an address of HTTP, which gRPC would take for the name of a host.
func isURL(target string) bool {
	scheme, _, ok := strings.Cut(target, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// isLocal says whether a target is on this machine, as far as its text tells.
func isLocal(target string) bool {
	scheme, rest, ok := strings.Cut(target, ":")
	if ok && (scheme == "unix" || scheme == "unix-abstract") {
		return true
	}
	if ok && (scheme == "dns" || scheme == "passthrough") {
		target = rest[strings.LastIndex(rest, "/")+1:]
	}
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		host = strings.Trim(target, "[]")
	}
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}
