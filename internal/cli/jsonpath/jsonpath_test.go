package jsonpath_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/cli/jsonpath"
)

const document = `[
	{"id": "checkout-v2", "enabled": true, "rules": [{"value": 1.50}, {"value": 2}], "environments": {"a.b": {"x": null}, "c": {"x": 1}}},
	{"id": "theme", "enabled": false, "rules": [], "environments": {}}
]`

func value(t testing.TB) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestExecute(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{[*].id}`:                         "checkout-v2 theme",
		`[*].id`:                           "checkout-v2 theme",
		`{$[0].id}`:                        "checkout-v2",
		`{.[0].id}`:                        "checkout-v2",
		`{[-1].id}`:                        "theme",
		`id: {[0].id}{"\n"}`:               "id: checkout-v2\n",
		`{[0].rules[*].value}`:             "1.50 2",
		`{[0].environments['a.b']}`:        `{"x":null}`,
		`{[0].environments.*.x}`:           "null 1",
		`{[?(@.enabled==true)].id}`:        "checkout-v2",
		`{[?(@.enabled!=true)].id}`:        "theme",
		`{[?(@.id=="theme")].enabled}`:     "false",
		`{[?(@.id=='theme')].enabled}`:     "false",
		`{[?(@.rules[0].value==1.50)].id}`: "checkout-v2",
		`{[?(@.nothing)].id}`:              "",
		`{[1].rules[*].value}`:             "",
		`{"}"}`:                            "}",
		`no expression`:                    "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			template, err := jsonpath.Parse(text)
			if text == "no expression" {
				if err == nil {
					t.Error("a text that is no path is accepted")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			if err := template.Execute(&got, value(t)); err != nil || got.String() != want {
				t.Errorf("got %q, %v", got.String(), err)
			}
		})
	}
}

func TestExecute_LeadsToNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{.id}`:            `.id: this is a list: write [*].id for each, or [0].id for the first`,
		`{[0].idd}`:        `[0].idd: there is no member "idd". Did you mean id?`,
		`{[*].idd}`:        `[*].idd: there is no member "idd". Did you mean id?`,
		`{[7].id}`:         `[7].id: there is no element 7`,
		`{[0].id.x}`:       `[0].id.x: there is no member "x" in checkout-v2`,
		`{[0].id[*]}`:      `[0].id[*]: checkout-v2 has no elements`,
		`{[0].enabled[0]}`: `[0].enabled[0]: there is no element 0`,
	} {
		t.Run(text, func(t *testing.T) {
			template, err := jsonpath.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := template.Execute(io.Discard, value(t)); err == nil || err.Error() != want {
				t.Errorf("%s: got %v", text, err)
			}
		})
	}
}

func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{.id`, `{[}`, `{..id}`, `{[a]}`, `{[?(@.a<1)]}`, `{.a b}`, `{"\q"}`} {
		t.Run(text, func(t *testing.T) {
			if _, err := jsonpath.Parse(text); err == nil {
				t.Errorf("%s is accepted", text)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{[*].id}`, `{[?(@.id=="theme")].enabled}{"\n"}`, `{.a['b'][-1].*}`, `$.x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if template, err := jsonpath.Parse(text); err == nil {
			_ = template.Execute(io.Discard, value(t)) // it may lead to nothing, and must not panic
		}
	})
}
