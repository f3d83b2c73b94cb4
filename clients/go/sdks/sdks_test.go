// What the SDKs of providers return, against a backend that answers as the providers do.

package sdks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	goopenai "github.com/sashabaranov/go-openai"
	"google.golang.org/genai"

	routerservice "router-service.example/clients/go"
)

// sdks make one call with each SDK, which tries nothing again.
var sdks = map[string]func(ctx context.Context, url string) error{
	"openai": func(ctx context.Context, url string) error {
		client := openai.NewClient(openaioption.WithBaseURL(url), openaioption.WithAPIKey("k"), openaioption.WithMaxRetries(0))
		_, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
			Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Is it?")},
		})
		return err
	},
	"openai, streamed": func(ctx context.Context, url string) error {
		client := openai.NewClient(openaioption.WithBaseURL(url), openaioption.WithAPIKey("k"), openaioption.WithMaxRetries(0))
		stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
			Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Is it?")},
		})
		for stream.Next() {
		}
		return stream.Err()
	},
	"go-openai": func(ctx context.Context, url string) error {
		config := goopenai.DefaultConfig("k")
		config.BaseURL = url
		_, err := goopenai.NewClientWithConfig(config).CreateChatCompletion(ctx, goopenai.ChatCompletionRequest{Model: "m"})
		return err
	},
	"anthropic": func(ctx context.Context, url string) error {
		client := anthropic.NewClient(
			anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0))
		_, err := client.Messages.New(ctx, anthropic.MessageNewParams{
			Model: "m", MaxTokens: 9, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Is it?"))},
		})
		return err
	},
	"anthropic, streamed": func(ctx context.Context, url string) error {
		client := anthropic.NewClient(
			anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0))
		stream := client.Messages.NewStreaming(ctx, anthropic.MessageNewParams{
			Model: "m", MaxTokens: 9, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Is it?"))},
		})
		for stream.Next() {
		}
		return stream.Err()
	},
	"genai": func(ctx context.Context, url string) error {
		client, err := genai.NewClient(ctx, &genai.ClientConfig{
			APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url},
		})
		if err != nil {
			return err
		}
		_, err = client.Models.GenerateContent(ctx, "m", genai.Text("Is it?"), nil)
		return err
	},
	"bedrock": func(ctx context.Context, url string) error {
		client := bedrockruntime.New(bedrockruntime.Options{
			BaseEndpoint: &url, Region: "eu-north-1", Retryer: aws.NopRetryer{},
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "k", SecretAccessKey: "s"}, nil
			}),
		})
		_, err := client.Converse(ctx, &bedrockruntime.ConverseInput{ModelId: aws.String("m")})
		return err
	},
}

// answer is one of a backend.
type answer struct {
	status      int
	header      http.Header
	contentType string
	body        string
}

// asked is what an SDK returns against a backend that answers so.
func asked(t *testing.T, sdk string, told answer) error {
	t.Helper()
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		calls++
		for name, values := range told.header {
			writer.Header()[name] = values
		}
		if told.contentType == "" {
			told.contentType = "application/json"
		}
		writer.Header().Set("Content-Type", told.contentType)
		writer.WriteHeader(told.status)
		_, _ = io.WriteString(writer, told.body)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := sdks[sdk](ctx, server.URL)
	if err == nil || calls != 1 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	return err
}

