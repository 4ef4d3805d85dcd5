package jsonlogic

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator writes random rules and data as JSON text, biased to the values on which implementations disagree.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 0))} }

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

func quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

func numberLiterals() []string {
	return []string{
		"0", "-0", "1", "-1", "2", "3", "10", "0.1", "0.2", "1.5", "-2.5", "1e21", "1e20", "1e-6", "1e-7", "123456789012345680000",
		"9007199254740993", "1e308", "-1e308", "1e400", "5e-324", "4294967296", "0.000001234", "1.7976931348623157e308", "100",
	}
}

func textLiterals() []string {
	return []string{
		"", " ", "0", "1", "-1", "01", "1.0", "1e3", "1E+2", "0x10", "0XfF", "0x", "-0x1", "0b11", "0b2", "0o17", "0o8", "Infinity", "-Infinity",
		"+Infinity", "infinity", "NaN", " 12 ", "\t\n5", "\u00a06", "\ufeff7", "\u20288", "\u180e9", "abc", "a", "b", "c", "aB", "B", "é", "日本", "😀",
		"a😀b", "\uff11", "\ue000", "true", "false", "null", "undefined", "[object Object]", ",", "1,2", "a,b", "length", "3abc", ".5", "5.", "+5",
		"-.5e-2x", "1_000", ".", "e5", "1e", "1e+", "--1", "0x1p3", "0x20000000000001", "0x1fffffffffffffffff", "123456789012345678901234567890",
		"10", "9", "2", "-", "+", "a.b", "0.1", "1e1000", "Infinityx", "\x00", "\x7f", "a\"b\\c", "Alice", "alice",
	}
}

func names() []string {
	return []string{"a", "b", "c", "list", "user", "user.name", "a.b", "a.b.c", "0", "1", "2", "list.0", "list.1", "list.length", "name", "name.length",
		"name.0", "", "x", "length", "user.tags", "user.tags.0", "a.", ".a", "a..b", "current", "accumulator", "-1", "01", "list.01", "user.age"}
}

// inherited returns names that every JavaScript object answers to without having them.
func inherited() []string {
	return []string{"constructor", "toString", "__proto__", "valueOf", "concat"}
}

func (g generator) scalar() string {
	switch g.IntN(10) {
	case 0:
		return "null"
	case 1:
		return "true"
	case 2:
		return "false"
	case 3, 4, 5:
		return pick(g, numberLiterals())
	}
	return quote(pick(g, textLiterals()))
}

// datum returns any JSON value.
func (g generator) datum(depth int) string {
	kind := g.IntN(10)
	switch {
	case depth > 0 && kind < 2:
		return "[" + g.joined(g.IntN(4), func() string { return g.datum(depth - 1) }) + "]"
	case depth > 0 && kind < 4:
		return g.object(pick(g, []int{0, 1, 2, 3, 12}), depth)
	}
	return g.scalar()
}

func (g generator) object(members, depth int) string {
	keys := []string{"a", "b", "c", "name", "age", "tags", "0", "1", "", "list", "length", "current", "x"}
	return "{" + g.joined(members, func() string { return quote(pick(g, keys)) + ":" + g.datum(depth-1) }) + "}"
}

func (g generator) joined(n int, element func() string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = element()
	}
	return strings.Join(parts, ",")
}

// data returns mostly objects in which the generated names find something.
func (g generator) data() string {
	if g.IntN(8) == 0 {
		return g.datum(3)
	}
	list := "[" + g.joined(g.IntN(5), func() string { return g.datum(2) }) + "]"
	user := `{"name":` + g.scalar() + `,"age":` + g.scalar() + `,"tags":` + g.datum(2) + "}"
	return `{"a":` + g.datum(3) + `,"b":` + g.scalar() + `,"c":` + g.scalar() + `,"list":` + list + `,"name":` + g.scalar() +
		`,"user":` + user + `,"0":` + g.scalar() + `,"":` + g.scalar() + "}"
}

