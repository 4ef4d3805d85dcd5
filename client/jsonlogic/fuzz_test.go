package jsonlogic

import (
	"encoding/json"
	"errors"
	"testing"
)

func seedPairs(f *testing.F) {
	g := newGenerator(1)
	for range 200 {
		f.Add(g.rule(3), g.data())
		f.Add(g.flagdRule(), g.flagdData())
	}
	for _, rule := range []string{"", "{", "[", `{"a":`, `{"nope":1}`, nested("!", 70, "1"), `{"fractional":[["a",1e300]]}`, `{"map":[{"var":""},{"map":[{"var":""},1]}]}`} {
		f.Add(rule, "[[1,2],[3]]")
	}
}

// FuzzParse: this parser accepts the same texts as encoding/json, except numbers that are too large
// for a float64.
func FuzzParse(f *testing.F) {
	g := newGenerator(2)
	for range 200 {
		f.Add(g.datum(4))
	}
	f.Add(`"\ud83d\ude00"`)
	f.Add("\"\xff\\u00\"")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse([]byte(text))
		if valid := json.Valid([]byte(text)); valid != (err == nil) && !errors.Is(err, errTooDeep) {
			t.Fatalf("%q: %v, encoding/json says %v", text, err, valid)
		}
		if err != nil {
			return
		}
		if again, err := Parse(v.AppendJSON(nil)); err != nil || again.json() != v.json() {
			t.Errorf("%q is %s, then %s, %v", text, v.json(), again.json(), err)
		}
	})
}

// FuzzCompile: any text compiles or is rejected with a valid pointer.
func FuzzCompile(f *testing.F) {
	seedPairs(f)
	f.Fuzz(func(t *testing.T, rule, _ string) {
		r, err := Compile([]byte(rule), FlagKey("flag"))
		if err != nil {
			if refused, ok := errors.AsType[*Error](err); !ok || refused.Pointer != "" && refused.Pointer[0] != '/' {
				t.Errorf("%q: %v", rule, err)
			}
			return
		}
		r.References()
		r.Comparisons()
		r.Constant()
	})
}

// FuzzEvaluate: evaluating never panics, and Evaluate and Decide agree.
func FuzzEvaluate(f *testing.F) {
	seedPairs(f)
	f.Fuzz(func(t *testing.T, rule, data string) {
		r, err := Compile([]byte(rule), FlagKey("flag"))
		if err != nil {
			return
		}
		in, err := Parse([]byte(data))
		if err != nil {
			in = String(data)
		}
		v, err := r.Evaluate(in)
		if d := r.Decide(in); !errors.Is(d.Err, err) || d.Matched != (err == nil && v.Truthy()) {
			t.Errorf("%s with %s: %s, %v, but %+v", rule, data, v.json(), err, d)
		}
		if !json.Valid(v.AppendJSON(nil)) && json.Valid([]byte(data)) {
			t.Errorf("%s with %s: %s is not JSON", rule, data, v.json())
		}
	})
}

// FuzzExplain: Explain agrees with Decide, and its result can be encoded.
func FuzzExplain(f *testing.F) {
	seedPairs(f)
	f.Fuzz(func(t *testing.T, rule, data string) {
		r, err := Compile([]byte(rule), FlagKey("flag"))
		if err != nil {
			return
		}
		in, err := Parse([]byte(data))
		if err != nil {
			return
		}
		e, d := r.Explain(in)
		if want := r.Decide(in); d != want {
			t.Errorf("%s with %s: %+v, want %+v", rule, data, d, want)
		}
		if _, err := json.Marshal(e); err != nil {
			t.Errorf("%s with %s: %v", rule, data, err)
		}
	})
}