func TestAnswers(t *testing.T) {
	const stream = "text/event-stream"
	for _, one := range []struct {
		sdk  string
		told answer
		want string // class, what comes next, status, code and Retry-After
	}{
		{
			"openai", answer{status: 429, header: http.Header{"Retry-After": {"2"}}, body: `{"error":{"message":"m","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`},
			"transient next_else_same 429 rate_limit_exceeded 2000",
		},
		{
			"openai", answer{status: 429, body: `{"error":{"message":"m","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
			"permanent next 429 insufficient_quota 0",
		},
		{
			"openai", answer{status: 400, body: `{"error":{"message":"This model's maximum context length is 9 tokens.","type":"invalid_request_error","param":null,"code":null}}`},
			"incompatible next_larger_context 400 context_length_exceeded 0",
		},
		{
			"openai", answer{status: 503, contentType: "text/html", body: "<html>"},
			"transient next 503  0",
		},
		{
			"openai", answer{status: 503, header: http.Header{"X-Should-Retry": {"false"}}, body: "{}"},
			"permanent stop 503 x_should_retry_false 0",
		},
		{
			"openai", answer{status: 200, body: `{"choices": `},
			"invalid_response next 200  0",
		},
		{
			"openai, streamed", answer{status: 200, contentType: stream, body: "data: {\"error\":{\"message\":\"m\",\"type\":\"server_error\",\"code\":null}}\n\n"},
			"transient next 200 server_error 0",
		},
		{
			"openai, streamed", answer{status: 429, body: `{"error":{"code":"insufficient_quota"}}`},
			"permanent next 429 insufficient_quota 0",
		},
		{
			"go-openai", answer{status: 429, body: `{"error":{"message":"m","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
			"permanent next 429 insufficient_quota 0",
		},
		{
			"go-openai", answer{status: 400, body: `{"error":{"message":"m","code":"BadRequest","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`},
			"permanent stop 400 ResponsibleAIPolicyViolation 0",
		},
		{
			"go-openai", answer{status: 503, contentType: "text/html", body: "<html>"},
			"transient next 503  0",
		},
		{
			"anthropic", answer{status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
			"transient next 529 overloaded_error 0",
		},
		{
			"anthropic", answer{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`},
			"permanent next 400 credit_balance_too_low 0",
		},
		{
			"anthropic", answer{status: 429, header: http.Header{"Retry-After": {"12"}}, body: `{"type":"error","error":{"type":"rate_limit_error","message":"m"}}`},
			"transient next_else_same 429 rate_limit_error 12000",
		},
		{
			"anthropic", answer{status: 503, contentType: "text/html", body: "<html>"},
			"transient next 503  0",
		},
		{
			"anthropic, streamed", answer{status: 200, contentType: stream, body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}\n\n"},
			"transient next 200 overloaded_error 0",
		},
		{
			"genai", answer{status: 429, body: `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`},
			"transient next_else_same 429 RESOURCE_EXHAUSTED 34500",
		},
		{
			"genai", answer{status: 400, body: `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`},
			"permanent next 400 invalid_api_key 0",
		},
		{
			"genai", answer{status: 503, contentType: "text/html", body: "<html>"},
			"transient next 503  0",
		},
		{
			"bedrock", answer{status: 429, header: http.Header{"X-Amzn-Errortype": {"ThrottlingException"}}, body: `{"message":"Too many requests"}`},
			"transient next_else_same 429 ThrottlingException 0",
		},
		{
			"bedrock", answer{status: 400, header: http.Header{"X-Amzn-Errortype": {"ValidationException"}}, body: `{"message":"Input is too long for requested model."}`},
			"incompatible next_larger_context 400 context_length_exceeded 0",
		},
		{
			"bedrock", answer{status: 503, contentType: "text/html", body: "<html>"},
			"transient next 503  0",
		},
	} {
		t.Run(fmt.Sprintf("%s %d", one.sdk, one.told.status), func(t *testing.T) {
			err := asked(t, one.sdk, one.told)
			seen, ok := routerservice.SeenOfError(err)
			if !ok {
				t.Fatalf("not known: %T %v", err, err)
			}
			told := routerservice.Classify(seen, time.Now())
			got := fmt.Sprintln(told.FailureClass, told.Then, number(told.StatusCode), told.ErrorCode, number(told.RetryAfterMs))
			if got != one.want+"\n" {
				t.Errorf("got  %swant %s\nof %T %v, %+v", got, one.want, err, err, seen)
			}
		})
	}
}

func number(of *uint32) uint32 {
	if of == nil {
		return 0
	}
	return *of
}

func TestNoAnswers(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	stopping := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stopping }))
	defer hanging.Close()
	defer close(stopping)
	for name, call := range sdks {
		t.Run(name, func(t *testing.T) {
			seen, _ := routerservice.SeenOfError(call(t.Context(), closed.URL))
			if seen.Kind != routerservice.KindConnect {
				t.Errorf("refused: %+v", seen)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			err := call(ctx, hanging.URL)
			if seen, _ := routerservice.SeenOfError(err); seen.Kind != routerservice.KindLost {
				t.Errorf("timed out: %+v of %v", seen, err)
			}
			ctx, cancel = context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			err = call(ctx, hanging.URL)
			if seen, _ := routerservice.SeenOfError(err); seen.Kind != routerservice.KindCallerCancelled {
				t.Errorf("cancelled: %+v of %v", seen, err)
			}
			if !errors.Is(err, context.Canceled) {
				t.Logf("does not wrap context.Canceled: %v", err)
			}
		})
	}
}
