package flagd_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/flagd"
	"github.com/signalbox/signalbox/internal/flagd/flagdtest"
	"github.com/signalbox/signalbox/internal/rawjson"
	"github.com/signalbox/signalbox/internal/suite"
)

// served is a flag as a provider reads it.
type served struct {
	State          string
	Variants       map[string]json.RawMessage
	DefaultVariant string
	Targeting      json.RawMessage
	Metadata       map[string]any
}

type document struct {
	Flags    map[string]served
	Metadata map[string]any
}

func translate(t *testing.T, flags ...flagd.Flag) (flagd.Document, document) {
	t.Helper()
	made, err := flagd.Translate("production", flags)
	if err != nil {
		t.Fatal(err)
	}
	var read document
	if err := json.Unmarshal(made.Text, &read); err != nil {
		t.Fatalf("%v: %s", err, made.Text)
	}
	return made, read
}

// value evaluates a flag as a provider does.
func (s served) value(t *testing.T, key string, context map[string]any) json.RawMessage {
	t.Helper()
	if s.Targeting == nil {
		return s.Variants[s.DefaultVariant]
	}
	rule, err := jsonlogic.Compile(s.Targeting, jsonlogic.FlagKey(key))
	if err != nil {
		t.Fatalf("%v: %s", err, s.Targeting)
	}
	data, err := jsonlogic.ValueOf(context)
	if err != nil {
		t.Fatal(err)
	}
	result, err := rule.Evaluate(data)
	if err != nil {
		t.Fatal(err)
	}
	if name, is := result.Text(); is {
		return s.Variants[name]
	}
	return s.Variants[s.DefaultVariant]
}

// TestTranslate_ServesServersValue: the translation of random flags serves the server's values, by the server's own JSON
// Logic. scripts/check-flagd checks the values of other implementations.
func TestTranslate_ServesServersValue(t *testing.T) {
	t.Parallel()
	random := flagdtest.New(1)
	var contexts []map[string]any
	for range 20 {
		contexts = append(contexts, random.Context())
	}
	omitted := 0
	for i := range suite.Scale(150, 10_000) {
		flag := random.Flag(fmt.Sprint("flag-", i), true)
		made, read := translate(t, flag)
		if omitted += len(made.Omitted); len(made.Omitted) > 0 {
			continue
		}
		compiled := flageval.Compile(flageval.Definition{Key: flag.Key, Type: flag.Type, Default: flag.Default,
			Environments: map[string]flageval.Environment{"production": flag.Environment}})
		for _, context := range contexts {
			data, err := jsonlogic.ValueOf(flagdtest.ServerContext(context))
			if err != nil {
				t.Fatal(err)
			}
			want := compiled.Evaluate("production", data)
			if got := read.Flags[flag.Key].value(t, flag.Key, context); !rawjson.Same(got, want.Raw()) {
				text, _ := json.Marshal(context)
				t.Fatalf("%s: got %s, want %s (rule %d)\nrules: %s\ncontext: %s\nserved: %s", flag.Key, got, want.Raw(), want.Rule, rulesOf(flag), text, made.Text)
			}
		}
	}
	t.Logf("%d flags are omitted", omitted)
}

func rulesOf(flag flagd.Flag) (texts []string) {
	for _, rule := range flag.Rules {
		texts = append(texts, string(rule.Logic))
	}
	return slices.Clip(texts)
}
