// Errors that carry an answer: of gRPC, and of SDKs, by their shape and without importing any of them.

package routerservice

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	// So that the details of a status can be written as JSON.
	_ "google.golang.org/genproto/googleapis/rpc/errdetails"
)

// seenOfAnswer is what one error of a chain says of an answer that it carries; false where it carries none.
func seenOfAnswer(outermost, one error) (Seen, bool) {
	if carrier, ok := one.(interface{ GRPCStatus() *status.Status }); ok {
		if told := carrier.GRPCStatus(); told != nil && told.Code() != codes.OK {
			return seenOfStatus(told), true
		}
	}
	if text, ok := strings.CutPrefix(one.Error(), streamedError); ok {
		return Seen{Kind: KindHTTP, Status: http.StatusOK, Body: whole(parsedJSON([]byte(text)))}, true
	}
	shape := reflect.ValueOf(one)
	response := responseIn(shape)
	status := statusIn(one, shape, response)
	if status == 0 {
		return Seen{}, false
	}
	header, _ := exported(shape, "Header").(http.Header) // Google's
	if response != nil {
		header = response.Header
	}
	return Seen{Kind: KindHTTP, Status: status, Header: header, Body: bodyIn(outermost, one, shape, response, status)}, true
}

// streamedError is what SDKs of OpenAI and Anthropic may say before the JSON of an error event, in an error without a type.
const streamedError = "received error while streaming: "

// What gRPC says of a call that never reached the wire.
var (
	notSentBegins = []string{
		`connection error: desc = "transport: Error while dialing`,
		`connection error: desc = "transport: authentication handshake failed`,
		`connection error: desc = "error reading server preface`,
		"latest balancer error: ",
		"name resolver error: ",
	}
	notSentEnds = " while waiting for connections to become ready"
)

func seenOfStatus(told *status.Status) Seen {
	seen := Seen{Kind: KindGRPC, Code: told.Code(), NotSent: strings.HasSuffix(told.Message(), notSentEnds)}
	for _, begins := range notSentBegins {
		seen.NotSent = seen.NotSent || strings.HasPrefix(told.Message(), begins)
	}
	body := map[string]any{"message": told.Message()}
	var details []any
	for _, one := range told.Proto().GetDetails() {
		if text, err := protojson.Marshal(one); err == nil { // of a type that is known here
			details = append(details, parsedJSON(text))
		}
	}
	if details != nil {
		body["details"] = details
	}
	seen.Body = body
	return seen
}

// statusIn is the HTTP status that an error has, 0 where it has none.
func statusIn(one error, shape reflect.Value, response *http.Response) int {
	if response != nil {
		return response.StatusCode
	}
	for _, name := range []string{"StatusCode", "HTTPStatusCode", "Code"} {
		if number, ok := exported(shape, name).(int); ok && 400 <= number && number <= 599 {
			return number
		}
	}
	// An error that came as an event of a stream that had begun well.
	_, isAPIError := one.(apiError)
	if _, isEvent := eventIn(shape); isAPIError || isEvent {
		return http.StatusOK
	}
	return 0
}

// bodyIn is what an error has of the answer's body: as it came, or else as much of it as the error tells.
func bodyIn(outermost, one error, shape reflect.Value, response *http.Response, status int) any {
	if raw, ok := one.(interface{ RawJSON() string }); ok && raw.RawJSON() != "" {
		return raw.RawJSON()
	}
	if data, ok := eventIn(shape); ok {
		return data
	}
	switch body := exported(shape, "Body").(type) {
	case []byte:
		return body
	case string:
		return body
	}
	if response != nil && response.Body != nil && status >= 400 {
		if body := reread(response); len(body) > 0 {
			return body
		}
	}
	if told, ok := errors.AsType[apiError](outermost); ok {
		return map[string]any{"__type": told.ErrorCode(), "message": told.ErrorMessage()}
	}
	// SDKs read errors into values that are written as they came.
	text, err := json.Marshal(one)
	if err != nil {
		return nil
	}
	return whole(parsedJSON(text))
}

// whole is a body of which an SDK may have kept only what stood under `error`.
func whole(body any) any {
	if object, ok := body.(map[string]any); ok && object["error"] != nil {
		return body
	}
	return map[string]any{"error": body}
}

// apiError is what AWS makes of an error's body.
type apiError interface {
	error
	ErrorCode() string
	ErrorMessage() string
}

// reread reads the body of a response that an SDK has kept, and leaves it there to be read again.
func reread(response *http.Response) []byte {
	body, _ := io.ReadAll(io.LimitReader(response.Body, bodyMax)) // what cannot be read tells nothing
	response.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// eventIn is the data of an error event of a stream, as OpenAI's SDK keeps it.
func eventIn(shape reflect.Value) ([]byte, bool) {
	event := exported(shape, "Event")
	if event == nil {
		return nil, false
	}
	data, ok := exported(reflect.ValueOf(event), "Data").([]byte)
	return data, ok
}

// responseIn is the response that an error holds, perhaps within one that its SDK has put around it.
func responseIn(shape reflect.Value) *http.Response {
	for _, name := range []string{"Response", "RawResponse"} {
		switch held := exported(shape, name).(type) {
		case nil:
		case *http.Response:
			return held
		default:
			within, _ := exported(reflect.ValueOf(held), "Response").(*http.Response)
			return within
		}
	}
	return nil
}

// exported is the value of a field by its name, nil where there is none or it is nil.
func exported(shape reflect.Value, name string) any {
	if shape.Kind() == reflect.Pointer {
		shape = shape.Elem()
	}
	if shape.Kind() != reflect.Struct {
		return nil
	}
	field, ok := shape.Type().FieldByName(name)
	if !ok || !field.IsExported() {
		return nil
	}
	value, err := shape.FieldByIndexErr(field.Index)
	if err != nil || !value.CanInterface() || value.Kind() == reflect.Pointer && value.IsNil() {
		return nil
	}
	return value.Interface()
}
