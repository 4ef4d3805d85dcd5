package flags

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
)

func TestReadable(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"checkout-v2": "Checkout V2", "a.b_c": "A B C", "checkout": "Checkout", "0--9": "0 9",
	} {
		t.Run(key, func(t *testing.T) {
			if got := readable(key); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func rule(logic string) Rule {
	return Rule{Logic: json.RawMessage(logic), Value: json.RawMessage("true")}
}

func flagWith(rules ...Rule) Flag {
	return Flag{Key: "flag", Type: flageval.Boolean, Default: json.RawMessage("false"),
		Environments: map[string]Environment{"production": {Enabled: true, Rules: rules}}}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, logic string
		want        []Reference
	}{
		{"a member", `{"==":[{"var":"user.plan"},"pro"]}`, []Reference{{ContextType: "user"}}},
		{"a key", `{"==":[{"var":"user.key"},"alice"]}`, []Reference{{ContextType: "user"}, {"user", "alice"}}},
		{"a key on the other side", `{"===":["alice",{"var":"user.key"}]}`, []Reference{{ContextType: "user"}, {"user", "alice"}}},
		{"keys in a list", `{"in":[{"var":"device.key"},["a","b",7]]}`,
			[]Reference{{ContextType: "device"}, {"device", "7"}, {"device", "a"}, {"device", "b"}}},
		{"a whole type", `{"var":"user"}`, []Reference{{ContextType: "user"}}},
		{"an element, not a context", `{"some":[{"var":"user.roles"},{"==":[{"var":"key"},"x"]}]}`, []Reference{{ContextType: "user"}}},
		{"names that no context has", `{"or":[{"var":"a\u0000b.key"},{"==":[{"var":"user.key"},"x\u0000"]}]}`, []Reference{{ContextType: "user"}}},
		{"a variable that may be missing", `{"missing":["user.plan"]}`, []Reference{{ContextType: "user"}}},
		{"some variables that may be missing", `{"missing_some":[1,["user.plan","device.os"]]}`, []Reference{{ContextType: "device"}, {ContextType: "user"}}},
		{"a share of whoever asks", `{"fractional":[["on",50],["off",50]]}`, nil},
		{"a share by a variable", `{"fractional":[{"var":"device.key"},["on",50],["off",50]]}`, []Reference{{ContextType: "device"}}},
		{"a piece of a text", `{"in":[{"var":"user.key"},"alice,bob"]}`, []Reference{{ContextType: "user"}}},
		{"a text in a key", `{"in":["alice",{"var":"user.key"}]}`, []Reference{{ContextType: "user"}}},
		{"a truth", `{"==":[{"var":"user.key"},true]}`, []Reference{{ContextType: "user"}}},
		{"nothing", `{}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, references(flagWith(rule(c.logic)))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		})
	}
}

func text(s string) optional.Value[string] { return optional.Of(s) }

func raw(s string) optional.Value[json.RawMessage] { return optional.Of(json.RawMessage(s)) }

func choices(values ...string) optional.Value[[]Choice] {
	list := make([]Choice, len(values))
	for i, value := range values {
		list[i] = Choice{Name: value, Value: json.RawMessage(value)}
	}
	return optional.Of(list)
}

// deep returns JSON with a number of nested levels.
func deep(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// wrongIn configures environments with a default that no BOOLEAN flag has.
func wrongIn(environments ...string) map[string]Environment {
	wrong := map[string]Environment{}
	for _, key := range environments {
		wrong[key] = Environment{Default: json.RawMessage(`1`)}
	}
	return wrong
}

func TestValidate_NamesEveryProblem(t *testing.T) {
	t.Parallel()
	environment := func(e Environment) map[string]Environment { return map[string]Environment{"production": e} }
	for _, c := range []struct {
		name  string
		draft Draft
		want  []string
	}{
		{"nothing", Draft{}, []string{"type", "default"}},
		{"an unknown type and more", Draft{Type: text("DATE"), Values: choices(`2`, `2`), Environments: wrongIn("a")},
			[]string{"type", "values/1", "default", "environments/a/default"}},
		{"no type, and anything else right", Draft{Default: optional.Null[json.RawMessage](), Environments: wrongIn("a")}, []string{"type"}},
		{"an unknown type", Draft{Type: text("DATE"), Default: raw("1")}, []string{"type"}},
		{"no default", Draft{Type: text("string")}, []string{"default"}},
		{"null for a STRING", Draft{Type: text("STRING"), Default: optional.Null[json.RawMessage]()}, []string{"default"}},
		{"null for JSON", Draft{Type: text("JSON"), Default: optional.Null[json.RawMessage]()}, nil},
		{"a default of another type", Draft{Type: text("NUMERIC"), Default: raw(`"1"`)}, []string{"default"}},
		{"a number that nothing can hold", Draft{Type: text("NUMERIC"), Default: raw(`1e999`)}, []string{"default"}},
		{"a default that is no choice", Draft{Type: text("STRING"), Default: raw(`"c"`), Values: choices(`"a"`, `"b"`)}, []string{"default"}},
		{"a default that is a choice in another spelling", Draft{Type: text("NUMERIC"), Default: raw(`1.0`), Values: choices(`1`)}, nil},
		{"a choice twice", Draft{Type: text("NUMERIC"), Default: raw(`1`), Values: choices(`1`, `1.0`)}, []string{"values/1"}},
		{"a choice of another type", Draft{Type: text("STRING"), Default: raw(`"a"`), Values: choices(`"a"`, `2`)}, []string{"values/1"}},
		{"no choice at all", Draft{Type: text("STRING"), Default: raw(`"a"`), Values: choices()}, []string{"values"}},
		{"a BOOLEAN with one choice", Draft{Type: text("BOOLEAN"), Default: raw(`true`), Values: choices(`true`)}, []string{"values"}},
		{"a BOOLEAN with both", Draft{Type: text("BOOLEAN"), Default: raw(`true`), Values: choices(`false`, `true`)}, nil},
		{"an environment's default", Draft{Type: text("BOOLEAN"), Default: raw(`true`),
			Environments: environment(Environment{Default: json.RawMessage(`"x"`)})}, []string{"environments/production/default"}},
		{"a rule's value and logic", Draft{Type: text("BOOLEAN"), Default: raw(`true`),
			Environments: environment(Environment{Rules: []Rule{{Logic: json.RawMessage(`{"nope":1}`), Value: json.RawMessage(`3`)}}})},
			[]string{"environments/production/rules/0/value", "environments/production/rules/0/logic/nope"}},
		{"logic that is no object", Draft{Type: text("BOOLEAN"), Default: raw(`true`),
			Environments: environment(Environment{Rules: []Rule{{Logic: json.RawMessage(`true`), Value: json.RawMessage(`true`)}}})},
			[]string{"environments/production/rules/0/logic"}},
		{"environments in their order", Draft{Type: text("BOOLEAN"), Default: raw(`true`), Environments: wrongIn("e", "b", "a/b", "d", "c")},
			[]string{"environments/a~1b/default", "environments/b/default", "environments/c/default", "environments/d/default", "environments/e/default"}},
		{"JSON that is too deep", Draft{Type: text("JSON"), Default: raw(deep(1001)), Values: choices(`1`, deep(1001))}, []string{"values/1", "default"}},
		{"JSON that is deep", Draft{Type: text("JSON"), Default: raw(deep(1000))}, nil},
		{"long texts", Draft{Type: text("BOOLEAN"), Default: raw(`true`), Name: text(strings.Repeat("n", 256)), Description: text(strings.Repeat("d", 2001))},
			[]string{"name", "description"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectProblems(t, c.draft, c.want)
		})
	}
}

func TestChangedFlags(t *testing.T) {
	t.Parallel()
	flag := func(seq int64, key string) changes.Change { return changes.Change{Seq: seq, Kind: Kind, Key: key} }
	discovery := changes.Change{Seq: 7, Kind: Kind, Key: changes.AllKeys, After: json.RawMessage(`{"keys":["x","y"]}`)}
	for _, c := range []struct {
		name string
		news []changes.Change
		to   int64
		want []string // nil for a gap
	}{
		{"other resources", []changes.Change{{Seq: 6, Kind: "api_key", Key: "k"}}, 6, []string{}},
		{"flags", []changes.Change{flag(6, "a"), flag(7, "b")}, 7, []string{"a", "b"}},
		{"more than was asked for", []changes.Change{flag(6, "a"), flag(7, "b")}, 6, []string{"a", "b"}},
		{"a discovery", []changes.Change{flag(6, "a"), discovery}, 7, []string{"a", "x", "y"}},
		{"a gap at the start", []changes.Change{flag(7, "a")}, 7, nil},
		{"not far enough", []changes.Change{flag(6, "a")}, 9, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, changedFlags(c.news, 5, c.to)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		})
	}
}

// expectProblems checks at which members the validation of a draft finds problems.
func expectProblems(t *testing.T, draft Draft, want []string) {
	t.Helper()
	draft.validate("flag")
	var got []string
	for _, refusal := range fault.All(draft.Problems.Err()) {
		got = append(got, refusal.Source.Path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}
