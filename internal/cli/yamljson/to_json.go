package yamljson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// Document is one document of a file.
type Document struct {
	// JSON is the document as a JSON text.
	JSON json.RawMessage
	// Line is where it begins.
	Line int
	// Items has where each item begins, if the document is a list.
	Items []int
}

const (
	// maxNodes and maxBytes limit the expansion of aliases: a few lines of YAML may expand to gigabytes, in many small values
	// or in a few large ones.
	maxNodes = 1 << 20
	maxBytes = 64 << 20 // of JSON, in all documents of a text
	// maxDepth ends an alias that contains itself.
	maxDepth = 1000
)

// number matches the numbers of JSON.
var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// SyntaxError is the error of a text that is neither YAML nor JSON.
type SyntaxError struct{ error }

// Unwrap returns the error of the decoder.
func (e SyntaxError) Unwrap() error { return e.error }

// ToJSON returns the documents of a YAML text, without empty ones. It reads JSON too, because JSON is YAML.
func ToJSON(text []byte) (documents []Document, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	left := budget{nodes: maxNodes, bytes: maxBytes}
	for {
		var node yaml.Node
		if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, SyntaxError{err}
		}
		var converted bytes.Buffer
		writer := &jsonWriter{to: &converted, left: &left}
		if err := writer.write(&node); err != nil {
			return nil, err
		}
		left.bytes -= converted.Len()
		if converted.String() != "null" {
			documents = append(documents, Document{converted.Bytes(), firstLine(&node), itemLines(&node)})
		}
	}
}

// firstLine returns where the content of a document begins.
func firstLine(node *yaml.Node) int {
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		return node.Content[0].Line
	}
	return node.Line
}

// itemLines returns the first line of each item if the document is a list.
func itemLines(node *yaml.Node) (lines []int) {
	if node.Kind != yaml.DocumentNode || len(node.Content) == 0 || node.Content[0].Kind != yaml.SequenceNode {
		return nil
	}
	for _, item := range node.Content[0].Content {
		lines = append(lines, item.Line)
	}
	return lines
}

// budget is the number of nodes and bytes that may still be written.
type budget struct{ nodes, bytes int }

// jsonWriter writes nodes as JSON.
type jsonWriter struct {
	to    *bytes.Buffer
	left  *budget // its bytes do not count this document yet
	depth int
	alias *yaml.Node // the outermost alias that is being written; nil for none
}

func (w *jsonWriter) write(node *yaml.Node) error {
	w.left.nodes--
	w.depth++
	defer func() { w.depth-- }()
	switch {
	case w.left.nodes < 0 || w.depth > maxDepth:
		return at(cmp.Or(w.alias, node), "there are more than %d values, or more than %d inside each other", maxNodes, maxDepth)
	case w.to.Len() > w.left.bytes:
		return at(cmp.Or(w.alias, node), "the text with its aliases expanded has more than %d MiB; split it, or use fewer aliases", maxBytes>>20)
	}
	switch node.Kind {
	case yaml.DocumentNode:
		return w.write(node.Content[0])
	case yaml.AliasNode:
		return w.writeAlias(node)
	case yaml.MappingNode:
		return w.writeMapping(node)
	case yaml.SequenceNode:
		return w.writeSequence(node)
	default:
		return w.writeScalar(node)
	}
}

// writeAlias writes the value of an alias.
func (w *jsonWriter) writeAlias(node *yaml.Node) error {
	outer := w.alias
	defer func() { w.alias = outer }()
	w.alias = cmp.Or(outer, node)
	return w.write(node.Alias)
}

func (w *jsonWriter) writeMapping(node *yaml.Node) error {
	w.to.WriteByte('{')
	seen := make(map[string]bool, len(node.Content)/2)
	for i := 0; i < len(node.Content); i += 2 {
		name := node.Content[i]
		switch {
		case name.Tag == "!!merge":
			return at(name, "merge keys (<<) are not supported; write the members out or use an alias for a whole value")
		case name.Kind != yaml.ScalarNode:
			return at(name, "the name of a member must be a text")
		case seen[name.Value]:
			return at(name, "the member %q occurs twice", name.Value)
		}
		seen[name.Value] = true
		if i > 0 {
			w.to.WriteByte(',')
		}
		w.writeText(name.Value)
		w.to.WriteByte(':')
		if err := w.write(node.Content[i+1]); err != nil {
			return err
		}
	}
	w.to.WriteByte('}')
	return nil
}

func (w *jsonWriter) writeSequence(node *yaml.Node) error {
	w.to.WriteByte('[')
	for i, each := range node.Content {
		if i > 0 {
			w.to.WriteByte(',')
		}
		if err := w.write(each); err != nil {
			return err
		}
	}
	w.to.WriteByte(']')
	return nil
}

// writeScalar writes a single value. A type that JSON does not have, such as a date, is written as its text.
func (w *jsonWriter) writeScalar(node *yaml.Node) error {
	switch node.ShortTag() {
	case "!!null":
		w.to.WriteString("null")
	case "!!bool":
		var value bool
		if err := node.Decode(&value); err != nil {
			return err
		}
		fmt.Fprint(w.to, value)
	case "!!int", "!!float":
		return w.writeNumber(node)
	default:
		w.writeText(node.Value)
	}
	return nil
}

// writeNumber keeps the spelling of a number that JSON can spell, and converts others, such as 0x1f.
func (w *jsonWriter) writeNumber(node *yaml.Node) error {
	if number.MatchString(node.Value) {
		w.to.WriteString(node.Value)
		return nil
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return at(node, "JSON has no number %s", node.Value)
	}
	w.to.Write(text)
	return nil
}

func (w *jsonWriter) writeText(text string) {
	encoded, _ := rawjson.Encode(text) // a text always encodes
	w.to.Write(encoded)
}

// at returns an error about a line.
func at(node *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", node.Line, fmt.Sprintf(format, args...))
}
