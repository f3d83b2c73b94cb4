// What comes in pages, as iterators that ask for the next page when it is come to.

package routerservice

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	pb "router-service.example/clients/go/v1"
)

// ListTraces gives decisions and refusals without their reports, newest first, of which every filter of the request
// holds. An error is the last that comes.
func (c *RouterClient) ListTraces(ctx context.Context, request *pb.ListTracesRequest) iter.Seq2[*pb.Trace, error] {
	return paged(request.GetPageToken(), (*pb.ListTracesResponse).GetTraces,
		func(token string) (*pb.ListTracesResponse, error) {
			page := &pb.ListTracesRequest{}
			proto.Merge(page, request)
			page.PageToken = token
			return once(ctx, c, c.timeout, c.router.ListTraces, page)
		})
}

// ListEndpoints gives the endpoints served now, by endpoint_id. An error is the last that comes.
func (c *RouterClient) ListEndpoints(ctx context.Context) iter.Seq2[*pb.ServedEndpoint, error] {
	return paged("", (*pb.ListEndpointsResponse).GetEndpoints, func(token string) (*pb.ListEndpointsResponse, error) {
		return once(ctx, c, c.timeout, c.catalog.ListEndpoints, &pb.ListEndpointsRequest{PageToken: token})
	})
}

// ListPolicies gives the policies served now, by policy_id. An error is the last that comes.
func (c *RouterClient) ListPolicies(ctx context.Context) iter.Seq2[*pb.Policy, error] {
	return paged("", (*pb.ListPoliciesResponse).GetPolicies, func(token string) (*pb.ListPoliciesResponse, error) {
		return once(ctx, c, c.timeout, c.catalog.ListPolicies, &pb.ListPoliciesRequest{PageToken: token})
	})
}

// ListWorkloads gives the workloads served now, every version of each, by name and version. An error is the last that
// comes.
func (c *RouterClient) ListWorkloads(ctx context.Context) iter.Seq2[*pb.Workload, error] {
	return paged("", (*pb.ListWorkloadsResponse).GetWorkloads, func(token string) (*pb.ListWorkloadsResponse, error) {
		return once(ctx, c, c.timeout, c.catalog.ListWorkloads, &pb.ListWorkloadsRequest{PageToken: token})
	})
}

// paged gives the items of one page after the other.
func paged[A interface{ GetNextPageToken() string }, I any](
	token string, items func(A) []I, ask func(token string) (A, error),
) iter.Seq2[I, error] {
	return func(yield func(I, error) bool) {
		for next := token; ; {
			page, err := ask(next)
			if err != nil {
				var none I
				yield(none, err)
				return
			}
			for _, one := range items(page) {
				if !yield(one, nil) {
					return
				}
			}
			if next = page.GetNextPageToken(); next == "" {
				return
			}
		}
	}
}
