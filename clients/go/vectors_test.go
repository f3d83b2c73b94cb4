// The vectors of clients/conformance, but for whole runs.

package routerservice_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	routerservice "router-service.example/clients/go"
)

func TestTheTableIsTheOneThatShips(t *testing.T) {
	if !bytes.Equal(routerservice.FailureClassesJSON(), conformance(t, "failure_classes.json")) {
		t.Error("failure_classes.json differs; copy the one of clients/conformance")
	}
}

type verdict struct {
	Class        string             `json:"class"`
	Then         routerservice.Then `json:"then"`
	Of           string             `json:"of"`
	StatusCode   *uint32            `json:"status_code"`
	ErrorCode    string             `json:"error_code"`
	RetryAfterMs *uint32            `json:"retry_after_ms"`
	Effect       string             `json:"effect"`
}

func TestWhatWasSeenIsClassified(t *testing.T) {
	read := vectors[struct {
		Now   time.Time
		Cases []struct {
			Name   string
			Seen   routerservice.Seen
			NeedMs *int64 `json:"need_ms"`
			Expect verdict
		}
	}](t, "classification.json")
	if len(read.Cases) < 224 {
		t.Fatalf("only %d cases", len(read.Cases))
	}
	for _, one := range read.Cases {
		t.Run(one.Name, func(t *testing.T) {
			told := routerservice.Classify(one.Seen, read.Now)
			got := verdict{
				told.FailureClass, told.Then, told.Of, told.StatusCode, told.ErrorCode, told.RetryAfterMs, told.Effect,
			}
			if one.NeedMs != nil { // depends on the need, which the service alone knows for certain
				got.Effect = one.Expect.Effect
			}
			if text(t, got) != text(t, one.Expect) {
				t.Errorf("got  %s\nwant %s", text(t, got), text(t, one.Expect))
			}
		})
	}
}

func text(t *testing.T, value any) string {
	t.Helper()
	written, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(written)
}

func TestTimeIsDivided(t *testing.T) {
	read := vectors[struct {
		Allowances []struct {
			SpendableMs int64 `json:"spendable_ms"`
			Attempts    int
			ExpectMs    []int64 `json:"expect_ms"`
		}
		BeforeAnAttempt []struct {
			DeadlineMs   int64   `json:"deadline_ms"`
			GoneMs       int64   `json:"gone_ms"`
			NeedsMs      []int64 `json:"needs_ms"`
			AttemptsLeft int     `json:"attempts_left"`
			Expect       struct {
				LeftMs       int64   `json:"left_ms"`
				AllowancesMs []int64 `json:"allowances_ms"`
				Starts       bool
			}
		} `json:"before_an_attempt"`
	}](t, "time_division.json")
	for _, one := range read.Allowances {
		if got := routerservice.AllowancesMs(one.SpendableMs, one.Attempts); !slices.Equal(got, one.ExpectMs) {
			t.Errorf("%d over %d: got %v, want %v", one.SpendableMs, one.Attempts, got, one.ExpectMs)
		}
	}
	for i, one := range read.BeforeAnAttempt {
		left := routerservice.SpendableMs(one.DeadlineMs) - one.GoneMs
		allowed, starts := routerservice.AllowanceMs(left, one.NeedsMs, one.AttemptsLeft)
		if left != one.Expect.LeftMs || starts != one.Expect.Starts || starts && allowed != one.Expect.AllowancesMs[0] {
			t.Errorf("case %d: got %d left, %d, %v; want %+v", i, left, allowed, starts, one.Expect)
		}
	}
	if len(read.Allowances) == 0 || len(read.BeforeAnAttempt) == 0 {
		t.Error("no cases")
	}
}

func TestWaitsAreJitteredOrAskedFor(t *testing.T) {
	read := vectors[struct {
		Jitter []struct {
			Retries  int
			Draw     float64
			ExpectMs int64 `json:"expect_ms"`
		}
		RetryAfter []struct {
			RetryAfterMs int64  `json:"retry_after_ms"`
			SinceMs      int64  `json:"since_ms"`
			NeedMs       int64  `json:"need_ms"`
			LeftMs       *int64 `json:"left_ms"`
			ExpectMs     *int64 `json:"expect_ms"`
		} `json:"retry_after"`
	}](t, "waiting.json")
	for _, one := range read.Jitter {
		if got := routerservice.JitterMs(one.Retries, one.Draw); got != one.ExpectMs {
			t.Errorf("%+v: got %d", one, got)
		}
	}
	for i, one := range read.RetryAfter {
		wait := max(0, one.RetryAfterMs-one.SinceMs)
		ok := routerservice.Fits(wait, one.NeedMs, one.LeftMs)
		if ok != (one.ExpectMs != nil) || ok && wait != *one.ExpectMs {
			t.Errorf("case %d: got %d, %v", i, wait, ok)
		}
	}
	if len(read.Jitter) == 0 || len(read.RetryAfter) == 0 {
		t.Error("no cases")
	}
}

