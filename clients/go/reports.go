// Reports on their way: a bounded queue that is told in the background, and what could not be told.

package routerservice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	pb "router-service.example/clients/go/v1"
)

const (
	againBase = 200 * time.Millisecond
	againCap  = 5 * time.Second
	// limitedTimes is how often a report is sent that meets a limit: one that is itself too large must not hold up the
	// others for ever.
	limitedTimes = 10
)

// ReportCounts is what became of reports.
type ReportCounts struct {
	// Waiting have not been answered yet.
	Waiting int
	// Delivered were answered.
	Delivered int
	// Refused were answered with an error that no repetition cures.
	Refused int
	// Dropped found no room.
	Dropped int
	// Unwanted met a service without a store.
	Unwanted int
}

// ReportsLostError says on closing which reports were not delivered. They may be sent again, by any client; each counts
// once.
type ReportsLostError struct {
	// Reports are those that still waited.
	Reports []*pb.Report
	// Dropped is how many more there were for which there was no room.
	Dropped int
}

func (e *ReportsLostError) Error() string {
	return fmt.Sprintf("%d reports were not delivered, %d of them for lack of room", len(e.Reports)+e.Dropped, e.Dropped)
}

// ReportQueue sends reports one after the other, again while the service is away, after waits that grow. Its goroutine
// lives as long as something waits.
type ReportQueue struct {
	send   func(context.Context, *pb.Report) error
	limit  int
	logger *slog.Logger
	wait   func(ctx context.Context, failures int) error

	ctx    context.Context // of what is being sent
	cancel context.CancelFunc

	mutex    sync.Mutex
	waiting  []*pb.Report
	counts   ReportCounts
	closed   bool
	failures int           // in a row
	limited  int           // of these, those that met a limit
	lost     bool          // the answer to an earlier sending of the first one may have been
	ended    chan struct{} // closed when the goroutine ends; nil while there is none
}

func newReportQueue(send func(context.Context, *pb.Report) error, s *settings) *ReportQueue {
	made := &ReportQueue{send: send, limit: s.reportLimit, logger: s.logger}
	machine := Runtime{}.whole()
	made.wait = func(ctx context.Context, failures int) error {
		return machine.Sleep(ctx, pause(failures, machine.Random()))
	}
	made.ctx, made.cancel = context.WithCancel(context.Background())
	return made
}

// pause is how long to wait after so many failures in a row, by full jitter.
func pause(failures int, draw float64) time.Duration {
	return time.Duration(draw * float64(min(againCap, againBase<<min(failures-1, 8))))
}

// Put takes a report, to be sent soon, and says whether it did. One that finds no room, or comes after closing, is
// dropped, which is counted and logged; a nil one is refused.
func (q *ReportQueue) Put(report *pb.Report) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if report == nil {
		q.counts.Refused++
		q.logger.Error("report refused", "why", "it is nil; give a *pb.Report")
		return false
	}
	if q.closed || len(q.waiting) >= q.limit {
		q.counts.Dropped++
		why := "as many wait as there is room for"
		if q.closed {
			why = "the client is closed"
		}
		q.logger.Error("report dropped", "trace_id", report.GetTraceId(), "why", why)
		return false
	}
	q.waiting = append(q.waiting, report)
	if q.ended == nil {
		q.ended = make(chan struct{})
		go q.work(q.ended)
	}
	return true
}

// Counts is what became of the reports so far.
func (q *ReportQueue) Counts() ReportCounts {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	counts := q.counts
	counts.Waiting = len(q.waiting)
	return counts
}

// Flush waits until none waits any more; the error is the context's.
func (q *ReportQueue) Flush(ctx context.Context) error {
	q.mutex.Lock()
	ended := q.ended
	q.mutex.Unlock()
	if ended == nil {
		return nil
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close sends what still waits until the context is done, and tells what could not be delivered.
func (q *ReportQueue) close(ctx context.Context) error {
	q.mutex.Lock()
	q.closed = true
	ended := q.ended
	q.mutex.Unlock()
	flushed := q.Flush(ctx)
	q.cancel()
	if flushed != nil {
		<-ended
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if len(q.waiting) == 0 && q.counts.Dropped == 0 {
		return nil
	}
	lost := &ReportsLostError{Reports: slices.Clone(q.waiting), Dropped: q.counts.Dropped}
	q.logger.Error("reports lost", "why", lost.Error())
	return lost
}

// work sends until nothing waits or the queue is cut off.
func (q *ReportQueue) work(ended chan struct{}) {
	defer close(ended)
	for report := q.first(); report != nil; report = q.first() {
		err := q.send(q.ctx, report)
		if q.ctx.Err() != nil && err != nil {
			return // it still waits, and closing tells of it
		}
		if failures := q.answered(report, err); failures > 0 && q.wait(q.ctx, failures) != nil {
			return
		}
	}
}

// first is the next to be sent; where there is none, the goroutine is over.
func (q *ReportQueue) first() *pb.Report {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if len(q.waiting) == 0 {
		q.ended = nil
		return nil
	}
	return q.waiting[0]
}

// answered notes what came of sending the first one, which goes unless the service could not be reached or was busy; and
// how often in a row that was so.
func (q *ReportQueue) answered(report *pb.Report, err error) int {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	isLimited := errors.Is(err, ErrLimitExceeded)
	if isLimited {
		q.limited++
	}
	if isAway(err) || isLimited && q.limited < limitedTimes {
		q.lost = q.lost || isAway(err)
		q.failures++
		return q.failures
	}
	sentBefore := q.lost
	q.failures, q.limited, q.lost = 0, 0, false
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	switch {
	// Under a retention of 0 a report ends its trace: where the answer to the first sending was lost, this is it.
	case err == nil || sentBefore && errors.Is(err, ErrTraceNotFound):
		q.counts.Delivered++
	case isUnwanted(err):
		q.counts.Unwanted++
	default:
		q.counts.Refused++
		q.logger.Error("report refused", "trace_id", report.GetTraceId(), "why", err.Error())
	}
	return 0
}
