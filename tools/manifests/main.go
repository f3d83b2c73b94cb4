// Command manifests builds kustomizations and holds what comes out to what a Kubernetes API server would say of it.
//
//	manifests FOLDER...   builds each folder as `kubectl apply -k` does
//	manifests -           reads manifests from standard input, without building
//
// No cluster is asked. Objects are decoded strictly, defaulted and put through the API server's own code for a create;
// Pods and templates of Pods are held to the Pod Security Standard `restricted` by the code of its admission as well.
// It prints one JSON document: per folder the objects as they were built, and every problem. Exit code 1 where there
// are problems, 2 where it could not look.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// Result is what came out of one folder.
type Result struct {
	Folder   string            `json:"folder"`
	Objects  []json.RawMessage `json:"objects"`
	Problems []string          `json:"problems"`
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: manifests FOLDER... | manifests - <manifests.yaml")
		os.Exit(2)
	}
	server, err := newServer()
	if err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(2)
	}
	results, status := make([]Result, 0, len(os.Args)-1), 0
	for _, folder := range os.Args[1:] {
		result := look(server, folder)
		if len(result.Problems) > 0 {
			status = 1
		}
		results = append(results, result)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(results); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(2)
	}
	os.Exit(status)
}

func look(server *server, folder string) Result {
	result := Result{Folder: folder, Objects: []json.RawMessage{}, Problems: []string{}}
	objects, err := read(folder)
	if err != nil {
		result.Problems = append(result.Problems, err.Error())
		return result
	}
	for _, object := range objects {
		result.Objects = append(result.Objects, object)
		result.Problems = append(result.Problems, server.problems(object)...)
	}
	return result
}
