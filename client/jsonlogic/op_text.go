package jsonlogic

import (
	"slices"
	"strings"
)

// compileIn compiles `in`: a substring of a string, or an element of an array by ===.
func compileIn(c *compiler, n *node) testFunc {
	needle, haystack := c.source(n, 0), c.source(n, 1)
	if list, ok := c.known(n, 1); ok && list.kind == KindArray {
		members := newSet(list.array().items)
		return func(st *state, data Value) bool { return members.has(needle.get(st, data)) }
	}
	return func(st *state, data Value) bool {
		return contains(st, haystack.get(st, data), needle.get(st, data))
	}
}

func contains(st *state, haystack, needle Value) bool {
	switch haystack.kind {
	case KindString:
		text := haystack.text()
		st.spend(len(text))
		return text != "" && strings.Contains(text, toText(st.coerced(needle)))
	case KindArray:
		items := haystack.array().items
		st.spend(len(items))
		for i := range items {
			if strictEqual(items[i], needle) {
				return true
			}
		}
	}
	return false
}

// set is a list of scalar literals, prepared for ===.
type set struct {
	texts   *object // its keys
	numbers map[float64]bool
	others  []Value // true, false, null
}

func newSet(items []Value) *set {
	s := &set{texts: newObject(0), numbers: map[float64]bool{}}
	for _, item := range items {
		switch item.kind {
		case KindString:
			s.texts.set(Member{Key: item.text()})
		case KindNumber:
			s.numbers[item.float()] = true
		default:
			s.others = append(s.others, item)
		}
	}
	return s
}

func (s *set) has(v Value) bool {
	switch v.kind {
	case KindString:
		return s.texts.find(v.text(), tagOf(v.text())) >= 0
	case KindNumber:
		return s.numbers[v.float()]
	}
	return slices.ContainsFunc(s.others, func(other Value) bool { return strictEqual(other, v) })
}

// compileCat compiles `cat`: the texts of all arguments joined; null is empty.
func compileCat(c *compiler, n *node) evalFunc {
	args := c.sources(n)
	return func(st *state, data Value) Value {
		var text []byte
		for i := range args {
			before := len(text)
			text = appendText(text, args[i].get(st, data))
			if !st.spend(len(text) - before) {
				return Null()
			}
		}
		return String(string(text))
	}
}

// compileSubstr compiles `substr`: start and length as in JavaScript; a negative length counts from the end, as in PHP.
func compileSubstr(c *compiler, n *node) evalFunc {
	source, start, length := c.source(n, 0), c.source(n, 1), c.source(n, 2)
	return func(st *state, data Value) Value {
		text := toText(source.coerced(st, data))
		from, count := start.coerced(st, data), length.coerced(st, data)
		if !less(st, count, Number(0), false) {
			return String(substring(text, from, count))
		}
		rest := substring(text, from, Value{})
		if count.kind != KindNumber {
			// The reference adds the length to a string here, and the result is empty.
			return String("")
		}
		return String(substring(rest, Number(0), Number(float64(unitLength(rest))+count.float())))
	}
}

// compileAffix compiles `starts_with` and `ends_with` of exactly two strings; anything else is null, as in flagd.
func compileAffix(matches func(s, affix string) bool) func(*compiler, *node) evalFunc {
	return func(c *compiler, n *node) evalFunc {
		if len(n.args) != 2 {
			return c.discard(n)
		}
		text, part := c.source(n, 0), c.source(n, 1)
		return func(st *state, data Value) Value {
			s, affix := text.get(st, data), part.get(st, data)
			if s.kind != KindString || affix.kind != KindString {
				return Null()
			}
			return Bool(matches(s.text(), affix.text()))
		}
	}
}
