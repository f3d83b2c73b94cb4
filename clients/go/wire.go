// Whether a call that net/http makes has reached the wire: its error alone does not tell where a time-out struck.

package routerservice

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// wire watches the requests that are made with its context. A connection that net/http hands out is ready, TLS included;
// before that nothing of a request was sent.
type wire struct {
	wanted, got atomic.Bool
}

func (w *wire) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { w.wanted.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { w.got.Store(true) },
	})
}

// neverReached says that connections were wanted and none was had. False where nothing was seen, as with other
// libraries than net/http.
func (w *wire) neverReached() bool { return w.wanted.Load() && !w.got.Load() }
