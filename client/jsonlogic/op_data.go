package jsonlogic

import (
	"math"
	"strconv"
	"strings"
)

// flagKeyPath is where flagd puts the flag's key in the data.
const flagKeyPath = "$flagd.flagKey"

// segment is one key of a path, with its tag. index is the key as an array index, or -1.
type segment struct {
	key   string
	tag   tag
	index int
}

func newSegment(key string) segment {
	return segment{key: key, tag: tagOf(key), index: arrayIndex(key)}
}

// path is a variable's name, split at dots. The empty path is the data itself.
type path []segment

func splitPath(name string) path {
	if name == "" {
		return nil
	}
	keys := strings.Split(name, ".")
	p := make(path, len(keys))
	for i, key := range keys {
		p[i] = newSegment(key)
	}
	return p
}

// name returns the dotted form of p.
func (p path) name() string {
	keys := make([]string, len(p))
	for i := range p {
		keys[i] = p[i].key
	}
	return strings.Join(keys, ".")
}

// arrayIndex parses an array index, digits without a leading zero; anything else is -1.
func arrayIndex(key string) int {
	if len(key) == 0 || len(key) > 9 || leadingDigits(key) != len(key) || key[0] == '0' && len(key) > 1 {
		return -1
	}
	n, _ := strconv.Atoi(key)
	return n
}

// get returns the value at p in data, or undefined.
func (p path) get(data Value) Value {
	for i := range p {
		data = data.member(&p[i])
		if data.kind == KindUndefined {
			break
		}
	}
	return data
}

// member returns JavaScript's v[key] without inherited members: own members, elements, characters, and the length of
// arrays and strings.
func (v Value) member(s *segment) Value {
	switch v.kind {
	case KindObject:
		return v.object().get(s.key, s.tag)
	case KindArray:
		return v.element(s)
	case KindString:
		return v.character(s)
	}
	return Value{}
}

func (v Value) element(s *segment) Value {
	items := v.array().items
	if s.index >= 0 && s.index < len(items) {
		return items[s.index]
	}
	if s.key == "length" {
		return Number(float64(len(items)))
	}
	return Value{}
}

func (v Value) character(s *segment) Value {
	text := v.text()
	if s.key == "length" {
		return Number(float64(unitLength(text)))
	}
	if s.index < 0 || s.index >= len(text) || s.index >= unitLength(text) {
		return Value{}
	}
	return String(unitSlice(text, s.index, s.index+1))
}

// staticPath returns the path of a `var` whose name is a literal.
func staticPath(n *node) (path, bool) {
	if n.op != "var" {
		return nil, false
	}
	if len(n.args) == 0 {
		return nil, true
	}
	name := n.args[0]
	if name.kind != literalNode {
		return nil, false
	}
	if name.value.kind <= KindNull {
		return nil, true
	}
	return splitPath(toText(name.value)), true
}

func (c *compiler) isFlagKey(p path) bool {
	return c.flagKey != "" && !c.scoped && len(p) == 2 && p.name() == flagKeyPath
}

// compileVar compiles `var`: the value at a path of the data, else the second argument, else null.
func compileVar(c *compiler, n *node) evalFunc {
	name, fallback := c.argument(n, 0), c.argument(n, 1)
	p, static := staticPath(n)
	if !static {
		return func(st *state, data Value) Value {
			return variable(data, st.coerced(name(st, data)), fallback(st, data))
		}
	}
	read := func(st *state, data Value) Value { return p.or(data, fallback(st, data)) }
	if c.isFlagKey(p) {
		read = constant(String(c.flagKey))
	}
	if !c.traced {
		return read
	}
	return func(st *state, data Value) Value {
		name(st, data) // for the trace
		return read(st, data)
	}
}

// or returns the value at p in data, else the fallback, else null.
func (p path) or(data, fallback Value) Value {
	if len(p) == 0 {
		return data
	}
	if v := p.get(data); v.kind != KindUndefined {
		return v
	}
	return orNull(fallback)
}

func orNull(v Value) Value {
	if v.kind == KindUndefined {
		return Null()
	}
	return v
}

// variable evaluates `var` with a computed name.
func variable(data, name, fallback Value) Value {
	if name.kind <= KindNull || name.kind == KindString && name.bits == 0 {
		return data
	}
	key, rest, more := strings.Cut(toText(name), ".")
	for {
		step := newSegment(key)
		data = data.member(&step)
		if data.kind == KindUndefined {
			return orNull(fallback)
		}
		if !more {
			return data
		}
		key, rest, more = strings.Cut(rest, ".")
	}
}

// compileMissing compiles `missing`: the given names that have no value. A first argument that is an array is the list of names.
func compileMissing(c *compiler, n *node) evalFunc {
	names := c.values(n.args)
	return func(st *state, data Value) Value {
		return st.built(Array(missing(st, data, evaluateAll(names, st, data))...))
	}
}

func missing(st *state, data Value, keys []Value) []Value {
	if len(keys) > 0 && keys[0].kind == KindArray {
		keys = keys[0].array().items
	}
	var absent []Value
	for _, key := range keys {
		if !st.spend(1) {
			break
		}
		if isMissing(st, data, key) {
			absent = append(absent, key)
		}
	}
	return absent
}

// isMissing reports whether the value at key is null or "". An array as key is a name and a default, as for `var`.
func isMissing(st *state, data, key Value) bool {
	var fallback Value
	if key.kind == KindArray {
		items := key.array().items
		key = Value{}
		if len(items) > 0 {
			key = items[0]
		}
		if len(items) > 1 {
			fallback = items[1]
		}
	}
	v := variable(data, st.coerced(key), fallback)
	return v.kind == KindNull || v.kind == KindString && v.bits == 0
}

// compileMissingSome compiles `missing_some`: an empty list when enough of the given names have values, else the names
// without values.
func compileMissingSome(c *compiler, n *node) evalFunc {
	need, options := c.source(n, 0), c.source(n, 1)
	return func(st *state, data Value) Value {
		wanted, names := need.coerced(st, data), options.get(st, data)
		if names.kind <= KindNull {
			st.fail(ErrType)
			return Null()
		}
		keys := []Value{names}
		if names.kind == KindArray {
			keys = names.array().items
		}
		absent := missing(st, data, keys)
		if lengthOf(names)-float64(len(absent)) >= toNumber(wanted) {
			absent = nil
		}
		return st.built(Array(absent...))
	}
}

// lengthOf returns JavaScript's v.length as a number.
func lengthOf(v Value) float64 {
	step := newSegment("length")
	length := v.member(&step)
	if length.kind == KindUndefined {
		return math.NaN()
	}
	return toNumber(length)
}
