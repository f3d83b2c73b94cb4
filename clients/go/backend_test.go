// A backend on loopback that does wrong whatever its path names.

package routerservice_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	routerservice "router-service.example/clients/go"
)

// newBackend is its URL.
func newBackend(t *testing.T) string {
	t.Helper()
	stopping := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		switch request.URL.Path {
		case "/hang":
			select {
			case <-stopping:
			case <-request.Context().Done():
			}
		case "/reset":
			reset(t, answer)
		case "/limited":
			answer.Header().Set("Retry-After", "30")
			answer.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(answer, `{"error":{"code":"rate_limit_exceeded"}}`)
		case "/truncated":
			answer.Header().Set("Content-Length", "12")
			_, _ = io.WriteString(answer, `{"tot`)
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stopping) })
	return server.URL
}

func reset(t *testing.T, answer http.ResponseWriter) {
	connection, _, err := answer.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	tcp := connection.(*net.TCPConn)
	if err := tcp.SetLinger(0); err != nil {
		t.Error(err)
	}
	_ = tcp.Close()
}

// post is what a caller writes: one request, an answer that is an error told as such, all of the body.
func post(ctx context.Context, http *http.Client, url string) ([]byte, error) {
	request, err := newRequest(ctx, url)
	if err != nil {
		return nil, err
	}
	response, err := http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		return nil, routerservice.HTTPResponse(response)
	}
	return io.ReadAll(response.Body)
}

func newRequest(ctx context.Context, url string) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
}
