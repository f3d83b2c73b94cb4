// One attempt: what a call is given, and what is reported of it.

package routerservice

import (
	"math"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "router-service.example/clients/go/v1"
)

// textMax is how many characters of a text are reported.
const textMax = 200

// Try is one attempt, as a call is given it. Its methods may be called from any goroutine until the call returns.
type Try struct {
	// Candidate is where to send the request: its endpoint_id, model, provider, region and so on.
	Candidate *pb.Candidate
	// Decision is what lists the candidate: its trace_id, policy_id, sentence and so on.
	Decision *pb.Decision
	// Number is 1 for the first attempt; the attempt_id of the report.
	Number int
	// Timeout is how long the call may take, which its context knows too; 0 without a deadline. Once a part of the answer
	// was passed on ([Try.PassedOn]), the context's deadline is later.
	Timeout time.Duration

	now   func() time.Time
	begun time.Time
	rest  time.Duration // all that can still be spent, on this attempt and those after it

	mutex    sync.Mutex
	ended    time.Time
	extend   func(by time.Duration) // gives the call more time
	passedOn bool
	verified validation
	told     *pb.Attempt
}

// validation is what acceptance said of the answer.
type validation int

const (
	notChecked validation = iota
	accepted
	refused
)

// Told is what an endpoint says of its answer, for the report; nil and empty are "not told".
type Told struct {
	// InputTokens and OutputTokens are as the endpoint counted them.
	InputTokens, OutputTokens *uint32
	// Cost is in the catalogue's currency, where you know better than tokens × prices.
	Cost *float64
	// FinishReason is why the answer ended: stop, length, …
	FinishReason string
	// StatusCode is the status of the answer.
	StatusCode *uint32
}

// allotted is the time of an attempt, in ms: its own share, and all that can still be spent.
type allotted struct{ share, rest int64 }

// newTry begins an attempt; time is nil without a deadline.
func newTry(candidate *pb.Candidate, number int, allotted *allotted, now func() time.Time) *Try {
	begun := now()
	attempt := &Try{Candidate: candidate, Number: number, now: now, begun: begun, extend: func(time.Duration) {}}
	attempt.told = &pb.Attempt{
		AttemptId:  strconv.Itoa(number),
		EndpointId: candidate.GetEndpointId(),
		StartedAt:  timestamppb.New(begun.Truncate(time.Millisecond)),
	}
	if allotted != nil {
		attempt.Timeout = time.Duration(allotted.share) * time.Millisecond
		attempt.rest = time.Duration(allotted.rest) * time.Millisecond
		attempt.told.TimeoutMs = new(held(allotted.share))
	}
	return attempt
}

// EndpointID is the candidate's endpoint_id.
func (t *Try) EndpointID() string { return t.Candidate.GetEndpointId() }

// FirstToken is to be called when the first token came: it is what the service learns an endpoint's latency from. Only
// the first call counts.
func (t *Try) FirstToken() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.told.TimeToFirstTokenMs == nil {
		t.told.TimeToFirstTokenMs = new(t.since(t.now()))
	}
}

// PassedOn is to be called as soon as a part of the answer went on to somebody: nothing is tried after that, since the
// words of two models are never spliced. So the call may then take all the time that is left, of which a share was kept
// for the attempts after it: the deadline of its context moves.
func (t *Try) PassedOn() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.passedOn {
		t.passedOn = true
		t.extend(t.rest - t.Timeout)
	}
}

// whenExtended is called with how much more time there is, once there is.
func (t *Try) whenExtended(extend func(by time.Duration)) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.extend = extend
}

// Tell notes for the report what the endpoint says of its answer; what is told again takes the place of the former.
func (t *Try) Tell(told Told) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	proto.Merge(t.told, &pb.Attempt{
		InputTokens:  told.InputTokens,
		OutputTokens: told.OutputTokens,
		Cost:         told.Cost,
		FinishReason: told.FinishReason,
		StatusCode:   told.StatusCode,
	})
}

// end is when the call is over; what acceptance does after it is no latency of the endpoint.
func (t *Try) end() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.ended.IsZero() {
		t.ended = t.now()
	}
}

// wasChecked notes what acceptance said.
func (t *Try) wasChecked(result validation) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.verified = result
}

// spliced says whether what failed broke off an answer of which a part was passed on; what acceptance refused was whole.
func (t *Try) spliced() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.passedOn && t.verified != refused
}

// wasPassedOn says whether a part of the answer was passed on.
func (t *Try) wasPassedOn() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.passedOn
}

// latencyMs is how long the call took, once it ended.
func (t *Try) latencyMs() uint32 {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.since(t.ended)
}

// succeeded is what is reported of an attempt that brought an answer.
func (t *Try) succeeded() *pb.Attempt {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.verified == accepted {
		t.told.ValidationResult = "accepted"
	}
	t.told.LatencyMs = new(t.since(t.ended))
	return proto.CloneOf(t.told)
}

// failed is what is reported of an attempt that brought none.
func (t *Try) failed(seen Seen, verdict Verdict) *pb.Attempt {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if seen.Kind == KindAcceptanceFailed {
		t.told.ValidationResult = begin(seen.Why, textMax)
	}
	t.told.LatencyMs = new(t.since(t.ended))
	t.told.FailureClass, t.told.ErrorCode = verdict.FailureClass, verdict.ErrorCode
	t.told.RetryAfterMs = verdict.RetryAfterMs
	if verdict.StatusCode != nil {
		t.told.StatusCode = verdict.StatusCode
	}
	return proto.CloneOf(t.told)
}

func (t *Try) since(moment time.Time) uint32 {
	return held(moment.Sub(t.begun).Round(time.Millisecond).Milliseconds())
}

// held is a number as the wire can hold it.
func held(ms int64) uint32 { return uint32(min(max(ms, 0), math.MaxUint32)) }
