// Where manifests come from: a kustomization that is built, or a stream of YAML documents.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const stdin = "-"

// read gives every object as JSON. A key that stands twice in one mapping is an error.
func read(folder string) ([]json.RawMessage, error) {
	if folder == stdin {
		return documents(os.Stdin)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, fmt.Errorf("kustomize: %w", err)
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("kustomize: %w", err)
	}
	return documents(bytes.NewReader(text))
}

func documents(from io.Reader) ([]json.RawMessage, error) {
	var objects []json.RawMessage
	reader := utilyaml.NewYAMLReader(bufio.NewReader(from))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return nil, err
		}
		if string(object) != "null" {
			objects = append(objects, object)
		}
	}
}
