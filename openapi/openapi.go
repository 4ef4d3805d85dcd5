// Package openapi embeds the description of the HTTP interface, which is written
// by hand and checked against every exchange in the tests.
package openapi

import (
	_ "embed" // the description is part of the binary
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

//go:embed openapi.yaml
var description []byte

// JSON returns the description as it is served.
func JSON() (json.RawMessage, error) {
	var document any
	if err := yaml.Unmarshal(description, &document); err != nil {
		return nil, fmt.Errorf("reading the interface description: %w", err)
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encoding the interface description: %w", err)
	}
	return text, nil
}