func TestArgumentsHaveOneFormAndOneKey(t *testing.T) {
	read := vectors[struct {
		Cases []struct {
			OperationID string `json:"operation_id"`
			ToolName    string `json:"tool_name"`
			Arguments   string
			Canonical   string
			Key         string
		}
		Refused []struct{ Arguments string }
	}](t, "execution_keys.json")
	for i, one := range read.Cases {
		arguments := json.RawMessage(one.Arguments)
		canonical, err := routerservice.CanonicalJSON(arguments)
		if err != nil || canonical != one.Canonical {
			t.Errorf("case %d: got %s, %v", i, canonical, err)
		}
		key, err := routerservice.ExecutionKey(one.OperationID, one.ToolName, arguments)
		if err != nil || key != one.Key {
			t.Errorf("case %d: got %s, %v", i, key, err)
		}
		if again, err := routerservice.CanonicalJSON(json.RawMessage(canonical)); err != nil || again != canonical {
			t.Errorf("case %d: again %s, %v", i, again, err)
		}
		var parsed any // as a program has it that read the arguments itself
		if err := json.Unmarshal(arguments, &parsed); err != nil {
			t.Fatal(err)
		}
		if again, err := routerservice.CanonicalJSON(parsed); err != nil || again != canonical {
			t.Errorf("case %d: parsed %s, %v", i, again, err)
		}
	}
	for _, one := range read.Refused {
		if canonical, err := routerservice.CanonicalJSON(json.RawMessage(one.Arguments)); err == nil {
			t.Errorf("%s: got %s", one.Arguments, canonical)
		}
	}
	if len(read.Cases) == 0 || len(read.Refused) == 0 {
		t.Error("no cases")
	}
}

func TestWhatHasNoCanonicalFormIsRefused(t *testing.T) {
	for _, one := range []any{
		struct{}{}, []byte("{}"), "\xff", map[string]any{"\xff": 1}, []any{func() {}}, json.Number("1e400"),
		json.Number("9007199254740993"), 1<<53 + 1,
		json.RawMessage(`{} {}`), json.RawMessage(`"\ud83dx"`), json.RawMessage(`"\ude00\ud83d"`), json.RawMessage("\"\xff\""),
	} {
		if canonical, err := routerservice.CanonicalJSON(one); err == nil {
			t.Errorf("%#v: got %s", one, canonical)
		}
	}
	for _, one := range []any{json.RawMessage(`"\\ud800"`), json.RawMessage(`"\ud83d\ude00"`), 1 << 53, json.Number("-0")} {
		if _, err := routerservice.CanonicalJSON(one); err != nil {
			t.Errorf("%#v: %v", one, err)
		}
	}
}

func TestThePartsOfAKeyCannotRunIntoEachOther(t *testing.T) {
	first, err := routerservice.ExecutionKey("a", "bc", nil)
	second, err2 := routerservice.ExecutionKey("ab", "c", nil)
	if err != nil || err2 != nil || first == second {
		t.Error(first, second, err, err2)
	}
	if key, err := routerservice.ExecutionKey("a\x00b", "c", nil); err == nil {
		t.Error(key)
	}
	if key, err := routerservice.ExecutionKey("a", "c", fmt.Errorf("no JSON")); err == nil {
		t.Error(key)
	}
}

func TestBodiesAreReadAsFarAsTheyCanBe(t *testing.T) {
	for body, code := range map[string]string{
		`{"error": {"code": "insufficient_quota", "limit": 1e999}}`:                           "insufficient_quota",
		`{"error": {"message": "` + strings.Repeat("é ", 230) + `maximum context length"}}`:   "context_length_exceeded",
		`{"error": {"message": "` + strings.Repeat("é ", 250) + `maximum context length"}}`:   "", // beyond 500 characters
		`{"error": {"code": "insufficient_quota"}} and more`:                                  "",
		`{"error": {"code": "` + strings.Repeat("a", 101) + `", "type": "overloaded_error"}}`: "overloaded_error",
		"{\"error\": {\"code\": \"a.b#insufficient_quota : \\n\", \"type\": \"overloaded\"}}": "insufficient_quota",
	} {
		seen := routerservice.Seen{Kind: routerservice.KindHTTP, Status: 400, Body: body}
		want(t, routerservice.Classify(seen, time.Now()).ErrorCode, code)
	}
}
