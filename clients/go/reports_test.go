// Reports in the background: repeated while the service is away, told before closing ends, never lost in silence.

package routerservice_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

func report(number int) *pb.Report {
	return &pb.Report{TraceId: fmt.Sprintf("%032x", number), Outcome: "accepted"}
}

func traces(reports []*pb.Report) string {
	var numbers []string
	for _, one := range reports {
		numbers = append(numbers, strings.TrimLeft(one.GetTraceId(), "0"))
	}
	return strings.Join(numbers, " ")
}

func TestClosingDeliversWhatWaits(t *testing.T) {
	service := newScripted(t)
	service.answers = []codes.Code{codes.Unavailable, codes.Unavailable}
	router, err := routerservice.New(service.target, routerservice.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	for number := range 9 {
		if !router.Reports().Put(report(number + 1)) {
			t.Error("not taken")
		}
	}
	if err := router.Close(); err != nil {
		t.Error(err)
	}
	want(t, traces(service.reports), "1 2 3 4 5 6 7 8 9")
	if counts := router.Reports().Counts(); counts != (routerservice.ReportCounts{Delivered: 9}) {
		t.Errorf("%+v", counts)
	}
	if err := router.Close(); err != nil {
		t.Error("closing again:", err)
	}
	if router.Reports().Put(report(10)) {
		t.Error("taken after closing")
	}
}

func TestWhatCannotBeDeliveredIsToldOnClosing(t *testing.T) {
	var log bytes.Buffer
	router, err := routerservice.New("unix:"+t.TempDir()+"/nothing.sock",
		routerservice.WithCloseTimeout(200*time.Millisecond), routerservice.WithReportLimit(2),
		routerservice.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	taken := []bool{router.Reports().Put(report(1)), router.Reports().Put(report(2)), router.Reports().Put(report(3))}
	if !slices.Equal(taken, []bool{true, true, false}) {
		t.Error(taken)
	}
	lost, ok := errors.AsType[*routerservice.ReportsLostError](router.Close())
	if !ok || traces(lost.Reports) != "1 2" || lost.Dropped != 1 {
		t.Errorf("%+v", lost)
	}
	want(t, lost.Error(), "3 reports were not delivered, 1 of them for lack of room")
	if router.Reports().Put(report(4)) {
		t.Error("taken after closing")
	}
	for _, said := range []string{"as many wait as there is room for", "the client is closed", "3 reports were not delivered"} {
		if !strings.Contains(log.String(), said) {
			t.Errorf("not logged: %s", said)
		}
	}
}

func TestShutdownWaitsAsLongAsItsContext(t *testing.T) {
	router, err := routerservice.New("unix:"+t.TempDir()+"/nothing.sock", routerservice.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	router.Reports().Put(report(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if lost, ok := errors.AsType[*routerservice.ReportsLostError](router.Shutdown(ctx)); !ok || len(lost.Reports) != 1 {
		t.Error(lost)
	}
}

func TestASendingThatHangsIsCutOffOnClosing(t *testing.T) {
	sending := make(chan struct{})
	queue := routerservice.NewReportQueue(func(ctx context.Context, _ *pb.Report) error {
		close(sending)
		<-ctx.Done()
		return ctx.Err()
	}, 9, nil)
	queue.Put(report(1))
	<-sending
	if lost, ok := errors.AsType[*routerservice.ReportsLostError](queue.CloseWithin(0)); !ok || traces(lost.Reports) != "1" {
		t.Error(lost)
	}
}

func TestWhatTheServiceRefusesIsCountedAndTheNextIsTold(t *testing.T) {
	service := newScripted(t)
	service.answers = []codes.Code{codes.InvalidArgument}
	router := client(t, service.target, routerservice.WithLogger(slog.New(slog.DiscardHandler)))
	router.Reports().Put(report(1))
	router.Reports().Put(report(2))
	want(t, traces(service.told(router)), "2")
	if counts := router.Reports().Counts(); counts != (routerservice.ReportCounts{Refused: 1, Delivered: 1}) {
		t.Errorf("%+v", counts)
	}
}

// away is the error of a service that cannot be reached.
func away(t *testing.T) error {
	t.Helper()
	router := client(t, "unix:"+t.TempDir()+"/nothing.sock")
	_, err := router.Decide(t.Context(), nil)
	if !errors.Is(err, routerservice.ErrRouterUnavailable) {
		t.Fatal(err)
	}
	return err
}

func TestWaitsGrowAndEndWithAnAnswer(t *testing.T) {
	var waits []time.Duration
	fails := 8
	away := away(t)
	queue := routerservice.NewReportQueue(func(context.Context, *pb.Report) error {
		if fails--; fails >= 0 {
			return away
		}
		return nil
	}, 9, func(_ context.Context, failures int) error {
		waits = append(waits, routerservice.Pause(failures, 1))
		return nil
	})
	queue.Put(report(1))
	if err := queue.CloseWithin(patience); err != nil {
		t.Fatal(err)
	}
	var wanted []time.Duration
	for _, ms := range []int{200, 400, 800, 1600, 3200, 5000, 5000, 5000} {
		wanted = append(wanted, time.Duration(ms)*time.Millisecond)
	}
	if !slices.Equal(waits, wanted) || queue.Counts().Delivered != 1 {
		t.Error(waits, queue.Counts())
	}
	if routerservice.Pause(1000, 0.5) != 2500*time.Millisecond || routerservice.Pause(3, 0) != 0 {
		t.Error("pauses")
	}
}

// Under a retention of 0 a report ends its trace, and comes again where its answer was lost.
func TestATraceThatIsGoneAfterALostAnswerWasTold(t *testing.T) {
	gone := routerservice.MadeError(codes.NotFound, pb.ErrorReason_ERROR_REASON_TRACE_NOT_FOUND)
	answers := []error{away(t), gone, gone}
	queue := routerservice.NewReportQueue(func(context.Context, *pb.Report) error {
		answer := answers[0]
		answers = answers[1:]
		return answer
	}, 9, func(context.Context, int) error { return nil })
	queue.Put(report(1))
	queue.Put(report(2))
	if err := queue.CloseWithin(patience); err != nil {
		t.Fatal(err)
	}
	if counts := queue.Counts(); counts != (routerservice.ReportCounts{Delivered: 1, Refused: 1}) {
		t.Errorf("%+v", counts)
	}
}

func TestAServiceWithoutAStoreWantsNone(t *testing.T) {
	queue := routerservice.NewReportQueue(func(context.Context, *pb.Report) error {
		return routerservice.MadeError(codes.Unavailable, pb.ErrorReason_ERROR_REASON_NO_STORE)
	}, 9, nil)
	queue.Put(report(1))
	if err := queue.CloseWithin(patience); err != nil {
		t.Fatal(err)
	}
	if counts := queue.Counts(); counts != (routerservice.ReportCounts{Unwanted: 1}) {
		t.Errorf("%+v", counts)
	}
}

func TestTheGoroutineLivesOnlyWhileSomethingWaits(t *testing.T) {
	var sent atomic.Int32
	queue := routerservice.NewReportQueue(func(context.Context, *pb.Report) error {
		sent.Add(1)
		return nil
	}, 9, nil)
	for number := range 3 { // it starts anew; that it is gone in the end, TestMain looks at
		queue.Put(report(number))
		if err := queue.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if sent.Load() != 3 {
		t.Error(sent.Load())
	}
}

// A busy service is asked again, but a report that is itself too large holds up the others for so long only.
func TestALimitIsMetAgainLaterAndNotForEver(t *testing.T) {
	service := newScripted(t)
	service.answers = []codes.Code{codes.ResourceExhausted, codes.ResourceExhausted}
	router := client(t, service.target)
	router.Reports().Put(report(1))
	router.Reports().Put(report(2))
	want(t, traces(service.told(router)), "1 2")
	if counts := router.Reports().Counts(); counts != (routerservice.ReportCounts{Delivered: 2}) {
		t.Errorf("%+v", counts)
	}

	busy := routerservice.MadeError(codes.ResourceExhausted, pb.ErrorReason_ERROR_REASON_LIMIT_REACHED)
	gone := routerservice.MadeError(codes.NotFound, pb.ErrorReason_ERROR_REASON_TRACE_NOT_FOUND)
	sent := map[string]int{}
	var waits []int
	queue := routerservice.NewReportQueue(func(_ context.Context, one *pb.Report) error {
		trace := traces([]*pb.Report{one})
		sent[trace]++
		switch {
		case trace == "1" || trace == "2" && sent[trace] == 1:
			return busy
		case trace == "2":
			return gone // it was never taken, so it was not told either
		}
		return nil
	}, 9, func(_ context.Context, failures int) error {
		waits = append(waits, failures)
		return nil
	})
	for number := range 3 {
		queue.Put(report(number + 1))
	}
	if err := queue.CloseWithin(patience); err != nil {
		t.Fatal(err)
	}
	if sent["1"] != 10 || sent["2"] != 2 || sent["3"] != 1 || !slices.Equal(waits, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 1}) {
		t.Error(sent, waits)
	}
	if counts := queue.Counts(); counts != (routerservice.ReportCounts{Delivered: 1, Refused: 2}) {
		t.Errorf("%+v", counts)
	}
}

func TestANilReportIsRefusedAndTheNextIsTold(t *testing.T) {
	service := newScripted(t)
	router := client(t, service.target, routerservice.WithLogger(slog.New(slog.DiscardHandler)))
	if router.Reports().Put(nil) {
		t.Error("taken")
	}
	router.Reports().Put(report(1))
	want(t, traces(service.told(router)), "1")
}

func TestATokenThatCannotBeHadForNowLosesNoReport(t *testing.T) {
	service := newScripted(t)
	var asked atomic.Int32
	router := client(t, service.target, routerservice.WithTokenFrom(func(context.Context) (string, error) {
		if asked.Add(1) == 1 {
			return "", errors.New("the file is being written")
		}
		return "secret", nil
	}))
	router.Reports().Put(report(1))
	want(t, traces(service.told(router)), "1")
}
