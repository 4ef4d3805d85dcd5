package vectors_test

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

type flagVector struct {
	Flag        string          `json:"flag"`
	Definition  json.RawMessage `json:"definition"`
	Environment string          `json:"environment"`
	Context     json.RawMessage `json:"context"`
	Value       json.RawMessage `json:"value"`
	Reason      flageval.Reason `json:"reason"`
	Rule        int             `json:"rule"`
	Code        flageval.Code   `json:"code"`
}

// flagVectors evaluate hand-written flags, most of them with something wrong, and random ones.
func flagVectors(t *testing.T) []any {
	var lines []any
	contexts := []string{`{}`, `null`, `{"user":{"key":"ada","plan":"pro"}}`, `{"user":{"key":"u","trial":true}}`, `{"user":{"fail":true,"plan":"pro"}}`}
	for key, definition := range flagExamples() {
		for _, environment := range []string{"production", "off", "elsewhere"} {
			for _, context := range contexts {
				lines = append(lines, newFlagVector(t, []string{"checkout", "größe"}[key%2], definition, environment, context))
			}
		}
	}
	r := newRandom(2)
	for range 400 {
		lines = append(lines, newFlagVector(t, pick(r, "f", "checkout-v2"), string(raw(t, r.definition())), pick(r, "production", "staging"), string(raw(t, r.data()))))
	}
	return lines
}

func newFlagVector(t *testing.T, key, definition, environment, context string) flagVector {
	t.Helper()
	var d flageval.Definition
	if err := json.Unmarshal([]byte(definition), &d); err != nil {
		t.Fatalf("%s: %v", definition, err)
	}
	d.Key = key
	parsed, err := jsonlogic.Parse([]byte(context))
	if err != nil {
		t.Fatal(err)
	}
	e := flageval.Compile(d).Evaluate(environment, parsed)
	return flagVector{Flag: key, Definition: json.RawMessage(definition), Environment: environment, Context: json.RawMessage(context),
		Value: e.Raw(), Reason: e.Reason, Rule: e.Rule, Code: e.Code}
}

func flagExamples() []string {
	return []string{
		`{"type":"STRING","default":"base","environments":{"production":{"default":"prod","rules":[{"logic":{},"value":"empty"},{"logic":{"in":[{"var":"user.key"},["ada"]]},"value":"staff"},` +
			`{"logic":{"and":[{"var":"user.fail"},{"*":[]}]},"value":"failed"},{"logic":{"and":[{"var":"user.trial"},{"fractional":[[true,1]]}]},"value":"trial"},{"logic":{"==":[{"var":"user.plan"},"pro"]},"value":"pro"}]},` +
			`"off":{"enabled":false,"default":"off","rules":[{"logic":{"==":[1,1]},"value":"never"}]}}}`,
		`{"type":"NUMERIC","default":1.50,"environments":{"production":{"default":"text","rules":[{"logic":{"and":[true,{"nope":1}]},"value":2},{"logic":{"==":[1,1]},"value":"two"},{"logic":null,"value":3},{"value":4},` +
			`{"logic":{"==":[1,1]},"value":5}]},"off":{"rules":[{"logic":{"==":[1,1]}},{"logic":{"==":[1,1]},"value":true}]}}}`,
		`{"type":"BOOLEAN","default":null,"environments":{"production":{"rules":[{"logic":{"var":"user.plan"},"value":true}]},"off":{"enabled":false,"default":false}}}`,
		`{"type":"JSON","default":null,"environments":{"production":{"rules":[{"logic":true,"value":null},{"logic":[1],"value":2}]},"off":{"default":{"b":1,"a":[true,1.0,null]}}}}`,
		`{"type":"JSON","environments":{"production":{"rules":[{"logic":{"!":{"var":"user"}},"value":[1]}]}}}`,
		`{"type":"OTHER","default":true,"environments":{}}`,
		`{"type":"BOOLEAN","default":true,"environments":{"production":{"enabled":true,"default":null,"rules":[]},"off":{"enabled":false}}}`,
	}
}

func (r random) definition() any {
	kind := pick(r, "BOOLEAN", "STRING", "NUMERIC", "JSON")
	environments := map[string]any{}
	for _, name := range []string{"production", "staging"} {
		if r.chance(70) {
			environments[name] = r.environment(kind)
		}
	}
	return map[string]any{"type": kind, "default": r.value(kind), "environments": environments}
}

func (r random) environment(kind string) any {
	rules := []any{}
	for range r.IntN(4) {
		rules = append(rules, map[string]any{"logic": r.rule(2), "value": r.value(kind), "description": ""})
	}
	here := map[string]any{"enabled": r.chance(85), "rules": rules, "default": nil}
	if r.chance(50) {
		here["default"] = r.value(kind)
	}
	return here
}

func (r random) value(kind string) any {
	switch kind {
	case "BOOLEAN":
		return r.chance(50)
	case "STRING":
		return pick(r, "a", "b", "", "größe")
	case "NUMERIC":
		return pick[any](r, 0, 1, 2.5, -3, 1e9)
	}
	return pick[any](r, map[string]any{"a": 1, "on": true}, []any{1, "x"}, "text", 1, true, map[string]any{})
}
