package rawjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The limits of nested arrays and objects. A document may have more than a caller's
// value, because a rule in it has two for each of its 64 levels.
const (
	MaxDepth      = 140
	MaxValueDepth = 64
)

// Problem is a place in a JSON text that some parsers cannot read, or read in
// different ways.
type Problem struct {
	Pointer string // a JSON pointer into the text
	Rule    string // the broken rule ("must be …")
}

// The rules. Together they are roughly RFC 7493, the JSON that every parser reads
// alike.
const (
	ruleRange     = "must be a number between -1.8e308 and 1.8e308, the range of 64-bit floating point numbers"
	ruleSurrogate = `must not contain half of a surrogate pair, one of \ud800 to \udfff alone: it is not a character`
	ruleName      = `must not have a member whose name contains half of a surrogate pair, one of \ud800 to \udfff alone: it is not a character`
	ruleRepeated  = "must be sent once: there is another member of this name in the same object"
)

func ruleDepth() string {
	return "must not be nested here: a document may have at most " + strconv.Itoa(MaxDepth) + " levels of arrays and objects"
}

// Depth returns how many arrays and objects are nested in a valid JSON text.
func Depth(text []byte) int {
	deepest, depth := 0, 0
	for s := (splitter{text: text}); s.at < len(text); {
		switch text[s.at] {
		case '"':
			s.skipString()
			continue
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
		s.at++
	}
	return deepest
}

// Check returns the first problems of a valid JSON text, at most limit. It skips the
// top-level member named except; "" skips none.
func Check(text []byte, limit int, except string) []Problem {
	c := checker{splitter: splitter{text: text}, limit: limit, except: except, escapes: bytes.IndexByte(text, '\\') >= 0}
	c.check()
	return c.problems
}

// checker walks over valid JSON text and notes its problems.
type checker struct {
	splitter
	limit    int
	except   string
	escapes  bool // some string has an escape
	problems []Problem
	path     [MaxDepth]segment // the path of the checked value
	depth    int               // how much of path is used
}

// segment is one step of a path: a name, quoted as in the text, or an index.
type segment struct {
	name  []byte
	index int
}

func (c *checker) check() {
	c.skipSpace()
	switch c.text[c.at] {
	case '"':
		if text := c.value(); c.escapes && hasHalfSurrogate(text) {
			c.note(ruleSurrogate)
		}
	case '{', '[':
		c.checkNested()
	case 't', 'f', 'n':
		c.skipScalar()
	default:
		if isOutOfRange(c.value()) {
			c.note(ruleRange)
		}
	}
}

func (c *checker) checkNested() {
	if c.depth == MaxDepth {
		c.note(ruleDepth())
		c.skipNested()
		return
	}
	isObject := c.text[c.at] == '{'
	c.at++
	c.depth++
	if isObject {
		c.checkMembers(&c.path[c.depth-1])
	} else {
		c.checkElements(&c.path[c.depth-1])
	}
	c.depth--
	c.at++ // the closing bracket
}

func (c *checker) checkElements(place *segment) {
	for *place = (segment{}); c.more(); place.index++ {
		c.check()
	}
}

func (c *checker) checkMembers(place *segment) {
	var names memberNames
	for c.more() {
		*place = segment{name: c.value()}
		if c.escapes && hasHalfSurrogate(place.name) {
			c.depth--
			c.note(ruleName)
			c.depth++
		}
		if names.isRepeated(place.name) {
			c.note(ruleRepeated)
		}
		c.skipSpace()
		c.at++ // the colon
		if c.depth == 1 && c.except != "" && Unquote(place.name) == c.except {
			c.value()
		} else {
			c.check()
		}
	}
}

// memberNames are the names of the members of one object so far.
type memberNames struct {
	few  [16][]byte // a scan of these is faster than a map, and allocates nothing
	used int
	many map[string]bool // all further names
}

// isRepeated reports whether a member with this name came before, and remembers the name.
func (n *memberNames) isRepeated(quoted []byte) bool {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(Unquote(quoted))
	}
	for _, before := range n.few[:n.used] {
		if bytes.Equal(before, name) {
			return true
		}
	}
	if n.used < len(n.few) {
		n.few[n.used] = name
		n.used++
		return false
	}
	if n.many == nil {
		n.many = map[string]bool{}
	}
	repeated := n.many[string(name)]
	n.many[string(name)] = true
	return repeated
}

func (c *checker) note(rule string) {
	if len(c.problems) >= c.limit {
		return
	}
	var pointer strings.Builder
	for _, step := range c.path[:c.depth] {
		pointer.WriteByte('/')
		if step.name == nil {
			pointer.WriteString(strconv.Itoa(step.index))
		} else {
			pointer.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(Unquote(step.name)))
		}
	}
	c.problems = append(c.problems, Problem{Pointer: pointer.String(), Rule: rule})
}

// isOutOfRange reports whether a number is too large for a float64. Only a number with
// an exponent or with hundreds of digits can be.
func isOutOfRange(number json.RawMessage) bool {
	const surelyFits = 300
	if len(number) <= surelyFits && !bytes.ContainsAny(number, "eE") {
		return false
	}
	_, err := strconv.ParseFloat(string(number), 64)
	return err != nil
}

// hasHalfSurrogate reports whether a string has an escape of half a surrogate pair
// without its other half.
func hasHalfSurrogate(quoted json.RawMessage) bool {
	rest := quoted
	for {
		at := bytes.IndexByte(rest, '\\')
		if at < 0 {
			return false
		}
		rest = rest[at:]
		first, isUnicode := escaped(rest)
		switch {
		case !isUnicode:
			rest = rest[2:]
		case !utf16.IsSurrogate(first):
			rest = rest[6:]
		default:
			second, _ := escaped(rest[6:])
			if utf16.DecodeRune(first, second) == '\ufffd' {
				return true
			}
			rest = rest[12:]
		}
	}
}

// escaped returns the code unit of an escape such as \u00e4 at the beginning of a
// text.
func escaped(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}
