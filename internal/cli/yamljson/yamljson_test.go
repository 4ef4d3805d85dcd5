package yamljson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/cli/yamljson"
	"github.com/signalbox/signalbox/internal/naming"
)

// texts generates strings that YAML parsers may read as another type, and random strings.
func texts() *rapid.Generator[string] {
	odd := []string{"", "yes", "no", "on", "null", "~", "true", "1", "1.0", "0x1f", "1e3", ".inf", "2026-01-01", "a: b", "# c", "- x", " a", "a ",
		"a\n", "\na", "a\n\n", "a\n b", "\ta", "a\tb", "a\r\nb", "<<", "=", "*x", "&x", "!x", "%x", "@", "`", "'", "\"", "{", "[", "\u0085", "\u2028", "\u202e", "a\u2066b\\\u2069", "\u009b", "\ufeff", "\x00", "\U0001f600", "12:30:45", "1_000"}
	return rapid.OneOf(rapid.SampledFrom(odd), rapid.String())
}

func values(depth int) *rapid.Generator[json.RawMessage] {
	scalars := rapid.OneOf(
		rapid.Map(texts(), func(text string) json.RawMessage { return marshal(text) }),
		rapid.Map(rapid.SampledFrom([]string{"null", "true", "false", "0", "-0", "1.10", "1e3", "1E+2", "-1.5e-7", "12345678901234567890123", "0.1"}),
			func(text string) json.RawMessage { return json.RawMessage(text) }),
		rapid.Map(rapid.Float64(), func(number float64) json.RawMessage { return marshal(number) }))
	if depth == 0 {
		return scalars
	}
	below := values(depth - 1)
	lists := rapid.Map(rapid.SliceOfN(below, 0, 4), func(list []json.RawMessage) json.RawMessage { return marshal(list) })
	objects := rapid.Custom(func(t *rapid.T) json.RawMessage {
		names := rapid.SliceOfNDistinct(texts(), 0, 4, rapid.ID[string]).Draw(t, "names")
		var members []string
		for _, name := range names {
			members = append(members, string(marshal(name))+":"+string(below.Draw(t, "member")))
		}
		return json.RawMessage("{" + strings.Join(members, ",") + "}")
	})
	return rapid.OneOf(scalars, lists, objects)
}

func marshal(value any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(text.Bytes())
}

// What JSON says survives YAML: order, numbers as they are spelled, and every text. Terminals can show the YAML.
func TestConversion_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		document := json.RawMessage(fmt.Sprintf(`{"a":%s}`, values(3).Draw(t, "document")))
		text, err := yamljson.FromJSON(document)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.IndexFunc(text, func(r rune) bool { return naming.IsHidden(r) && r != '\n' }); at >= 0 {
			t.Fatalf("a terminal would obey %q", text[at:])
		}
		back, err := yamljson.ToJSON(text)
		if err != nil || len(back) != 1 || !bytes.Equal(back[0].JSON, document) {
			t.Fatalf("%s\nbecame\n%s\nwhich is %v, %v", document, text, back, err)
		}
	})
}

// largeAliases returns 124 KB of YAML that stand for 800 MB in few values.
func largeAliases() string {
	return "a: &x " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*x,", 8_000) + "]\n"
}

func TestToJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want, err string }{
		"several":         {"a: 1\n---\n# nothing\n---\nb: [x, 2.50]\n", `{"a":1}{"b":["x",2.50]}`, ""},
		"JSON":            {`{"a": {"b": [1, null, true]}}`, `{"a":{"b":[1,null,true]}}`, ""},
		"an alias":        {"a: &x {k: v}\nb: *x\n", `{"a":{"k":"v"},"b":{"k":"v"}}`, ""},
		"other numbers":   {"a: 0x1f\nb: +3\nc: 1_000\n", `{"a":31,"b":3,"c":1000}`, ""},
		"a date":          {"a: 2026-01-02\n", `{"a":"2026-01-02"}`, ""},
		"no":              {"a: no\n", `{"a":"no"}`, ""},
		"nothing":         {"# only a comment\n", "", ""},
		"twice":           {"a: 1\nb: 2\na: 3\n", "", `line 3: `},
		"merge":           {"a: &x {k: v}\nb:\n  <<: *x\n", "", "line 3: merge keys (<<) are not supported"},
		"not a number":    {"a: .inf\n", "", "line 1: JSON has no number .inf"},
		"inside itself":   {"a: &x [*x]\n", "", "inside each other"},
		"a bomb":          {bomb(), "", "there are more than"},
		"large aliases":   {largeAliases(), "", "line 2: the text with its aliases expanded has more than 64 MiB"},
		"no YAML":         {"a: [1\n", "", "line "},
		"a name of a map": {"? {a: b}\n: c\n", "", "the name of a member must be a text"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			documents, err := yamljson.ToJSON([]byte(test.text))
			var got strings.Builder
			for _, document := range documents {
				got.Write(document.JSON)
			}
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || got.String() != test.want {
				t.Errorf("got %s, %v", got.String(), err)
			}
		})
	}
}

// bomb returns a small file that stands for 10^8 values.
func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 7 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return text
}
