// RouterClient: the service's RPCs that are answered once, as methods.

package routerservice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	pb "router-service.example/clients/go/v1"
)

// RouterClient is a connection to a router-service. It may be used from any goroutine, and is to be closed.
//
// The error of every method is a [*RouterError].
type RouterClient struct {
	router       pb.RouterServiceClient
	catalog      pb.CatalogServiceClient
	timeout      time.Duration
	closeTimeout time.Duration
	reports      *ReportQueue
	places       chan struct{} // of calls that are under way
	own          io.Closer     // nil where the connection is the caller's
	closed       atomic.Bool
}

// callsAtOnce: servers take some 100 streams on a connection. A client that does not know yet how many it may begin begins
// more, and those are refused; so what exceeds this waits here.
const callsAtOnce = 64

var _ io.Closer = (*RouterClient)(nil)

// New is a client of the service at target: host:port or unix:/path. It connects with the first call, and again when
// the connection was lost. The error names everything that is wrong with the options.
func New(target string, options ...Option) (*RouterClient, error) {
	s := newSettings(options)
	s.check(target != "", "target: must not be empty; say host:port or unix:/path, or DefaultTarget")
	s.check(!isURL(target), fmt.Sprintf("target: %q is a URL; say host:port or unix:/path", target))
	if s.token != nil && s.tls == nil {
		s.check(isLocal(target), fmt.Sprintf(
			"WithToken: %s is not on this machine, and a token never goes over a plain connection; add WithTLS", target))
	}
	if err := s.err(); err != nil {
		return nil, err
	}
	conn, err := connect(target, s)
	if err != nil {
		return nil, fmt.Errorf("routerservice.New: target %q: %w", target, err)
	}
	made := newClient(conn, s)
	made.own = conn
	return made, nil
}

// NewWithConn is a client over a connection of the caller's own, who also closes it, and is to turn off its retries
// (grpc.WithDisableRetry). Options about the connection (WithTLS, WithToken, WithTokenFrom) are refused.
func NewWithConn(conn grpc.ClientConnInterface, options ...Option) (*RouterClient, error) {
	s := newSettings(options)
	s.check(conn != nil, "conn: must not be nil")
	s.check(s.tls == nil, "WithTLS: the connection has its credentials already; give them to grpc.NewClient")
	s.check(s.token == nil, "WithToken: the connection has its credentials already; give them to grpc.NewClient")
	if err := s.err(); err != nil {
		return nil, err
	}
	return newClient(conn, s), nil
}

func (s *settings) err() error {
	if s.problems == nil {
		return nil
	}
	return errors.New("routerservice.New: " + strings.Join(s.problems, "\n"))
}

func newClient(conn grpc.ClientConnInterface, s *settings) *RouterClient {
	made := &RouterClient{
		router:       pb.NewRouterServiceClient(conn),
		catalog:      pb.NewCatalogServiceClient(conn),
		timeout:      s.timeout,
		closeTimeout: s.closeTimeout,
		places:       make(chan struct{}, callsAtOnce),
	}
	made.reports = newReportQueue(func(ctx context.Context, report *pb.Report) error {
		_, err := made.Report(ctx, report)
		return err
	}, s)
	return made
}

// Decide gives the ranked, already filtered failover list of a request, or a refusal.
func (c *RouterClient) Decide(ctx context.Context, request *pb.DecideRequest) (*pb.DecideResponse, error) {
	return once(ctx, c, c.timeout, c.router.Decide, request)
}

// Explain gives the decision that Decide would make, and for every endpoint of the pool why it is in or out. With a
// trace_id, and nothing else but a request_id, it tells that decision or refusal again, word for word, on the catalogue
// that it was made on.
func (c *RouterClient) Explain(ctx context.Context, request *pb.ExplainRequest) (*pb.ExplainResponse, error) {
	return once(ctx, c, c.timeout, c.router.Explain, request)
}

// Report tells what came of a decision, and is answered by how many of its attempts were new and how many known already.
// A report that comes again changes nothing, so it may be sent until it is answered. Run reports by itself.
func (c *RouterClient) Report(ctx context.Context, report *pb.Report) (*pb.ReportResponse, error) {
	return once(ctx, c, c.timeout, c.router.Report, &pb.ReportRequest{Report: report})
}

// GetTrace gives a decision or refusal as it was made, with what was asked and what was reported of it.
func (c *RouterClient) GetTrace(ctx context.Context, traceID string) (*pb.Trace, error) {
	answer, err := once(ctx, c, c.timeout, c.router.GetTrace, &pb.GetTraceRequest{TraceId: traceID})
	return answer.GetTrace(), err
}

// Reports is the queue of what Run reports in the background.
func (c *RouterClient) Reports() *ReportQueue { return c.reports }

// Close delivers the reports that still wait, for 5 seconds at most (WithCloseTimeout), and closes the connection; calls that
// still run are cancelled. It returns a [*ReportsLostError] where reports could not be delivered; closing again does
// nothing.
func (c *RouterClient) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), c.closeTimeout)
	defer cancel()
	return c.Shutdown(ctx)
}

// Shutdown is Close that waits for reports until the context is done.
func (c *RouterClient) Shutdown(ctx context.Context) error {
	if c.closed.Swap(true) {
		return nil
	}
	err := c.reports.close(ctx)
	if c.own != nil {
		err = errors.Join(err, c.own.Close())
	}
	return err
}

// once asks one thing, within the time of the client and of the context, of which waiting for a place is part.
func once[Q, A any](
	ctx context.Context,
	c *RouterClient,
	timeout time.Duration,
	call func(context.Context, *Q, ...grpc.CallOption) (*A, error),
	request *Q,
) (*A, error) {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-bounded.Done():
		code := status.FromContextError(bounded.Err()).Code()
		return nil, routerError(ctx, status.Error(code, "the calls before it took all of its time"))
	}
	answer, err := call(bounded, request)
	if err != nil {
		return nil, routerError(ctx, err)
	}
	return answer, nil
}
