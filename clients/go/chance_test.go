// Candidates, requests and failures by chance, the same for the same seed.

package routerservice_test

import (
	"math/rand/v2"
	"net/http"
	"strconv"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

type chance struct{ *rand.Rand }

func newChance(seed uint64) *chance { return &chance{rand.New(rand.NewPCG(seed, 0))} }

func (c *chance) oneIn(n int) bool { return c.IntN(n) == 0 }

func (c *chance) asked() *pb.RouteRequest {
	made := &pb.RouteRequest{MaxAttempts: new(uint32(1 + c.IntN(3)))}
	if c.oneIn(2) {
		made.DeadlineMs = new(uint32(c.IntN(9000)))
	}
	return made
}

func (c *chance) decision() *pb.Decision {
	made := &pb.Decision{}
	for i := range 1 + c.IntN(3) {
		one := &pb.Candidate{EndpointId: strconv.Itoa(i), NeedMs: uint32(c.IntN(3000))}
		if c.oneIn(2) {
			one.ContextWindow = new(uint32(4096 << c.IntN(2)))
		}
		made.Candidates = append(made.Candidates, one)
	}
	return made
}

// seen is nil for an answer.
func (c *chance) seen() *routerservice.Seen {
	kinds := []routerservice.Kind{
		routerservice.KindConnect, routerservice.KindLost, routerservice.KindBrokenOff, routerservice.KindCallerCancelled,
		routerservice.KindAcceptanceFailed, routerservice.KindContentRefused,
	}
	switch c.IntN(3) {
	case 0:
		return nil
	case 1:
		return &routerservice.Seen{Kind: kinds[c.IntN(len(kinds))]}
	}
	made := &routerservice.Seen{
		Kind:   routerservice.KindHTTP,
		Status: []int{400, 401, 404, 429, 503}[c.IntN(5)],
		Header: []http.Header{
			nil, {"Retry-After": {"0"}}, {"Retry-After": {"1"}}, {"X-Should-Retry": {"false"}},
		}[c.IntN(4)],
	}
	if c.oneIn(2) {
		made.Body = `{"error": {"code": "context_length_exceeded"}}`
	}
	return made
}
