package yamljson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox/signalbox/internal/naming"
)

// FromJSON returns a JSON text as one YAML document.
func FromJSON(document []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	node, err := readValue(decoder)
	if err != nil {
		return nil, fmt.Errorf("converting JSON to YAML: %w", err)
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(node), encoder.Close()); err != nil {
		return nil, fmt.Errorf("converting JSON to YAML: %w", err)
	}
	return escapeOverrides(text.Bytes()), nil
}

func readValue(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch value := token.(type) {
	case json.Delim:
		return readContainer(decoder, value)
	case string:
		return stringNode(value), nil
	case json.Number:
		return numberNode(value.String()), nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(value)}, nil
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	}
}

// readContainer reads the rest of an object or an array after its opening bracket.
func readContainer(decoder *json.Decoder, opening json.Delim) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if opening == '[' {
		node = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	}
	for decoder.More() { // members of an object are names and values in turn
		value, err := readValue(decoder)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, value)
	}
	if len(node.Content) == 0 {
		node.Style = yaml.FlowStyle
	}
	_, err := decoder.Token()
	return node, err
}

// stringNode returns a node for a text. Text of several lines gets the literal style, if it needs no escapes.
func stringNode(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	switch {
	case text == "<<" || strings.ContainsFunc(text, needsEscape) || strings.TrimSpace(text) != text && !strings.HasSuffix(text, "\n"):
		node.Style = yaml.DoubleQuotedStyle
	case strings.Contains(text, "\n"):
		node.Style = yaml.LiteralStyle
		if strings.TrimSpace(text) != strings.TrimSuffix(text, "\n") { // leading or trailing blanks
			node.Style = yaml.DoubleQuotedStyle
		}
	}
	return node
}

// needsEscape reports whether a character is written as an escape, so that every parser reads it alike.
func needsEscape(r rune) bool {
	return naming.IsHidden(r) && r != '\n' || r == 0xfeff
}

// escapeOverrides replaces hidden characters by escapes where the encoder took them for printable. Because of needsEscape, all
// of them are between double quotes.
func escapeOverrides(text []byte) []byte {
	if bytes.IndexFunc(text, isOverride) < 0 {
		return text
	}
	var escaped bytes.Buffer
	for _, r := range string(text) {
		if isOverride(r) {
			fmt.Fprintf(&escaped, `\u%04X`, r)
		} else {
			escaped.WriteRune(r)
		}
	}
	return escaped.Bytes()
}

func isOverride(r rune) bool { return r >= 0x80 && naming.IsHidden(r) }

// numberNode keeps the number's spelling. Without the tag, YAML would read some JSON numbers, such as 1e3, as text.
func numberNode(text string) *yaml.Node {
	tag := "!!int"
	if strings.ContainsAny(text, ".eE") {
		tag = "!!float"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}
