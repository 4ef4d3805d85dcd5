//go:build ignore

// Command check_manifests checks files of Kubernetes manifests as an API server with strict validation decodes them: unknown kinds, unknown
// or repeated members, and values of a wrong type are errors. scripts/check-deploy runs it in a module of its own, because it needs
// Kubernetes' libraries.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	if err := monitoring.AddToScheme(scheme.Scheme); err != nil {
		panic(err) // its types contradict Kubernetes' own
	}
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	failed := false
	for _, file := range os.Args[1:] {
		if err := check(decoder, file); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check decodes each document of a file. A file without any is an error.
func check(decoder runtime.Decoder, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var problems []error
	count := 0
	for documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if isEmpty(document) {
			continue
		}
		count++
		if _, _, err := decoder.Decode(document, nil, nil); err != nil {
			problems = append(problems, fmt.Errorf("document %d: %w", count, err))
		}
	}
	if count == 0 {
		return errors.New("there are no manifests")
	}
	return errors.Join(problems...)
}

// isEmpty reports whether a document has comments only.
func isEmpty(document []byte) bool {
	for line := range bytes.Lines(document) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}
