package jsonlogic

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"testing"
	"unicode/utf16"

	"github.com/signalbox/signalbox/client/internal/testenv"
)

// tryMany tries a property with many generators; a failure names the seed of its own.
func tryMany(t *testing.T, property func(t *testing.T, g generator)) {
	t.Helper()
	for seed := range uint64(testenv.Scale(300, 30_000)) {
		if property(t, newGenerator(seed)); t.Failed() {
			t.Fatalf("with the seed %d", seed)
		}
	}
}

// float returns any number, and often one of those on which implementations disagree.
func (g generator) float() float64 {
	if g.IntN(4) > 0 {
		if f := math.Float64frombits(g.Uint64()); f == f {
			return f
		}
	}
	f, _ := strconv.ParseFloat(pick(g, numberLiterals()), 64)
	return f
}

// text returns up to a number of the characters.
func (g generator) text(limit int, characters []rune) string {
	text := make([]rune, g.IntN(limit+1))
	for i := range text {
		text[i] = pick(g, characters)
	}
	return string(text)
}

// TestNumber_TextRoundTrip: a number's text is read back as the number, and is JSON.
func TestNumber_TextRoundTrip(t *testing.T) {
	tryMany(t, func(t *testing.T, g generator) {
		f := g.float()
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

// edgeText returns a text of characters at the limits of the encoded lengths in UTF-8 and UTF-16.
func (g generator) edgeText() string {
	return g.text(12, []rune{'a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '\U00010000', '\U0010ffff'})
}

// TestCompareText_UTF16Order: comparing UTF-8 gives the order of UTF-16.
func TestCompareText_UTF16Order(t *testing.T) {
	tryMany(t, func(t *testing.T, g generator) {
		a, b := g.edgeText(), g.edgeText()
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := compareText(a, b); (got < 0) != (want < 0) || (got > 0) != (want > 0) {
			t.Errorf("%q and %q: %d, want %d", a, b, got, want)
		}
	})
}

// TestUnitSlice_UTF16: lengths and cuts count UTF-16 units.
func TestUnitSlice_UTF16(t *testing.T) {
	tryMany(t, func(t *testing.T, g generator) {
		s := g.edgeText()
		units := utf16.Encode([]rune(s))
		if unitLength(s) != len(units) {
			t.Fatalf("%q has %d units, want %d", s, unitLength(s), len(units))
		}
		start := g.IntN(len(units) + 1)
		end := start + g.IntN(len(units)-start+1)
		if got, want := unitSlice(s, start, end), string(utf16.Decode(units[start:end])); got != want {
			t.Errorf("%q[%d:%d] = %q, want %q", s, start, end, got, want)
		}
	})
}

// TestTag_Equality: equal tags of strings up to seven bytes are equal strings; equal strings have equal tags.
func TestTag_Equality(t *testing.T) {
	characters := []rune{'a', 'b', 0, 'é'}
	tryMany(t, func(t *testing.T, g generator) {
		a, b := g.text(9, characters), g.text(9, characters)
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

// TestValue_JSONRoundTrip: this parser and encoding/json read a written value back.
func TestValue_JSONRoundTrip(t *testing.T) {
	tryMany(t, func(t *testing.T, g generator) {
		text := g.datum(4)
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

// TestEquality_Symmetric: == and === are symmetric, and === implies ==.
func TestEquality_Symmetric(t *testing.T) {
	tryMany(t, func(t *testing.T, g generator) {
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
	tryMany(t, func(t *testing.T, g generator) {
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
	tryMany(t, func(t *testing.T, g generator) {
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
