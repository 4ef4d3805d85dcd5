package jsonlogic

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// TestNumber_TextRoundTrip: a number's text is read back as the number, and is JSON.
func TestNumber_TextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		text := Number(f).String()
		if got := textToNumber(text); got != f {
			t.Errorf("%s is %v, want %v", text, got, f)
		}
		if f == 0 || f-f != 0 {
			return
		}
		if back, err := strconv.ParseFloat(Number(f).json(), 64); err != nil || back != f {
			t.Errorf("%s is %v, %v", Number(f).json(), back, err)
		}
	})
}

// edgeTexts are made of the characters at which UTF-8 and UTF-16 change their ways.
func edgeTexts() *rapid.Generator[string] {
	return rapid.StringOf(rapid.SampledFrom([]rune{'a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '\U00010000', '\U0010ffff'}))
}

// TestCompareText_UTF16Order: comparing UTF-8 gives the order of UTF-16.
func TestCompareText_UTF16Order(t *testing.T) {
	texts := edgeTexts()
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := compareText(a, b); (got < 0) != (want < 0) || (got > 0) != (want > 0) {
			t.Errorf("%q and %q: %d, want %d", a, b, got, want)
		}
	})
}

// TestUnitSlice_UTF16: lengths and cuts are those of UTF-16.
func TestUnitSlice_UTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := edgeTexts().Draw(t, "s")
		units := utf16.Encode([]rune(s))
		if unitLength(s) != len(units) {
			t.Fatalf("%q has %d units, want %d", s, unitLength(s), len(units))
		}
		start := rapid.IntRange(0, len(units)).Draw(t, "start")
		end := rapid.IntRange(start, len(units)).Draw(t, "end")
		if got, want := unitSlice(s, start, end), string(utf16.Decode(units[start:end])); got != want {
			t.Errorf("%q[%d:%d] = %q, want %q", s, start, end, got, want)
		}
	})
}

// TestTag_Equality: equal tags of strings up to seven bytes are equal strings; equal strings have equal tags.
func TestTag_Equality(t *testing.T) {
	texts := rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'b', 0, 'é'}), 0, 9, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		if a == b && tagOf(a) != tagOf(b) {
			t.Errorf("%q has two tags", a)
		}
		if tagOf(a) == tagOf(b) && tagOf(a).whole() && a != b {
			t.Errorf("%q and %q share the tag %x", a, b, tagOf(a))
		}
		if tagOf(a).whole() != (len(a) <= tagText) {
			t.Errorf("%q: whole is wrong", a)
		}
	})
}

// TestValue_JSONRoundTrip: what is written reads back, by this parser and by encoding/json.
func TestValue_JSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := newGenerator(rapid.Uint64().Draw(t, "seed")).datum(4)
		v, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := Parse(v.AppendJSON(nil))
		if err != nil || again.json() != v.json() {
			t.Errorf("%s is %s, then %s, %v", text, v.json(), again.json(), err)
		}
		if !json.Valid(v.AppendJSON(nil)) {
			t.Errorf("%s is not JSON", v.json())
		}
	})
}

// TestEquality_Symmetric: so are == and ===, and === implies ==.
func TestEquality_Symmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGenerator(rapid.Uint64().Draw(t, "seed"))
		a, _ := Parse([]byte(g.datum(2)))
		b, _ := Parse([]byte(g.datum(2)))
		if looseEqual(nil, a, b) != looseEqual(nil, b, a) || strictEqual(a, b) != strictEqual(b, a) || a.Equal(b) != b.Equal(a) {
			t.Errorf("%s and %s: the order matters", a.json(), b.json())
		}
		if strictEqual(a, b) && !looseEqual(nil, a, b) {
			t.Errorf("%s === %s, but not ==", a.json(), b.json())
		}
		isNaN := a.kind == KindNumber && math.IsNaN(a.float())
		if strictEqual(a, a) == isNaN {
			t.Errorf("%s === itself is %v", a.json(), isNaN)
		}
	})
}

// TestSemVer_TotalOrder: comparing versions is a total order.
func TestSemVer_TotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGenerator(rapid.Uint64().Draw(t, "seed"))
		var list []version
		for range 3 {
			v, _ := Parse([]byte(g.version()))
			list = append(list, parseVersion(v))
		}
		a, b, c := list[0], list[1], list[2]
		if a.compare(b) != -b.compare(a) || a.compare(a) != 0 {
			t.Errorf("%v and %v: the order matters", a, b)
		}
		if a.compare(b) <= 0 && b.compare(c) <= 0 && a.compare(c) > 0 {
			t.Errorf("%v, %v, %v: not transitive", a, b, c)
		}
	})
}

// TestRule_ReferencesAreComplete: data cut down to what the rule reads by name gives the same result.
func TestRule_ReferencesAreComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGenerator(rapid.Uint64().Draw(t, "seed"))
		rule, err := Compile([]byte(g.rule(3)))
		if err != nil {
			t.Fatal(err)
		}
		data, _ := Parse([]byte(g.data()))
		keep := map[string]bool{}
		for _, ref := range rule.References() {
			if ref.Dynamic || ref.Path == "" {
				return
			}
			keep[splitPath(ref.Path)[0].key] = true
		}
		var members []Member
		for _, m := range data.Members() {
			if keep[m.Key] {
				members = append(members, m)
			}
		}
		if data.kind != KindObject {
			return
		}
		want, err := rule.Evaluate(data)
		got, err2 := rule.Evaluate(Object(members...))
		if encode(got) != encode(want) || (err == nil) != (err2 == nil) {
			t.Errorf("%s, %v without what %+v leave out; %s, %v with it", got.json(), err2, rule.References(), want.json(), err)
		}
	})
}
