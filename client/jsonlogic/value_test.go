package jsonlogic

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		` [ 1 , -2.5e+3 , "a" ] `:            `[1,-2500,"a"]`,
		`{"a":1,"b":{"c":[]},"a":2}`:         `{"a":2,"b":{"c":[]}}`,
		`"\"\\\/\b\f\n\r\t\u0041\u00e9"`:     `"\"\\/\u0008\u000c\u000a\u000d\u0009Aé"`,
		`"\ud83d\ude00 \ud83d \ude00\ud83d"`: `"😀 ` + "\ufffd \ufffd\ufffd" + `"`,
		`"\ud83d\u0041"`:                     `"` + "\ufffd" + `A"`,
		"\"a\xffb\"":                         `"a` + "\ufffd" + `b"`,
		"\"\\n\xff\xfe\"":                    `"\u000a` + "\ufffd\ufffd" + `"`,
		"\t\r\n true\n":                      `true`,
		`1e400`:                              `null`,
		`-0`:                                 `0`,
		`0.1e-6`:                             `1e-7`,
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got := mustParse(t, text).json(); got != want {
				t.Errorf("%s = %s, want %s", text, got, want)
			}
		})
	}
}

func TestParsePortable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"a":[1,-1e308,"\ud83d\ude80","\ufffd"],"b":{"a":1}}`: true,
		`{"a":1,"b":2,"a":1}`:    false,
		`{"\u0061":1,"a":2}`:     false,
		`[1e999]`:                false,
		`["\ud83d"]`:             false,
		`["\ude80\ud83d"]`:       false,
		`["\ud83d\ud83d\ude80"]`: false,
		"[\"\xff\"]":             false,
		`[[[{}]]]`:               true,
		`[[[[{}]]]]`:             false,
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			v, portable, err := ParsePortable([]byte(text), 4)
			if err != nil || portable != want || v.json() != mustParse(t, text).json() {
				t.Errorf("%q: got %s, %t (%v), want %t", text, v.json(), portable, err, want)
			}
		})
	}
	if _, portable, err := ParsePortable([]byte(`[1`), 4); portable || err == nil {
		t.Error("half an array is portable")
	}
}

func TestParse_Malformed(t *testing.T) {
	for _, text := range []string{
		``, ` `, `{`, `[`, `[1`, `[1,`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a" 1}`, `{"a":1 "b":2}`, `"a`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`,
		`"\ud83d\u12"`, "\"\x01\"", "\"\\n\x01\"", `"\n`, `tru`, `nul`, `True`, `01`, `-`, `.5`, `5.`, `1e`, `1e+`, `+1`, `0x1`, `NaN`, `Infinity`, `1 1`, `[] []`, "\ufeff1", `'a'`, "\x00",
		strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
	} {
		t.Run(fmt.Sprintf("%.40q", text), func(t *testing.T) {
			if v, err := Parse([]byte(text)); err == nil {
				t.Errorf("%.20q = %s, want an error", text, v.json())
			}
		})
	}
	if _, err := Parse([]byte(strings.Repeat("[", 1000) + strings.Repeat("]", 1000))); err != nil {
		t.Errorf("1000 levels: %v", err)
	}
}

func TestValueOf(t *testing.T) {
	type custom struct {
		Name string `json:"name"`
	}
	for want, in := range map[string]any{
		`null`:                       nil,
		`true`:                       true,
		`"a"`:                        "a",
		`1`:                          1,
		`2`:                          int64(2),
		`3`:                          uint8(3),
		`4.5`:                        float32(4.5),
		`5`:                          json.Number("5"),
		`6`:                          json.RawMessage(" 6"),
		`7`:                          Number(7),
		`8`:                          int32(8),
		`9`:                          uint32(9),
		`10`:                         uint64(10),
		`[1,"x",null]`:               []any{1, "x", nil},
		`["x","y"]`:                  []string{"x", "y"},
		`[1,2]`:                      []int{1, 2},
		`{"a":[],"b":{"c":true}}`:    map[string]any{"b": map[string]any{"c": true}, "a": []any{}},
		`{"a":"x"}`:                  map[string]string{"a": "x"},
		`{"name":"x"}`:               custom{Name: "x"},
		`"2024-02-03T04:05:06Z"`:     time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC),
		`{"a":{"name":"y"},"b":0.5}`: map[string]any{"a": &custom{Name: "y"}, "b": 0.5},
		`"` + "\ufffd" + `"`:         "\xff",
	} {
		t.Run(fmt.Sprintf("%q", want), func(t *testing.T) {
			v, err := ValueOf(in)
			if err != nil || v.json() != want {
				t.Errorf("%#v = %s, %v, want %s", in, v.json(), err, want)
			}
		})
	}
}

func TestValueOf_Unsupported(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = cycle
	for name, in := range map[string]any{
		"a function":       func() {},
		"a cycle":          cycle,
		"a cycle in lists": []any{cycle},
		"malformed JSON":   json.RawMessage("{"),
		"in a list":        []any{make(chan int)},
	} {
		t.Run(name, func(t *testing.T) {
			if v, err := ValueOf(in); err == nil {
				t.Errorf("%s, want an error", v.json())
			}
		})
	}
}

func TestEqual(t *testing.T) {
	same := [][2]string{{`1`, `1.0`}, {`{"a":1,"b":[2]}`, `{"b":[2],"a":1}`}, {`"a"`, `"\u0061"`}, {`null`, `null`}, {`-0`, `0`}}
	for _, c := range same {
		t.Run(c[0]+" "+c[1], func(t *testing.T) {
			if !mustParse(t, c[0]).Equal(mustParse(t, c[1])) {
				t.Errorf("%s and %s are equal", c[0], c[1])
			}
		})
	}
	other := [][2]string{{`1`, `"1"`}, {`[1,2]`, `[2,1]`}, {`[1]`, `[1,1]`}, {`{"a":1}`, `{"a":1,"b":1}`}, {`{"a":1}`, `{"b":1}`}, {`{"a":1}`, `{"a":2}`}, {`true`, `false`}, {`null`, `0`}}
	for _, c := range other {
		t.Run(c[0]+" "+c[1], func(t *testing.T) {
			if mustParse(t, c[0]).Equal(mustParse(t, c[1])) {
				t.Errorf("%s and %s are not equal", c[0], c[1])
			}
		})
	}
	if nan := Number(math.NaN()); !nan.Equal(nan) || nan.Equal(Null()) || (Value{}).Equal(Null()) {
		t.Error("NaN equals NaN, and undefined is not null")
	}
}

func TestValue_Accessors(t *testing.T) {
	v := mustParse(t, `{"s":"x","n":2,"l":[1],"o":{}}`)
	if s, ok := v.Get("s").Text(); !ok || s != "x" {
		t.Errorf("Text() = %q, %v", s, ok)
	}
	if n, ok := v.Get("n").Float(); !ok || n != 2 {
		t.Errorf("Float() = %v, %v", n, ok)
	}
	_, isText := v.Get("n").Text()
	_, isNumber := v.Get("s").Float()
	if isText || isNumber || len(v.Get("l").Items()) != 1 || v.Get("s").Items() != nil || len(v.Members()) != 4 || v.Get("s").Members() != nil {
		t.Error("accessors answer for their kind only")
	}
	if v.Get("none").Kind() != KindUndefined || v.Get("s").Get("x").Kind() != KindUndefined {
		t.Error("what is not there is undefined")
	}
	var decoded struct{ V Value }
	if err := json.Unmarshal([]byte(`{"V":{"a":[1]}}`), &decoded); err != nil || decoded.V.json() != `{"a":[1]}` {
		t.Errorf("%s, %v", decoded.V.json(), err)
	}
	if err := json.Unmarshal([]byte(`{"V":"\ud800"}`), &decoded); err != nil {
		t.Error(err)
	}
	if text, err := json.Marshal(decoded); err != nil || string(text) != `{"V":"`+"\ufffd"+`"}` {
		t.Errorf("%s, %v", text, err)
	}
}

// TestObject_ManyMembers: members are found whether the object is scanned or indexed, and the last of equal keys counts.
func TestObject_ManyMembers(t *testing.T) {
	var members []Member
	for i := range 40 {
		key := strings.Repeat("k", i%12) + string(rune('a'+i%26))
		members = append(members, Member{key, Number(float64(i))})
		v := Object(members...)
		for _, m := range members {
			last := m.Value
			for _, other := range members {
				if other.Key == m.Key {
					last = other.Value
				}
			}
			if !v.Get(m.Key).Equal(last) {
				t.Fatalf("%d members: %s = %v, want %v", i+1, m.Key, v.Get(m.Key), last)
			}
		}
		if v.Get("absent").Kind() != KindUndefined || v.Get("").Kind() != KindUndefined {
			t.Fatalf("%d members: found what is not there", i+1)
		}
	}
}
