package rawjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/rawjson"
)

func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func pointers(problems []rawjson.Problem) []string {
	found := []string{}
	for _, each := range problems {
		found = append(found, each.Pointer)
	}
	return found
}

func TestCheck_PointsAtWhatParsersRefuse(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&many, `"n%d":%d,`, i, i)
	}
	for text, want := range map[string][]string{
		`1e999`:                     {""},
		`[1, -1e309, 1e308, 2]`:     {"/1"},
		`{"a":{"b":[0,1E+400]}}`:    {"/a/b/1"},
		strings.Repeat("9", 308):    {},
		strings.Repeat("9", 310):    {""},
		`[1e-999,-0.0e0]`:           {},
		`"\ud800"`:                  {""},
		`"\uDC00\uD800"`:            {""},
		`["\ud83d\ude80","\ud83d"]`: {"/1"},
		`["\ud83dx","\ud83d\n","\\ud800","\ud83d\ud83d\ude80"]`: {"/0", "/1", "/3"},
		`{"a":{"\udfff":1}}`:                            {"/a"},
		`{"a":1,"b":2,"a":3}`:                           {"/a"},
		`{"a":{"x/y~z":1,"x\/y~z":2},"b":{"a":1}}`:      {"/a/x~1y~0z"},
		`{"\u0061":1,"a":2}`:                            {"/a"},
		`[{"a":1},{"a":1}]`:                             {},
		`{"a":{"b":1},"b":{"a":1},"c":{"a":{},"a":{}}}`: {"/c/a"},
		`{` + many.String() + `"n3":0,"n39":0,"z":0}`:   {"/n3", "/n39"},
		nested(140):                                     {},
		nested(141):                                     {strings.Repeat("/0", 140)},
		`{"a":` + nested(5000) + `,"b":1e999}`:          {"/a" + strings.Repeat("/0", 139), "/b"},
		`{"line\nbreak":1e999,"": {"":"\ud800"}}`:       {"/line\nbreak", "//"},
		" { \"a\" : [ ] , \"b\" :\t{ } , \"c\":null}\n": {},
	} {
		t.Run(fmt.Sprintf("%.40q", text), func(t *testing.T) {
			if difference := cmp.Diff(want, pointers(rawjson.Check([]byte(text), 100, ""))); difference != "" {
				t.Errorf("%.80s (-want +got)\n%s", text, difference)
			}
		})
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{`1`: 0, `"[{\"["`: 0, `[]`: 1, ` {"a":[],"b":{"c":[1]}} `: 3, `["\\",[[]]]`: 3, nested(900): 900} {
		t.Run(fmt.Sprintf("%.40q", text), func(t *testing.T) {
			if got := rawjson.Depth([]byte(text)); got != want {
				t.Errorf("%.40s: got %d, want %d", text, got, want)
			}
		})
	}
}

func TestCheck_LimitAndException(t *testing.T) {
	t.Parallel()
	text := []byte(`{"x":1e999,"items":[1e999,{"a":1,"a":2}],"y":{"items":[1e999]},"items":1}`)
	if difference := cmp.Diff([]string{"/x", "/y/items/0", "/items"}, pointers(rawjson.Check(text, 100, "items"))); difference != "" {
		t.Error(difference)
	}
	if got := rawjson.Check(text, 1, ""); len(got) != 1 || got[0].Rule == "" {
		t.Errorf("got %+v, want one", got)
	}
}

func TestCheck_Allocations(t *testing.T) {
	text := []byte(`{"context":{"targetingKey":"alice","user":{"key":"alice","age":36,"tags":["a","b"]},"tenant":{"plan":"pro"}}}`)
	if allocations := testing.AllocsPerRun(100, func() { rawjson.Check(text, 1, "") }); allocations > 0 {
		t.Errorf("it allocates %v times", allocations)
	}
}

// FuzzCheck: accepted text can be decoded, and has the same meaning after it was encoded again; and
// jsonlogic, which OFREP asks first, refuses the same texts.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{nested(140), nested(141), `{"a":"\ud800x","b":"\ufffd"}`, `{"\u0061":1,"a":2}`, `["\ud83d\ud83d\ude80",1e308]`, `{"a":[1e999,"\ud800"],"a":{}}`, `{"\ud83d\ude80":-1.5e300}`, nested(80), ` [ { "a" : "\\" } , "\"" ] `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) || !json.Valid(text) {
			return
		}
		problems := rawjson.Check(text, 10, "")
		_, portable, err := jsonlogic.ParsePortable(text, rawjson.MaxDepth)
		if err == nil && portable != (len(problems) == 0) {
			t.Fatalf("%q: portable is %t, and the problems are %v", text, portable, problems)
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			if len(problems) == 0 {
				t.Fatalf("%q cannot be decoded and is not refused: %v", text, err)
			}
			return
		}
		if again, err := json.Marshal(value); err != nil || len(problems) == 0 && len(rawjson.Check(again, 1, "")) > 0 {
			t.Fatalf("%q became %q (%v)", text, again, err)
		}
	})
}
