package rawjson_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// FuzzSplit compares taking apart with what encoding/json finds.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, ` { "a" : 1 , "b":[1,{"c":"}"}] } `, `[ "\"", "\\", "]", null,true , -1.5e3 ]`,
		`{"a\u0000":"\ud83d\ude00","a":2,"":{}}`, `"x"`, `12`, `[[],[[]]]`, "[\n1\t,\r2]", `{"a":{"b":{"c":[{}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) || !json.Valid(text) { // as the package demands
			return
		}
		compareArray(t, text)
		compareObject(t, text)
	})
}

func compareArray(t *testing.T, text []byte) {
	t.Helper()
	var want []json.RawMessage
	isArray := json.Unmarshal(text, &want) == nil && bytes.TrimSpace(text)[0] == '['
	got, ok := rawjson.Elements(text)
	if ok != isArray || len(got) != len(want) {
		t.Fatalf("%q: got %d items (%v), want %d (%v)", text, len(got), ok, len(want), isArray)
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%q: item %d is %q, want %q", text, i, got[i], want[i])
		}
	}
}

func compareObject(t *testing.T, text []byte) {
	t.Helper()
	var want map[string]json.RawMessage
	isObject := json.Unmarshal(text, &want) == nil && bytes.TrimSpace(text)[0] == '{'
	got := map[string]json.RawMessage{}
	if ok := rawjson.Members(text, func(name string, value json.RawMessage) { got[name] = value }); ok != isObject || len(got) != len(want) {
		t.Fatalf("%q: got %d members (%v), want %d (%v)", text, len(got), ok, len(want), isObject)
	}
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			t.Fatalf("%q: member %q is %q, want %q", text, name, got[name], want[name])
		}
	}
}
