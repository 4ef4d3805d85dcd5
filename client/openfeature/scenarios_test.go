package openfeature_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	of "github.com/open-feature/go-sdk/openfeature"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/openfeature"
)

// These tests are the scenarios of the OpenFeature specification about resolving values, in our own words.

// matching is the rule of every flag with rules here.
const matching = `{"==":[{"var":"user.email"},"ada@example.com"]}`

// choices returns a flag whose values have names. It serves the first value, also to users whom its rule matches.
func choices(key string, kind flageval.Type, logic string, values ...signalbox.FlagChoice) signalbox.Flag {
	here := flageval.Environment{Enabled: true}
	if logic != "" {
		here.Rules = []flageval.Rule{{Logic: []byte(logic), Value: values[0].Value}}
	}
	return signalbox.Flag{Resource: signalbox.Resource{ID: key}, Type: kind, Managed: true, Default: values[0].Value, Values: values,
		Environments: map[string]flageval.Environment{"production": here}}
}

func choice(name, value string) signalbox.FlagChoice {
	return signalbox.FlagChoice{Name: name, Value: json.RawMessage(value)}
}

// evaluate evaluates a flag as the type of a fallback, and returns the value with its details.
func evaluate(t *testing.T, client *of.Client, key string, fallback any, in of.EvaluationContext, options ...of.Option) string {
	t.Helper()
	var value any
	var detail of.EvaluationDetails
	switch fallback := fallback.(type) {
	case bool:
		got, _ := client.BooleanValueDetails(t.Context(), key, fallback, in, options...)
		value, detail = got.Value, got.EvaluationDetails
	case string:
		got, _ := client.StringValueDetails(t.Context(), key, fallback, in, options...)
		value, detail = got.Value, got.EvaluationDetails
	case int64:
		got, _ := client.IntValueDetails(t.Context(), key, fallback, in, options...)
		value, detail = got.Value, got.EvaluationDetails
	case float64:
		got, _ := client.FloatValueDetails(t.Context(), key, fallback, in, options...)
		value, detail = got.Value, got.EvaluationDetails
	default:
		got, _ := client.ObjectValueDetails(t.Context(), key, fallback, in, options...)
		value, detail = got.Value, got.EvaluationDetails
	}
	said := fmt.Sprintf("%v %s %s %s", value, detail.FlagKey, detail.Variant, detail.Reason)
	if detail.ErrorCode != "" {
		said += fmt.Sprintf(" %s: %s", detail.ErrorCode, detail.ErrorMessage)
	}
	return said
}

// TestProvider_ZeroValues: a value that is false, empty or zero is a value. Its variant has the name of the value, and the
// reason says whether there are rules and whether one matched.
func TestProvider_ZeroValues(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		key      string
		kind     flageval.Type
		zero     string
		other    string
		fallback any
		want     string
	}{
		{"boolean", flageval.Boolean, `false`, `true`, true, "false"},
		{"text", flageval.String, `""`, `"hi"`, "hi", ""},
		{"whole", flageval.Numeric, `0`, `1`, int64(1), "0"},
		{"fraction", flageval.Numeric, `0.0`, `0.1`, 0.1, "0"},
		{"object", flageval.JSON, `{}`, `{"a":1}`, map[string]any{"a": 1}, "map[]"},
	}
	var flags []signalbox.Flag
	for _, each := range kinds {
		values := []signalbox.FlagChoice{choice("zero", each.zero), choice("other", each.other)}
		flags = append(flags, choices(each.key, each.kind, "", values...), choices("ruled-"+each.key, each.kind, matching, values...))
	}
	box, _ := live.Static(signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}, Flags: flags})
	client := newClient(t, openfeature.NewProvider(box))
	for _, each := range kinds {
		t.Run(each.key, func(t *testing.T) {
			check := func(key string, in of.EvaluationContext, reason string) {
				t.Helper()
				if got, want := evaluate(t, client, key, each.fallback, in), each.want+" "+key+" zero "+reason; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			check(each.key, of.EvaluationContext{}, "STATIC")
			check("ruled-"+each.key, who("", map[string]any{"email": "ada@example.com"}), "TARGETING_MATCH")
			check("ruled-"+each.key, who("", map[string]any{"email": "bob@example.com"}), "DEFAULT")
			check("ruled-"+each.key, who("", map[string]any{"email": nil}), "DEFAULT")
			check("ruled-"+each.key, of.EvaluationContext{}, "DEFAULT")
		})
	}
}

