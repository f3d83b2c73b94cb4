// The context of an attempt, whose deadline moves when a part of the answer was passed on.

package routerservice

import (
	"context"
	"sync"
	"time"
)

// attemptTime is a context that ends with the caller's own or at a deadline, which can be moved as those of package
// context cannot.
type attemptTime struct {
	context.Context // the caller's

	unhook func() bool
	done   chan struct{}

	mutex    sync.Mutex
	timer    *time.Timer
	deadline time.Time
	err      error
}

// within is a context that ends after so long; the function ends it at once.
func within(ctx context.Context, timeout time.Duration) (*attemptTime, context.CancelFunc) {
	made := &attemptTime{Context: ctx, done: make(chan struct{})}
	made.mutex.Lock()
	defer made.mutex.Unlock()
	made.deadline = time.Now().Add(timeout)
	made.timer = time.AfterFunc(timeout, made.expire)
	made.unhook = context.AfterFunc(ctx, func() { made.end(ctx.Err()) })
	return made, func() { made.end(context.Canceled) }
}

// Deadline is that of the attempt, or the caller's own where that is sooner.
func (a *attemptTime) Deadline() (time.Time, bool) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if own, ok := a.Context.Deadline(); ok && own.Before(a.deadline) {
		return own, true
	}
	return a.deadline, true
}

// Done is closed when the context ends.
func (a *attemptTime) Done() <-chan struct{} { return a.done }

// Err is why it ended, nil while it has not.
func (a *attemptTime) Err() error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.err
}

// extend moves the deadline, unless it has come.
func (a *attemptTime) extend(by time.Duration) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.err == nil {
		a.deadline = a.deadline.Add(by)
		a.timer.Reset(time.Until(a.deadline))
	}
}

func (a *attemptTime) expire() {
	a.mutex.Lock()
	early := time.Now().Before(a.deadline) // it was moved just when the timer fired
	a.mutex.Unlock()
	if !early {
		a.end(context.DeadlineExceeded)
	}
}

func (a *attemptTime) end(err error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.err != nil {
		return
	}
	a.err = err
	a.timer.Stop()
	a.unhook()
	close(a.done)
}
