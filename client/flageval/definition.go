package flageval

import "encoding/json"

// Type is the type of a flag's values.
type Type string

// The types of flags.
const (
	Boolean Type = "BOOLEAN"
	String  Type = "STRING"
	Numeric Type = "NUMERIC"
	JSON    Type = "JSON"
)

// Definition is a flag as it is configured. It decodes from the attributes of a flag document; the key is its id.
type Definition struct {
	Key          string                 `json:"-"`
	Type         Type                   `json:"type"`
	Default      json.RawMessage        `json:"default"`
	Environments map[string]Environment `json:"environments"`
}

// Environment is a flag's configuration for one environment.
type Environment struct {
	Enabled bool            `json:"enabled"`
	Default json.RawMessage `json:"default"` // absent or null: the flag's default
	Rules   []Rule          `json:"rules"`
}

// UnmarshalJSON decodes an environment, which is enabled by default.
func (e *Environment) UnmarshalJSON(text []byte) error {
	type plain Environment
	enabled := plain{Enabled: true}
	if err := json.Unmarshal(text, &enabled); err != nil {
		return err
	}
	*e = Environment(enabled)
	return nil
}

// Rule serves a value to the contexts that match its logic.
type Rule struct {
	Description string          `json:"description"`
	Logic       json.RawMessage `json:"logic"`
	Value       json.RawMessage `json:"value"`
}
