// Where time, sleep and chance come from, so that a run can be tested without waiting.

package routerservice

import (
	"context"
	"math/rand/v2"
	"time"
)

// Runtime is time, sleep and chance. A field that is nil is the machine's own.
type Runtime struct {
	// Now is the time of day, which must also tell how long something took where the clock is set meanwhile, as what
	// time.Now returns does.
	Now func() time.Time
	// Sleep returns nil after d, or the context's error as soon as that is done.
	Sleep func(ctx context.Context, d time.Duration) error
	// Random is a number from 0 to 1, 1 excluded.
	Random func() float64
}

func (r Runtime) whole() Runtime {
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Sleep == nil {
		r.Sleep = sleep
	}
	if r.Random == nil {
		r.Random = rand.Float64
	}
	return r
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
