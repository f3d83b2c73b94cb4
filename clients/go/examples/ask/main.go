// Command ask puts a question to whichever endpoint the router decides: ROUTER=127.0.0.1:50051 ask BASE_URL QUESTION.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	routerservice "router-service.example/clients/go"
	pb "router-service.example/clients/go/v1"
)

type completion struct {
	Choices []struct{ Message struct{ Content string } }
}

func call(ctx context.Context, attempt *routerservice.Try) (completion, error) {
	key := http.Header{"Authorization": {"Bearer " + os.Getenv("API_KEY")}} // in earnest, one for each endpoint
	body := map[string]any{"model": attempt.Candidate.GetModel(), "messages": []map[string]string{{"role": "user", "content": os.Args[2]}}}
	answer, err := routerservice.PostJSON[completion](ctx, http.DefaultClient, os.Args[1]+"/chat/completions", key, body)
	if err == nil && len(answer.Choices) == 0 {
		err = routerservice.NotAccepted("no choices")
	}
	return answer, err
}

func main() {
	router, err := routerservice.New(os.Getenv("ROUTER"))
	if err != nil || len(os.Args) != 3 {
		log.Fatal("ROUTER=HOST:PORT ask BASE_URL QUESTION: ", err)
	}
	defer router.Close() // delivers the report
	asked := &pb.DecideRequest{Request: &pb.RouteRequest{Model: "auto", DeadlineMs: new(uint32(20_000))}}
	answer, err := routerservice.Run(context.Background(), router, asked, call, routerservice.Replayable())
	if err != nil {
		log.Panic(err)
	}
	os.Stdout.WriteString(answer.Value.Choices[0].Message.Content + "\n")
}
