package imports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Options has values that the files of some formats do not have.
type Options struct {
	// Environment is the id of the environment for formats without environments.
	Environment string
	// Retry is the largest number of attempts of a run of an imported job; below 2 means one attempt.
	Retry int
}

// Result is the result of an import.
type Result struct {
	// Documents has the resources in the form that apply reads.
	Documents []json.RawMessage
	// Lost has a sentence for everything that could not be translated or that decides differently. If it is empty, every
	// flag decides as before for every context.
	Lost []string
	// Notes has advice for using the documents.
	Notes []string
}

// Format is a file format that can be imported.
type Format struct {
	Name, Short string
	// Text reports whether a file is neither JSON nor YAML. Import gets such a file unchanged, and others as JSON.
	Text   func(name string) bool
	Import func(documents [][]byte, options Options) (Result, error)
}

// Formats returns all formats.
func Formats() []Format {
	return []Format{
		{Name: "launchdarkly", Short: "flags of LaunchDarkly, from GET /api/v2/flags/PROJECT?summary=0", Import: launchDarkly},
		{Name: "unleash", Short: "an export of Unleash", Import: unleash},
		{Name: "flagd", Short: "a flag definition of flagd", Import: flagd},
		{Name: "flipt", Short: "an export of Flipt", Import: flipt},
		{Name: "growthbook", Short: "features of GrowthBook, from GET /api/features/KEY", Import: growthBook},
		{Name: "crontab", Short: "lines of a crontab that call a URL with curl or wget", Import: crontab, Text: func(string) bool { return true }},
		{Name: "spring-logging", Short: "logging.level of Spring Boot, in application.yaml or application.properties", Import: springLogging,
			Text: func(name string) bool { return strings.HasSuffix(name, ".properties") }},
	}
}

// collector builds a result.
type collector struct {
	Result
	environments map[string]bool // the environments for which there are values
	taken        map[string]bool // the kinds and ids of all resources so far
	splits       map[string]bool // flags whose users keep their buckets if the version of flagd is new enough
}

// collect decodes the JSON documents of a format, calls add for each of them, and returns the result.
func collect[T any](documents [][]byte, what string, add func(c *collector, decoded T)) (Result, error) {
	c := newCollector()
	for _, document := range documents {
		decoded, err := decode[T](document, what)
		if err != nil {
			return Result{}, err
		}
		add(c, decoded)
	}
	return c.finish(what)
}

func newCollector() *collector {
	return &collector{environments: map[string]bool{}, taken: map[string]bool{}, splits: map[string]bool{}}
}

// lose adds a sentence to Lost.
func (c *collector) lose(format string, args ...any) {
	c.Lost = append(c.Lost, fmt.Sprintf(format, args...))
}

// add adds a resource. If its id is not valid or is taken, it adds a loss instead.
func (c *collector) add(kind, id string, resource any) {
	switch {
	case kind != "logger" && !naming.IsKey(id, naming.MaxKey):
		c.lose("%s %q: left out, because its id %s.", kind, id, naming.KeyRule(naming.MaxKey))
	case c.taken[kind+" "+id]:
		c.lose("%s %s: the file has it more than once; all but the first are left out.", kind, id)
	default:
		c.taken[kind+" "+id] = true
		c.Documents = append(c.Documents, encode(resource))
	}
}

// addFlag adds a flag.
func (c *collector) addFlag(f flag) {
	f.Kind = "flag"
	for _, name := range slices.Sorted(maps.Keys(f.Environments)) {
		c.environments[name] = true
		configured := f.Environments[name]
		configured.Rules = c.reachable(f, name, configured.Rules)
		if configured.Default != nil && rawjson.Same(configured.Default, f.Default) { // with nil, the environment follows the flag's default
			configured.Default = nil
		}
		f.Environments[name] = configured
	}
	c.add(f.Kind, f.ID, f)
}

// reachable returns the rules that can match, up to the first rule that matches everybody. It omits rules that the
// server would refuse.
func (c *collector) reachable(f flag, environment string, rules []rule) (kept []rule) {
	for i, each := range rules {
		forAll := each.Logic == logic(true)
		switch {
		case each.Logic == logic(false):
			continue
		case forAll:
			each.Logic = everybody()
		}
		if err := refusal(f, each); err != nil {
			c.lose("flag %s in %s: rule %d of the translation is left out, because %v; the users it matched fall through to the next rule.", f.ID, environment, i+1, err)
			continue
		}
		kept = append(kept, each)
		if forAll {
			break
		}
	}
	return kept
}

