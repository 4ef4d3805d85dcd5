package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/cli/yamljson"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Resource is a resource as a file has it.
type Resource struct {
	Kind, ID string
	// Attributes are all other members except runtime and moved.
	Attributes attributes
	// Runtime has the paths of the members that people set at runtime. Apply keeps their stored values.
	Runtime []string
	// MovedFrom is the id that the resource had before; "" if it had none.
	MovedFrom string
	// Source is the file and the line.
	Source string
}

// attributes are the members of a resource.
type attributes map[string]json.RawMessage

// name identifies a resource in an account.
func (r Resource) name() string { return r.Kind + ":" + r.ID }

// label names the resource in sentences.
func (r Resource) label() string { return r.Kind + " " + r.ID }

// Read reads files, folders with all files below them that end in .yaml, .yml or .json, and the input for "-". Its error has
// the problems of all files; a file or folder that cannot be read is an error of usage.
func Read(sources []string, input io.Reader) (all []Resource, err error) {
	var problems []error
	for _, source := range sources {
		files, err := filesOf(source)
		if err != nil {
			problems = append(problems, terminal.Usage(err))
		}
		for _, file := range files {
			found, err := readFile(file, input)
			all, problems = append(all, found...), append(problems, err)
		}
	}
	return all, errors.Join(append(problems, checkUnique(all))...)
}

// filesOf returns a file itself and the files of a folder, sorted.
func filesOf(source string) (files []string, err error) {
	if source == "-" {
		return []string{source}, nil
	}
	info, err := os.Stat(source)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{source}, nil
	}
	err = filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("the folder %s has no file that ends in .yaml, .yml or .json", source)
	}
	return files, err
}

func readFile(file string, input io.Reader) ([]Resource, error) {
	var text []byte
	var err error
	if file == "-" {
		file = "the input"
		if text, err = io.ReadAll(input); err != nil {
			return nil, fmt.Errorf("reading the input: %w", err)
		}
	} else if text, err = os.ReadFile(file); err != nil {
		return nil, terminal.Usage(err)
	}
	documents, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var found []Resource
	var problems []error
	for _, document := range documents {
		resources, err := readDocument(document, file)
		found, problems = append(found, resources...), append(problems, err)
	}
	return found, errors.Join(problems...)
}

// parse reads JSON as JSON, because YAML reads some of its escapes differently, and all else as YAML.
func parse(text []byte) ([]yamljson.Document, error) {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		if documents, err := parseJSON(text); err == nil {
			return documents, nil
		}
	}
	return yamljson.ToJSON(text)
}

func parseJSON(text []byte) (documents []yamljson.Document, err error) {
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var document json.RawMessage
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, err
		}
		start := int(decoder.InputOffset()) - len(document)
		line := 1 + bytes.Count(text[:start], []byte("\n"))
		documents = append(documents, yamljson.Document{JSON: document, Line: line, Items: itemLines(document, line)})
	}
}

// itemLines returns the lines of the items of a list that begins at a known line; nil if it is not a list.
func itemLines(document json.RawMessage, first int) (lines []int) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return nil
	}
	for decoder.More() {
		var item json.RawMessage
		if decoder.Decode(&item) != nil {
			return lines
		}
		start := int(decoder.InputOffset()) - len(item)
		lines = append(lines, first+bytes.Count(document[:start], []byte("\n")))
	}
	return lines
}

// readDocument reads one resource, or a list of them.
func readDocument(document yamljson.Document, file string) (resources []Resource, err error) {
	texts, lines := []json.RawMessage{document.JSON}, []int{document.Line}
	if bytes.HasPrefix(document.JSON, []byte("[")) {
		lines = document.Items
		if err := json.Unmarshal(document.JSON, &texts); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, document.Line, err)
		}
	}
	var problems []error
	for i, text := range texts {
		source := fmt.Sprintf("%s:%d", file, lines[i])
		resource, err := readResource(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", source, err))
			continue
		}
		resource.Source = source
		resources = append(resources, resource)
	}
	return resources, errors.Join(problems...)
}

func readResource(text json.RawMessage) (Resource, error) {
	var members attributes
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return Resource{}, errors.New("a resource must be an object such as {kind: flag, id: checkout-v2, type: BOOLEAN, default: false}")
	}
	for _, problem := range rawjson.Check(text, 1, "") { // json.Unmarshal would take the last of two members with one name
		return Resource{}, fmt.Errorf("%s %s", strings.TrimPrefix(problem.Pointer, "/"), problem.Rule)
	}
	resource := Resource{Kind: members.text("kind"), ID: members.text("id"), Attributes: members}
	delete(members, "kind")
	delete(members, "id")
	switch {
	case resource.Kind == "":
		return resource, fmt.Errorf("kind must be one of %s", strings.Join(signalbox.DocumentKinds(), ", "))
	case !slices.Contains(signalbox.DocumentKinds(), resource.Kind):
		return resource, fmt.Errorf("there is no kind %q; the kinds are %s.%s", resource.Kind, strings.Join(signalbox.DocumentKinds(), ", "),
			naming.DidYouMean(resource.Kind, signalbox.DocumentKinds()))
	case resource.ID == "":
		return resource, fmt.Errorf("the %s has no id, which must be a text", resource.Kind)
	}
	if err := resource.readRuntime(); err != nil {
		return resource, err
	}
	if err := resource.readMoved(); err != nil {
		return resource, err
	}
	if resource.Kind == "logger" {
		resource.ID, resource.MovedFrom = loglevel.Normalize(resource.ID), loglevel.Normalize(resource.MovedFrom)
	}
	return resource, nil
}

// text returns a member that is a text; else "".
func (a attributes) text(name string) string {
	var text string
	if json.Unmarshal(a[name], &text) != nil {
		return ""
	}
	return text
}

func checkUnique(all []Resource) error {
	seen := map[string]string{}
	for _, resource := range all {
		if before, twice := seen[resource.name()]; twice {
			return fmt.Errorf("%s: the %s is in %s already", resource.Source, resource.label(), before)
		}
		seen[resource.name()] = resource.Source
	}
	return nil
}
