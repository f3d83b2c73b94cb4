// Answers over HTTP, read whole, with errors that a run knows.

package routerservice_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	routerservice "router-service.example/clients/go"
)

func TestPostJSON(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		said := request.Method + " " + request.Header.Get("Content-Type") + " " + request.Header.Get("Authorization") + " " + string(body)
		if said != `POST application/json Bearer key {"n":1}` {
			t.Error(said)
		}
		answers := map[string]func(){
			"/good":      func() { _, _ = io.WriteString(answer, `{"total": 12}`) },
			"/cut":       func() { _, _ = io.WriteString(answer, `{"total": `) },
			"/other":     func() { _, _ = io.WriteString(answer, `{"total": "twelve"}`) },
			"/limited":   func() { answer.WriteHeader(http.StatusTooManyRequests) },
			"/elsewhere": func() { answer.WriteHeader(http.StatusNotModified) },
			"/broken": func() {
				answer.Header().Set("Content-Length", "99")
				_, _ = io.WriteString(answer, `{"total": 12}`)
			},
		}
		answers[request.URL.Path]()
	}))
	t.Cleanup(server.Close)
	header := http.Header{"Authorization": {"Bearer key"}}
	post := func(path string) (total, error) {
		return routerservice.PostJSON[total](t.Context(), server.Client(), server.URL+path, header, map[string]int{"n": 1})
	}
	if answer, err := post("/good"); err != nil || *answer.Total != 12 {
		t.Error(answer, err)
	}
	for path, kind := range map[string]routerservice.Kind{
		"/cut": routerservice.KindAcceptanceFailed, "/other": routerservice.KindAcceptanceFailed,
		"/broken": routerservice.KindLost, "/limited": routerservice.KindHTTP, "/elsewhere": routerservice.KindHTTP,
	} {
		if _, err := post(path); kindOf(err) != kind {
			t.Errorf("%s: %v", path, err)
		}
	}
	if len(header) != 1 {
		t.Error("the caller's own header was changed:", header)
	}
	for _, err := range []error{ // faults of one's own
		errorOf(routerservice.PostJSON[total](t.Context(), server.Client(), server.URL, nil, func() {})),
		errorOf(routerservice.PostJSON[total](t.Context(), server.Client(), "http://127.0.0.1:"+noPort, nil, nil)),
	} {
		if _, ok := routerservice.SeenOfError(err); ok || err == nil {
			t.Error(err)
		}
	}
}

func TestAnErrorWhoseBodyBreaksOffIsKnownByItsStatus(t *testing.T) {
	response := &http.Response{StatusCode: 503, Body: io.NopCloser(failing{io.ErrUnexpectedEOF})}
	failed := routerservice.HTTPResponse(response)
	if failed.Seen.Status != 503 || kindOf(failed) != routerservice.KindHTTP || !errors.Is(failed, io.ErrUnexpectedEOF) {
		t.Errorf("%+v", failed)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