// refusal returns the reason why the server would refuse a rule: an unknown operator, or a rule that is too large.
func refusal(f flag, r rule) error {
	alone := flageval.Environment{Rules: []flageval.Rule{{Logic: encode(r.Logic), Value: r.Value}}}
	compiled := flageval.Compile(flageval.Definition{Key: f.ID, Type: f.Type, Default: r.Value, Environments: map[string]flageval.Environment{"": alone}})
	for _, problem := range compiled.Problems() {
		return problem.Err
	}
	return nil
}

// choices returns the named values of a flag. If values repeat, it returns none, because the server would refuse them.
func (c *collector) choices(id string, names []string, values []json.RawMessage) (made []choice) {
	seen := map[string]bool{}
	for i, value := range values {
		text := string(rawjson.Canonical(value))
		if seen[text] {
			c.lose("flag %s: the names of its values are left out, because %s occurs more than once.", id, text)
			return nil
		}
		seen[text] = true
		made = append(made, choice{names[i], value})
	}
	return made
}

// finish returns the result with its notes. What names the format.
func (c *collector) finish(what string) (Result, error) {
	if len(c.Documents) == 0 && len(c.Lost) == 0 {
		return Result{}, fmt.Errorf("the file has nothing to import: it is no %s, or an empty one", what)
	}
	if len(c.splits) > 0 {
		c.Notes = append(c.Notes, "Users keep their buckets of fractional as flagd's core 0.16 computes them; 0.13 and older give other users each value: "+
			strings.Join(slices.Sorted(maps.Keys(c.splits)), ", ")+".")
	}
	if len(c.environments) > 0 {
		c.Notes = append(c.Notes, "Values are for these environments, which must be managed: "+strings.Join(slices.Sorted(maps.Keys(c.environments)), ", ")+".")
	}
	return c.Result, nil
}

// flag is a flag in the form that apply reads.
type flag struct {
	Kind         string                 `json:"kind"`
	ID           string                 `json:"id"`
	Name         string                 `json:"name,omitempty"`
	Description  string                 `json:"description,omitempty"`
	Type         flageval.Type          `json:"type"`
	Default      json.RawMessage        `json:"default"`
	Values       []choice               `json:"values,omitempty"`
	Environments map[string]environment `json:"environments,omitempty"`
}

type choice struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

type environment struct {
	Enabled bool            `json:"enabled"`
	Default json.RawMessage `json:"default,omitempty"`
	Rules   []rule          `json:"rules,omitempty"`
}

type rule struct {
	Description string          `json:"description,omitempty"`
	Logic       logic           `json:"logic"`
	Value       json.RawMessage `json:"value"`
}

// typeOf returns the type of a flag with these values.
func typeOf(values []json.RawMessage) flageval.Type {
	if len(values) == 0 {
		return flageval.JSON
	}
	first := typeOfValue(values[0])
	if slices.ContainsFunc(values, func(value json.RawMessage) bool { return typeOfValue(value) != first }) {
		return flageval.JSON
	}
	return first
}

func typeOfValue(value json.RawMessage) flageval.Type {
	text := bytes.TrimSpace(value)
	if len(text) == 0 {
		return flageval.JSON // a missing value is null
	}
	switch first := text[0]; {
	case first == 't' || first == 'f':
		return flageval.Boolean
	case first == '"':
		return flageval.String
	case first == '-' || '0' <= first && first <= '9':
		return flageval.Numeric
	default:
		return flageval.JSON
	}
}

// kindOf returns words for a type of Go or JSON.
func kindOf(name string) string {
	name, _, _ = strings.Cut(name, " ") // "number 1.5"
	switch name {
	case "map", "struct", "object":
		return "an object"
	case "slice", "array":
		return "a list"
	case "string":
		return "a text"
	case "bool":
		return "a boolean"
	}
	return "a number"
}

// encode encodes a value of JSON and texts, which never fails.
func encode(value any) json.RawMessage {
	text, err := rawjson.Encode(value)
	if err != nil {
		panic(err)
	}
	return text
}

// decode decodes a JSON document of a format.
func decode[T any](document []byte, what string) (decoded T, err error) {
	if decoded, err = rawjson.Decode[T](document); err == nil {
		return decoded, nil
	}
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is { // its text names types of Go
		err = fmt.Errorf("%s must be %s, not %s", cmp.Or(wrong.Field, "it"), kindOf(wrong.Type.Kind().String()), kindOf(wrong.Value))
	}
	return decoded, fmt.Errorf("the file is no %s: %w", what, err)
}
