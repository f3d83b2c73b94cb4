// The table of failure classes, the same for every client library (clients/conformance), and its one-time reading.

package routerservice

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

//go:embed failure_classes.json
var failureClassesJSON []byte

// failureClasses is failure_classes.json; clients/conformance/README.md says how it is read.
type failureClasses struct {
	CodePlaces       []string       `json:"code_places"`
	CodeHeaders      []string       `json:"code_headers"`
	MessagePlaces    []string       `json:"message_places"`
	StatusPlaces     []string       `json:"status_places"`
	RetryDelayPlaces []string       `json:"retry_delay_places"`
	Subjects         []subjectRow   `json:"subjects"`
	Messages         []messageRow   `json:"messages"`
	GRPC             map[string]int `json:"grpc"`
	GRPCKinds        []grpcKindRow  `json:"grpc_kinds"`
	GRPCNumbers      map[string]int `json:"grpc_numbers"`
	KindStatus       map[Kind]int   `json:"kind_status"`
	Rows             []classRow     `json:"rows"`
}

// subjectRow is what an error code speaks of.
type subjectRow struct {
	Subject   string   `json:"subject"`
	Words     []string `json:"words"`
	MoreWords []string `json:"more_words"`
	Report    string   `json:"report"`
}

// messageRow is what a message speaks of where no code does.
type messageRow struct {
	Subject  string   `json:"subject"`
	Report   string   `json:"report"`
	Statuses []int    `json:"statuses"`
	Begins   []string `json:"begins"`
	Contains []string `json:"contains"`
}

// grpcKindRow turns a gRPC status into another kind; Sent, where it is there, must agree.
type grpcKindRow struct {
	Code string `json:"code"`
	Sent *bool  `json:"sent"`
	Kind Kind   `json:"kind"`
}

// classRow holds where all do that are given: its kinds, statuses, subject, and that the answer is final.
type classRow struct {
	Kinds    []Kind `json:"kinds"`
	Statuses []int  `json:"statuses"`
	Subject  string `json:"subject"`
	Final    bool   `json:"final"`
	Report   string `json:"report"`
	Class    string `json:"class"`
	Then     Then   `json:"then"`
	Of       string `json:"of"`
	Effect   string `json:"effect"`
}

func (r *classRow) holds(kind Kind, status *int, subject string, final bool) bool {
	return (r.Kinds == nil || slices.Contains(r.Kinds, kind)) &&
		(r.Statuses == nil || status != nil && slices.Contains(r.Statuses, *status)) &&
		(r.Subject == "" || r.Subject == subject) &&
		(!r.Final || final)
}

func (r *messageRow) speaks(status int, normal string) bool {
	begins := func(word string) bool { return strings.HasPrefix(normal, word) }
	return slices.Contains(r.Statuses, status) && (slices.ContainsFunc(r.Begins, begins) || containsAny(normal, r.Contains))
}

func containsAny(normal string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(normal, word) })
}

var table = sync.OnceValue(func() *failureClasses {
	var read failureClasses
	if err := json.Unmarshal(failureClassesJSON, &read); err != nil {
		panic("failure_classes.json, which is built in: " + err.Error())
	}
	return &read
})