func (g generator) variable() string {
	name := quote(pick(g, names()))
	switch g.IntN(20) {
	case 0:
		return `{"var":[]}`
	case 1:
		return `{"var":` + g.scalar() + `}`
	case 2, 3, 4:
		return `{"var":[` + name + `,` + g.argument(1) + `]}`
	case 5:
		return `{"var":` + g.argument(1) + `}`
	case 6:
		return `{"var":[` + name + `]}`
	case 7:
		if g.IntN(6) == 0 {
			return `{"var":` + quote(pick(g, inherited())) + `}`
		}
	}
	return `{"var":` + name + `}`
}

func operatorNames() []string {
	return []string{"==", "===", "!=", "!==", "<", "<=", ">", ">=", "!", "!!", "and", "or", "if", "?:", "+", "-", "*", "/", "%", "max", "min",
		"in", "cat", "substr", "map", "filter", "reduce", "all", "none", "some", "merge", "missing", "missing_some", "log", "var"}
}

// rule returns an operation.
func (g generator) rule(depth int) string {
	op := pick(g, operatorNames())
	switch op {
	case "var":
		return g.variable()
	case "map", "filter", "all", "none", "some", "reduce":
		if g.IntN(8) > 0 {
			return g.loop(op, depth)
		}
	case "missing", "missing_some":
		if g.IntN(4) > 0 {
			return g.missing(op)
		}
	case "substr":
		if g.IntN(4) > 0 {
			return `{"substr":[` + g.argument(depth-1) + `,` + g.small() + `,` + g.small() + `]}`
		}
	}
	if g.IntN(10) == 0 {
		return `{` + quote(op) + `:` + g.argument(depth-1) + `}`
	}
	n := pick(g, []int{0, 1, 2, 2, 2, 2, 2, 3, 3, 4})
	return `{` + quote(op) + `:[` + g.joined(n, func() string { return g.argument(depth - 1) }) + `]}`
}

func (g generator) small() string {
	if g.IntN(4) == 0 {
		return g.scalar()
	}
	return strconv.Itoa(g.IntN(12) - 6)
}

func (g generator) loop(op string, depth int) string {
	list := pick(g, []string{`{"var":"list"}`, `{"var":"user.tags"}`, `{"var":"a"}`, g.argument(depth - 1), g.array(depth - 1)})
	body := pick(g, []string{`{"var":""}`, `{"!!":{"var":""}}`, `{"==":[{"var":""},{"var":""}]}`, g.argument(depth - 1), g.argument(depth - 1)})
	if op != "reduce" {
		return `{` + quote(op) + `:[` + list + `,` + body + `]}`
	}
	if g.IntN(2) == 0 {
		body = `{` + quote(pick(g, operatorNames())) + `:[{"var":"current"},{"var":"accumulator"}]}`
	}
	return `{"reduce":[` + list + `,` + body + `,` + g.argument(depth-1) + `]}`
}

func (g generator) missing(op string) string {
	list := "[" + g.joined(g.IntN(5), func() string { return quote(pick(g, names())) }) + "]"
	if op == "missing" {
		return `{"missing":` + list + `}`
	}
	return `{"missing_some":[` + g.small() + `,` + list + `]}`
}

func (g generator) array(depth int) string {
	if g.IntN(10) == 0 {
		return "[" + g.joined(9+g.IntN(9), g.scalar) + "]" // too long to scan
	}
	return "[" + g.joined(g.IntN(4), func() string { return g.argument(depth - 1) }) + "]"
}

// argument returns anything that may be an argument of an operation.
func (g generator) argument(depth int) string {
	kind := g.IntN(20)
	switch {
	case depth <= 0 && kind < 8, kind < 4:
		return g.variable0(depth)
	case depth <= 0 || kind < 9:
		return g.scalar()
	case kind < 11:
		return g.array(depth)
	case kind == 11:
		return pick(g, []string{"{}", `{"a":1,"b":2}`, `{"a":{"var":"x"},"b":[]}`})
	}
	return g.rule(depth)
}

// variable0 ends the recursion through defaults and computed names.
func (g generator) variable0(depth int) string {
	if depth <= 0 {
		return `{"var":` + quote(pick(g, names())) + `}`
	}
	return g.variable()
}
