// Answers over HTTP: how they are read, so that what was wrong with them is known.

package routerservice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
)

// HTTPResponse is an answer over HTTP that is an error; it reads the body, at most 1 MiB of it, and leaves closing to
// the caller.
func HTTPResponse(response *http.Response) *CallFailedError {
	// What cannot be read to its end does not parse, and then the status alone speaks.
	body, err := io.ReadAll(io.LimitReader(response.Body, bodyMax))
	failed := HTTPStatus(response.StatusCode, response.Header, body)
	if err != nil {
		failed.Err = errors.Join(errors.New("its body broke off"), err)
	}
	return failed
}

// PostJSON posts a body as JSON and reads the answer's, with errors that [Run] knows. The client must not try anything
// again by itself; net/http's own does not for a POST, unless nothing of it was sent or it has an Idempotency-Key. The
// header may be nil.
func PostJSON[T any](ctx context.Context, client *http.Client, url string, header http.Header, body any) (T, error) {
	var answer T
	text, err := json.Marshal(body)
	if err != nil {
		return answer, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return answer, err
	}
	maps.Copy(request.Header, header)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return answer, err
	}
	err = ReadJSON(response, &answer)
	return answer, err
}

// ReadJSON reads a whole answer over HTTP into a value, and closes it. An answer that is an error is a
// [*CallFailedError]. What does not parse is told from what broke off, as a json.Decoder on the body does not.
func ReadJSON(response *http.Response, into any) error {
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return HTTPResponse(response)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// bodyMax bounds what is read of an error's body; those that providers send have a few hundred bytes.
const bodyMax = 1 << 20
