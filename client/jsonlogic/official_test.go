package jsonlogic

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// sharedFile finds a file in a folder named shared beside the project, if there is one.
func sharedFile(t *testing.T, name string) (string, bool) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		path := filepath.Join(dir, "shared", name)
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
		dir = filepath.Dir(dir)
	}
	return "", false
}

// TestOfficialSuite runs the public suite if it is beside the project. Without it TestCases has several cases of every
// operator, which TestReference_Cases compares with the reference implementation.
func TestOfficialSuite(t *testing.T) {
	path, ok := sharedFile(t, "vectors/jsonlogic-official.json")
	if !ok {
		t.Log("the public suite is not beside the project")
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, entry := range entries {
		var c [3]json.RawMessage
		if json.Unmarshal(entry, &c) != nil {
			continue // a comment
		}
		cases++
		t.Run(string(c[0])+" "+string(c[1]), func(t *testing.T) {
			check(t, string(c[0]), string(c[1]), string(c[2]))
		})
	}
	if cases != 277 {
		t.Errorf("%d cases, want 277", cases)
	}
}

// check runs a rule in all three ways.
func check(t *testing.T, rule, data, want string) {
	t.Helper()
	r, err := Compile([]byte(rule), FlagKey("flag"))
	if err != nil {
		t.Errorf("compile %s: %v", rule, err)
		return
	}
	in, wanted := mustParse(t, data), mustParse(t, want)
	got, err := r.Evaluate(in)
	if err != nil || !got.Equal(wanted) && string(got.AppendJSON(nil)) != string(wanted.AppendJSON(nil)) {
		t.Errorf("%s with %s = %s, %v; want %s", rule, data, got.AppendJSON(nil), err, want)
	}
	if d := r.Decide(in); d.Err != nil || d.Matched != got.Truthy() {
		t.Errorf("%s with %s: Decide says %+v about %s", rule, data, d, got.AppendJSON(nil))
	}
	e, d := r.Explain(in)
	if d.Err != nil || d.Matched != got.Truthy() || !e.Result.Equal(orNull(got)) {
		t.Errorf("%s with %s: Explain says %+v, %+v about %s", rule, data, e, d, got.AppendJSON(nil))
	}
}

func mustParse(t *testing.T, text string) Value {
	t.Helper()
	v, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return v
}
