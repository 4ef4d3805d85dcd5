package jsonlogic

import (
	"errors"
	"strings"
	"testing"
)

// nested wraps an operator n times around a literal.
func nested(op string, n int, inner string) string {
	return strings.Repeat(`{"`+op+`":[`, n) + inner + strings.Repeat(`]}`, n)
}

func TestCompile_Rejects(t *testing.T) {
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	for name, c := range map[string]struct {
		rule    string
		code    Code
		pointer string
	}{
		"unknown operator":           {`{"frobnicate":[1]}`, CodeUnknownOperator, "/frobnicate"},
		"unknown operator inside":    {`{"and":[true,{"if":[{"a/b~c":1}]}]}`, CodeUnknownOperator, "/and/1/if/0/a~1b~0c"},
		"unknown operator, unary":    {`{"!":{"nope":1}}`, CodeUnknownOperator, "/!/nope"},
		"unknown operator in a list": {`[1,[{"nope":1}]]`, CodeUnknownOperator, "/1/0/nope"},
		"unknown in a skipped arg":   {`{"if":[true,1,{"nope":1}]}`, CodeUnknownOperator, "/if/2/nope"},
		"operator of the reference":  {`{"method":[1,"x"]}`, CodeUnknownOperator, "/method"},
		"operator with a dot":        {`{"cat.length":[1]}`, CodeUnknownOperator, "/cat.length"},
		"empty operator":             {`{"":[1]}`, CodeUnknownOperator, "/"},
		"depth":                      {nested("!", 65, "1"), CodeTooDeep, strings.Repeat("/!/0", 64)},
		"depth of an array":          {nested("!", 64, "[]"), CodeTooDeep, strings.Repeat("/!/0", 64)},
		"depth of data":              {`{"a":1,"b":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, CodeTooDeep, "/b" + strings.Repeat("/0", 63)},
		"depth of the parser":        {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), CodeTooDeep, ""},
		"nodes":                      {`{"in":[1,` + list(1998) + `]}`, CodeTooManyNodes, "/in/1/1997"},
		"nodes of data":              {`{"==":[1,{"x":2,"y":` + list(2000) + `}]}`, CodeTooManyNodes, "/==/1/y/1995"},
		"size":                       {`"` + strings.Repeat("x", MaxSource) + `"`, CodeTooLarge, ""},
		"nothing":                    {``, CodeMalformed, ""},
		"two values":                 {`1 2`, CodeMalformed, ""},
		"not closed":                 {`{"and":[1`, CodeMalformed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile([]byte(c.rule))
			refused, ok := errors.AsType[*Error](err)
			if !ok {
				t.Errorf("%v is no *Error", err)
				return
			}
			if refused.Code != c.code || refused.Pointer != c.pointer || refused.Detail == "" {
				t.Errorf("%+v, want %s at %q", refused, c.code, c.pointer)
			}
		})
	}
}

func TestError_Text(t *testing.T) {
	_, err := Compile([]byte(`{"and":[{"nope":1}]}`))
	if want := `unknown operator "nope" (at /and/0/nope)`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = Compile([]byte(`{`))
	if want := "malformed JSON: expected a key, found the end"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestCompile_AtLimits(t *testing.T) {
	if MaxDepth != 64 || MaxNodes != 2000 || MaxSource != 65536 {
		t.Error("the limits are part of the interface")
	}
	for name, rule := range map[string]string{
		"depth": nested("!", 64, "1"),
		"nodes": `{"in":[1,[` + strings.TrimSuffix(strings.Repeat("1,", 1997), ",") + `]]}`,
		"size":  `"` + strings.Repeat("x", MaxSource-2) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Compile([]byte(rule)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEvaluate_Limits: short rules that would otherwise run forever or fill the memory.
func TestEvaluate_Limits(t *testing.T) {
	t.Parallel()
	hundred := "[" + strings.TrimSuffix(strings.Repeat("1,", 100), ",") + "]"
	loop := func(depth int) string {
		return strings.Repeat(`{"map":[`+hundred+`,`, depth) + "1" + strings.Repeat("]}", depth)
	}
	for name, rule := range map[string]string{
		"nested map":      loop(8),
		"nested none":     strings.ReplaceAll(loop(8), `"map"`, `"none"`),
		"nested some":     strings.ReplaceAll(strings.ReplaceAll(loop(8), `"map"`, `"some"`), ",1]}", ",0]}"),
		"nested all":      strings.ReplaceAll(loop(8), `"map"`, `"all"`),
		"nested filter":   strings.ReplaceAll(loop(8), `"map"`, `"filter"`),
		"nested reduce":   strings.ReplaceAll(loop(8), `"map"`, `"reduce"`),
		"doubling text":   `{"reduce":[` + hundred + `,{"cat":[{"var":"accumulator"},{"var":"accumulator"}]},"x"]}`,
		"doubling list":   `{"reduce":[` + hundred + `,{"merge":[{"var":"accumulator"},{"var":"accumulator"}]},[1]]}`,
		"doubling tree":   `{"cat":[{"reduce":[` + hundred + `,[{"var":"accumulator"},{"var":"accumulator"}],1]}]}`,
		"doubling filter": `{"reduce":[` + hundred + `,{"map":[{"merge":[{"var":"accumulator"},{"var":"accumulator"}]},7]},[1]]}`,
		"huge text":       `{"cat":[` + strings.TrimSuffix(strings.Repeat(`{"var":"big"},`, 100), ",") + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Compile([]byte(rule))
			if err != nil {
				t.Fatal(err)
			}
			data := Object(Member{"big", String(strings.Repeat("x", 100_000))})
			if v, err := r.Evaluate(data); !errors.Is(err, ErrLimit) {
				t.Errorf("%d bytes, %v, want ErrLimit", v.extent().weight, err)
			}
			if d := r.Decide(data); d.Matched || !errors.Is(d.Err, ErrLimit) {
				t.Errorf("%+v, want ErrLimit", d)
			}
			if e, d := r.Explain(data); d.Matched || !errors.Is(d.Err, ErrLimit) || e.Error == "" {
				t.Errorf("%+v, want ErrLimit", d)
			}
		})
	}
}

// TestEvaluate_DeepAccumulator: a value of many levels must not need a deep stack later.
func TestEvaluate_DeepAccumulator(t *testing.T) {
	r, err := Compile([]byte(`{"reduce":[{"var":""},[{"var":"accumulator"}],1]}`))
	if err != nil {
		t.Fatal(err)
	}
	items := make([]Value, 100_000)
	if _, err := r.Evaluate(Array(items...)); !errors.Is(err, ErrLimit) {
		t.Errorf("%v, want ErrLimit", err)
	}
	if v, err := r.Evaluate(Array(items[:500]...)); err != nil || v.extent().depth != 500 {
		t.Errorf("depth %d, %v", v.extent().depth, err)
	}
}

// TestEvaluate_LargeData: the limits do not apply to the data itself.
func TestEvaluate_LargeData(t *testing.T) {
	t.Parallel()
	items := make([]Value, 200_000)
	for i := range items {
		items[i] = Number(float64(i))
	}
	data := Object(Member{"list", Array(items...)})
	for rule, want := range map[string]string{
		`{"in":[199999,{"var":"list"}]}`:                         `true`,
		`{"some":[{"var":"list"},{"==":[{"var":""},199999]}]}`:   `true`,
		`{"var":"list.199999"}`:                                  `199999`,
		`{"var":["list.200000","none"]}`:                         `"none"`,
		`{"==":[{"var":"list.length"},200000]}`:                  `true`,
		`{"all":[{"var":"list"},{">=":[{"var":""},0]}]}`:         `true`,
		`{"none":[{"var":"list"},{"===":[{"var":""},"apple"]}]}`: `true`,
	} {
		t.Run(rule, func(t *testing.T) {
			r, err := Compile([]byte(rule))
			if err != nil {
				t.Fatal(err)
			}
			if v, err := r.Evaluate(data); err != nil || v.json() != want {
				t.Errorf("%s = %s, %v, want %s", rule, v.json(), err, want)
			}
		})
	}
}

// TestEvaluate_CoercionTakesFuel: a rule of the allowed size must not turn a large context into text or a number hundreds of
// times.
func TestEvaluate_CoercionTakesFuel(t *testing.T) {
	t.Parallel()
	items := make([]Value, 10_000)
	for i := range items {
		items[i] = Number(float64(i))
	}
	data := Object(Member{"list", Array(items...)}, Member{"digits", String(strings.Repeat("1", 60_000))}, Member{"few", Array(Number(1), Number(2))})
	repeated := func(test string) string {
		return `{"or":[` + strings.TrimSuffix(strings.Repeat(test+",", 100), ",") + `]}`
	}
	for name, test := range map[string]string{
		"==": `{"==":[{"var":"list"},"x"]}`, "== number": `{"==":[{"var":"digits"},1]}`, "<": `{"<":[{"var":"list"},0]}`, ">": `{">":[0,{"var":"list"}]}`,
		"+": `{"===":[{"+":[{"var":"digits"}]},1]}`, "-": `{"===":[{"-":[{"var":"digits"},1]},1]}`, "%": `{"===":[{"%":[{"var":"digits"},1]},1]}`,
		"*": `{"===":[{"*":[{"var":"digits"},1]},1]}`, "max": `{"===":[{"max":[{"var":"digits"}]},1]}`, "in": `{"in":[{"var":"list"},"x"]}`,
		"substr": `{"===":[{"substr":[{"var":"list"},0,1]},"x"]}`, "var": `{"===":[{"var":{"var":"list"}},"x"]}`, "sem_ver": `{"sem_ver":[{"var":"digits"},"<","1.0.0"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := mustCompile(t, repeated(test))
			if d := r.Decide(data); d.Matched || !errors.Is(d.Err, ErrLimit) {
				t.Errorf("%+v, want ErrLimit", d)
			}
			if v, err := r.Evaluate(data); !errors.Is(err, ErrLimit) {
				t.Errorf("%s, %v, want ErrLimit", v.json(), err)
			}
			if d := mustCompile(t, test).Decide(data); d.Err != nil {
				t.Errorf("%s, once: %v", name, d.Err)
			}
		})
	}
	for _, test := range []string{`{"==":[{"var":"few"},"x"]}`, `{"===":[{"var":"list"},"x"]}`, `{"==":[{"var":"digits"},"x"]}`} {
		t.Run(test, func(t *testing.T) {
			if d := mustCompile(t, repeated(test)).Decide(data); d.Err != nil {
				t.Errorf("%s is cheap, and got %v", test, d.Err)
			}
		})
	}
}
