// A service on the wire that answers as a vector says, and a clock and chance that stand still until they are told.

package routerservice_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

const traceID = "00000000000000000000000000000000"

// patience bounds what a test waits for that comes at once on any machine.
const patience = 30 * time.Second

// vectors reads a file of vectors.
func vectors[T any](t *testing.T, name string) T {
	t.Helper()
	var read T
	if err := json.Unmarshal(conformance(t, name), &read); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return read
}

// conformance is a file of clients/conformance as it is.
func conformance(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "conformance", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// message reads a message as vectors write it; nil is an empty one.
func message[M any, P interface {
	*M
	proto.Message
}](t *testing.T, text json.RawMessage) *M {
	t.Helper()
	read := new(M)
	if text == nil {
		return read
	}
	if err := protojson.Unmarshal(text, P(read)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return read
}

// world is time in whole milliseconds since the run began, and the random numbers that are left.
type world struct {
	mutex  sync.Mutex
	start  time.Time
	goneMs int64
	draws  []float64
}

func (w *world) runtime(sleep func(context.Context, time.Duration) error) routerservice.Runtime {
	return routerservice.Runtime{Now: w.now, Sleep: sleep, Random: w.random}
}

func (w *world) now() time.Time {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.start.Add(time.Duration(w.goneMs) * time.Millisecond)
}

func (w *world) random() float64 {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	draw := w.draws[0]
	w.draws = w.draws[1:]
	return draw
}

func (w *world) goOn(ms int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.goneMs += ms
}

// decideCase is what Decide answers.
type decideCase struct {
	TakesMs    int64             `json:"takes_ms"`
	Error      *codes.Code       `json:"error"`
	Candidates []json.RawMessage `json:"candidates"`
	Refusal    *struct {
		Code         string `json:"code"`
		HTTPStatus   uint32 `json:"http_status"`
		Transient    bool   `json:"transient"`
		RetryAfterMs int64  `json:"retry_after_ms"`
	} `json:"refusal"`
}

// scripted answers Decide by its case, and keeps the reports.
type scripted struct {
	pb.UnimplementedRouterServiceServer
	t      *testing.T
	target string

	mutex    sync.Mutex
	decides  decideCase
	world    *world
	answers  []codes.Code // the statuses of the next reports
	reports  []*pb.Report
	asked    []*pb.DecideRequest
	metadata metadata.MD // of the last call
}

// two are candidates that need next to no time.
var two = decideCase{Candidates: []json.RawMessage{
	json.RawMessage(`{"endpoint_id": "a", "need_ms": 1}`), json.RawMessage(`{"endpoint_id": "b", "need_ms": 1}`),
}}

// newScripted is the service on a port of its own, which decides for two.
func newScripted(t *testing.T, options ...grpc.ServerOption) *scripted {
	t.Helper()
	made := &scripted{t: t, decides: two, world: &world{start: time.Now()}}
	server := grpc.NewServer(options...)
	pb.RegisterRouterServiceServer(server, made)
	made.target = serve(t, server, "127.0.0.1:0")
	return made
}

// serve has a server answer until the test ends.
func serve(t *testing.T, server *grpc.Server, address string) string {
	t.Helper()
	listening, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listening) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listening.Addr().String()
}

// client is one of a service that the test closes, whose reports must all be delivered.
func client(t *testing.T, target string, options ...routerservice.Option) *routerservice.RouterClient {
	t.Helper()
	made, err := routerservice.New(target, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	})
	return made
}

func (s *scripted) Decide(ctx context.Context, request *pb.DecideRequest) (*pb.DecideResponse, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.asked = append(s.asked, request)
	s.metadata, _ = metadata.FromIncomingContext(ctx)
	s.world.goOn(s.decides.TakesMs)
	if s.decides.Error != nil {
		return nil, status.Error(*s.decides.Error, "as the vector says")
	}
	if told := s.decides.Refusal; told != nil {
		return &pb.DecideResponse{Result: &pb.DecideResponse_Refusal{Refusal: &pb.Refusal{
			Code:       told.Code,
			Message:    "as the vector says",
			HttpStatus: told.HTTPStatus,
			Transient:  told.Transient,
			RetryAfter: durationpb.New(time.Duration(told.RetryAfterMs) * time.Millisecond),
		}}}, nil
	}
	decision := &pb.Decision{TraceId: traceID}
	for _, one := range s.decides.Candidates {
		decision.Candidates = append(decision.Candidates, message[pb.Candidate](s.t, one))
	}
	return &pb.DecideResponse{Result: &pb.DecideResponse_Decision{Decision: decision}}, nil
}

func (s *scripted) Report(_ context.Context, request *pb.ReportRequest) (*pb.ReportResponse, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.answers) > 0 {
		code := s.answers[0]
		s.answers = s.answers[1:]
		if code != codes.OK {
			return nil, status.Error(code, "as the test says")
		}
	}
	s.reports = append(s.reports, request.GetReport())
	return &pb.ReportResponse{}, nil
}

// begin sets what comes next.
func (s *scripted) begin(decides decideCase, now *world) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.decides, s.world, s.reports, s.asked = decides, now, nil, nil
}

// told are the reports that came once the client has none left.
func (s *scripted) told(router *routerservice.RouterClient) []*pb.Report {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	if err := router.Reports().Flush(ctx); err != nil {
		s.t.Fatal(err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.reports
}
