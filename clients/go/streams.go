// The service's streams: many requests, many reports, and the catalogue as it changes.

package routerservice

import (
	"context"
	"errors"
	"io"
	"iter"

	"google.golang.org/grpc"

	pb "router-service.example/clients/go/v1"
)

// DecideStream decides many requests over one stream, which answers in the order they come. An item that makes no sense
// has its error in its own answer and ends nothing; an error of the stream is the last that comes.
//
// The requests are asked for in a goroutine of its own, which ends with them, with an error, or at the first request
// after the loop over the answers was left.
func (c *RouterClient) DecideStream(
	ctx context.Context, requests iter.Seq[*pb.DecideRequest],
) iter.Seq2[*pb.DecideStreamResponse, error] {
	return func(yield func(*pb.DecideStreamResponse, error) bool) {
		streaming, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := c.router.DecideStream(streaming)
		if err != nil {
			yield(nil, routerError(ctx, err))
			return
		}
		go func() {
			for one := range requests {
				if stream.Send(&pb.DecideStreamRequest{Decide: one}) != nil {
					return // what receives is told why
				}
			}
			_ = stream.CloseSend() // never fails
		}()
		received(ctx, stream, yield)
	}
}

// ReportStream tells many reports; its answer names those that were not taken, and one of them never ends the stream.
// After an error it is not known what was taken; all of it may be sent again.
func (c *RouterClient) ReportStream(
	ctx context.Context, reports iter.Seq[*pb.Report],
) (*pb.ReportStreamResponse, error) {
	streaming, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.router.ReportStream(streaming)
	if err != nil {
		return nil, routerError(ctx, err)
	}
	for one := range reports {
		if stream.Send(&pb.ReportStreamRequest{Report: one}) != nil {
			break // the answer says why
		}
	}
	answer, err := stream.CloseAndRecv()
	if err != nil {
		return nil, routerError(ctx, err)
	}
	return answer, nil
}

// WatchCatalog gives the version of the catalogue that is served now, and each new one from the moment it serves, until
// the context is done or the loop is left. An error is the last that comes; watch again after a pause.
func (c *RouterClient) WatchCatalog(ctx context.Context) iter.Seq2[*pb.WatchCatalogResponse, error] {
	return func(yield func(*pb.WatchCatalogResponse, error) bool) {
		streaming, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := c.catalog.WatchCatalog(streaming, &pb.WatchCatalogRequest{})
		if err != nil {
			yield(nil, routerError(ctx, err))
			return
		}
		received(ctx, stream, yield)
	}
}

// received gives what comes until the stream ends or nobody wants more.
func received[A any](ctx context.Context, stream receiving[A], yield func(*A, error) bool) {
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			yield(nil, routerError(ctx, err))
			return
		}
		if !yield(answer, nil) {
			return
		}
	}
}

type receiving[A any] interface {
	grpc.ClientStream
	Recv() (*A, error)
}
