// Whole runs of the vectors, over the wire and without waiting.

package routerservice_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

// runCase is one run of the vectors.
type runCase struct {
	Name       string
	Request    json.RawMessage
	Replayable bool
	Draws      []float64
	Decide     decideCase
	Script     []scriptLine
	Expect     struct {
		Steps   []step
		Outcome string
		Answer  *string
		Report  *struct {
			Outcome  string
			Attempts []json.RawMessage
		}
	}
}

// scriptLine is what comes of a call, or of a wait that is cancelled.
type scriptLine struct {
	TakesMs     int64 `json:"takes_ms"`
	Seen        *routerservice.Seen
	Answer      string
	PassedOn    bool   `json:"passed_on"`
	NotAccepted string `json:"not_accepted"`
}

// step is a call or a wait, as the vectors write it.
type step struct {
	Call      string `json:"call,omitempty"`
	TimeoutMs *int64 `json:"timeout_ms,omitempty"`
	// ExtendedMs is the time-out once a part was passed on.
	ExtendedMs *int64 `json:"extended_ms,omitempty"`
	WaitMs     int64  `json:"wait_ms,omitempty"`
}

// backends do what the script says.
type backends struct {
	world   *world
	script  []scriptLine
	steps   []step
	refusal string // what acceptance has against the last answer
}

func (b *backends) call(ctx context.Context, attempt *routerservice.Try) (string, error) {
	line := b.script[0]
	b.script = b.script[1:]
	made := step{Call: attempt.EndpointID()}
	if attempt.Timeout != 0 {
		made.TimeoutMs = new(attempt.Timeout.Milliseconds())
	}
	b.world.goOn(line.TakesMs)
	if line.PassedOn {
		before, bounded := ctx.Deadline()
		attempt.PassedOn()
		if after, _ := ctx.Deadline(); bounded {
			made.ExtendedMs = new((attempt.Timeout + after.Sub(before)).Milliseconds())
		}
	}
	b.steps = append(b.steps, made)
	if line.Seen != nil {
		return "", &routerservice.CallFailedError{Seen: *line.Seen}
	}
	b.refusal = line.NotAccepted
	return line.Answer, nil
}

func (b *backends) accept(string) error {
	if b.refusal != "" {
		return errors.New(b.refusal)
	}
	return nil
}

func (b *backends) sleep(_ context.Context, d time.Duration) error {
	b.steps = append(b.steps, step{WaitMs: d.Milliseconds()})
	b.world.goOn(d.Milliseconds())
	if len(b.script) > 0 && b.script[0].Seen != nil && b.script[0].Seen.Kind == routerservice.KindCallerCancelled {
		b.script = b.script[1:]
		return context.Canceled
	}
	return nil
}

func TestRuns(t *testing.T) {
	read := vectors[struct {
		Now  time.Time
		Runs []runCase
	}](t, "runs.json")
	if len(read.Runs) < 70 {
		t.Fatalf("only %d runs", len(read.Runs))
	}
	service := newScripted(t)
	router := client(t, service.target)
	for _, one := range read.Runs {
		t.Run(one.Name, func(t *testing.T) {
			now := &world{start: read.Now, draws: one.Draws}
			service.begin(one.Decide, now)
			doing := &backends{world: now, script: one.Script}
			options := []routerservice.RunOption{routerservice.WithRuntime(now.runtime(doing.sleep))}
			if one.Replayable {
				options = append(options, routerservice.Replayable())
			}
			request := &pb.DecideRequest{Request: message[pb.RouteRequest](t, one.Request), OperationId: "mine"}
			call := routerservice.Accept(doing.call, doing.accept)
			answer, err := routerservice.Run(t.Context(), router, request, call, options...)
			check(t, &one, doing, answer, err)
			checkReport(t, &one, now, service.told(router))
		})
	}
}

func check(t *testing.T, one *runCase, done *backends, answer *routerservice.Answer[string], err error) {
	t.Helper()
	if got, want := text(t, done.steps), text(t, one.Expect.Steps); got != want && len(done.steps)+len(one.Expect.Steps) > 0 {
		t.Errorf("steps:\ngot  %s\nwant %s", got, want)
	}
	if len(done.script) > 0 || len(done.world.draws) > 0 {
		t.Errorf("left over: %v, %v", done.script, done.world.draws)
	}
	notAnswered, ok := errors.AsType[*routerservice.NotAnsweredError](err)
	switch {
	case err == nil:
		if one.Expect.Outcome != "accepted" || answer.Value != *one.Expect.Answer || answer.Outcome != routerservice.Accepted {
			t.Errorf("answered %q, %s", answer.Value, answer.Outcome)
		}
	case ok:
		if string(notAnswered.Outcome) != one.Expect.Outcome {
			t.Errorf("outcome: %v", notAnswered)
		}
		if refused := notAnswered.Outcome == routerservice.Refused; refused != (notAnswered.Refusal != nil) ||
			refused != (notAnswered.Decision == nil) || refused != (notAnswered.Report == nil) {
			t.Errorf("refusal: %+v", notAnswered.Result)
		}
	default:
		if one.Expect.Outcome != "error" || !errors.Is(err, routerservice.ErrRouterUnavailable) {
			t.Error(err)
		}
	}
	if err != nil && answer != nil {
		t.Errorf("an answer beside an error: %+v", answer)
	}
}

func checkReport(t *testing.T, one *runCase, now *world, reports []*pb.Report) {
	t.Helper()
	want := one.Expect.Report
	if want == nil {
		if len(reports) > 0 {
			t.Errorf("reported: %v", reports)
		}
		return
	}
	if len(reports) != 1 {
		t.Fatalf("%d reports", len(reports))
	}
	got := reports[0]
	if got.GetOutcome() != want.Outcome || got.GetTraceId() != traceID || got.GetOperationId() != "mine" {
		t.Errorf("reported: %v", got)
	}
	if len(got.GetAttempts()) != len(want.Attempts) {
		t.Fatalf("reported: %v", got)
	}
	for i, attempt := range got.GetAttempts() {
		if written, expected := asWritten(t, attempt, now), normal(t, want.Attempts[i]); written != expected {
			t.Errorf("attempt %d:\ngot  %s\nwant %s", i+1, written, expected)
		}
	}
}

// asWritten is an attempt as the vectors write it: what is not told is left out, instants are ms since the run began.
func asWritten(t *testing.T, attempt *pb.Attempt, now *world) string {
	t.Helper()
	plain, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(attempt)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(plain, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "started_at")
	fields["started_ms"] = attempt.GetStartedAt().AsTime().Sub(now.start).Milliseconds()
	return text(t, fields)
}

func normal(t *testing.T, written json.RawMessage) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(written, &fields); err != nil {
		t.Fatal(err)
	}
	return text(t, fields)
}