// TestProvider_Refusals: a flag that is missing, or has another type than the requested one, gives the code's default and a
// message that names the flag.
func TestProvider_Refusals(t *testing.T) {
	t.Parallel()
	box, _ := live.Static(signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}, Flags: []signalbox.Flag{
		choices("boolean", flageval.Boolean, "", choice("on", `true`), choice("off", `false`)),
		choices("text", flageval.String, "", choice("greeting", `"hi"`)),
	}})
	client := newClient(t, openfeature.NewProvider(box))
	for _, fallback := range []any{true, "bye", int64(1), 0.1, map[string]any{"a": 1}} {
		t.Run(fmt.Sprintf("%T", fallback), func(t *testing.T) {
			other := "text"
			if _, is := fallback.(string); is {
				other = "boolean"
			}
			for key, why := range map[string]string{"missing": "FLAG_NOT_FOUND: flag missing not found", other: "TYPE_MISMATCH: flag " + other + " has another type"} {
				want := fmt.Sprintf("%v %s  ERROR %s", fallback, key, why)
				if got := evaluate(t, client, key, fallback, of.EvaluationContext{}); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

// stages is a hook that remembers its calls.
type stages struct {
	of.UnimplementedHook
	calls []string
	add   *of.EvaluationContext // of Before
}

// Before is called before the evaluation.
func (s *stages) Before(context.Context, of.HookContext, of.HookHints) (*of.EvaluationContext, error) {
	s.calls = append(s.calls, "before")
	return s.add, nil
}

// After is called after an evaluation without an error.
func (s *stages) After(_ context.Context, _ of.HookContext, details of.InterfaceEvaluationDetails, _ of.HookHints) error {
	s.calls = append(s.calls, fmt.Sprint("after ", details.Value, " ", details.Variant, " ", details.Reason))
	return nil
}

// Error is called after an evaluation with an error.
func (s *stages) Error(context.Context, of.HookContext, error, of.HookHints) {
	s.calls = append(s.calls, "error")
}

// Finally is called after every evaluation.
func (s *stages) Finally(_ context.Context, _ of.HookContext, details of.InterfaceEvaluationDetails, _ of.HookHints) {
	s.calls = append(s.calls, fmt.Sprint("finally ", details.Value, " ", details.Variant, " ", details.Reason, " ", details.ErrorCode))
}

// TestProvider_Hooks: hooks of callers see what the provider resolved.
func TestProvider_Hooks(t *testing.T) {
	t.Parallel()
	box, _ := live.Static(signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}, Flags: []signalbox.Flag{
		choices("boolean", flageval.Boolean, "", choice("on", `true`), choice("off", `false`)),
	}})
	client := newClient(t, openfeature.NewProvider(box))
	for _, each := range []struct {
		key      string
		fallback any
		want     []string
	}{
		{"boolean", false, []string{"before", "after true on STATIC", "finally true on STATIC "}},
		{"missing", "uh-oh", []string{"before", "error", "finally uh-oh  ERROR FLAG_NOT_FOUND"}},
		{"boolean", int64(13), []string{"before", "error", "finally 13  ERROR TYPE_MISMATCH"}},
	} {
		t.Run(each.key, func(t *testing.T) {
			hook := &stages{}
			evaluate(t, client, each.key, each.fallback, of.EvaluationContext{}, of.WithHooks(hook))
			if !slices.Equal(hook.calls, each.want) {
				t.Errorf("got %q", hook.calls)
			}
		})
	}
}

// TestProvider_MergedContext: rules see the merged context of all levels. If two levels have the same attribute, the SDK decides which one counts.
func TestProvider_MergedContext(t *testing.T) {
	t.Parallel()
	levels := []string{"transaction", "client", "invocation", "hook"}
	rule := func(attribute, value string) string {
		return `{"==":[{"var":"user.` + attribute + `"},"` + value + `"]}`
	}
	var flags []signalbox.Flag
	for _, level := range levels {
		logic := `{"and":[` + rule(level, "own") + `,` + rule("last", level) + `]}`
		flags = append(flags, signalbox.Flag{Resource: signalbox.Resource{ID: level}, Type: flageval.Boolean, Managed: true, Default: json.RawMessage(`false`),
			Environments: map[string]flageval.Environment{"production": {Enabled: true, Rules: []flageval.Rule{{Logic: []byte(logic), Value: []byte(`true`)}}}}})
	}
	box, _ := live.Static(signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}, Flags: flags})
	client := newClient(t, openfeature.NewProvider(box))
	var invocation of.EvaluationContext
	ctx, hook := t.Context(), &stages{}
	for _, level := range levels {
		given := of.NewTargetlessEvaluationContext(map[string]any{level: "own", "last": level})
		switch level {
		case "transaction":
			ctx = of.WithTransactionContext(ctx, given)
		case "client":
			client.SetEvaluationContext(given)
		case "invocation":
			invocation = given
		case "hook":
			hook.add = &given
		}
		if !client.Boolean(ctx, level, false, invocation, of.WithHooks(hook)) {
			t.Errorf("the context of the %s does not count", level)
		}
	}
}
