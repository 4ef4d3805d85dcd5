package jsonlogic

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDataDepth limits the nesting of data, so that recursion needs a bounded stack.
const MaxDataDepth = 1000

// errTooDeep is returned for nesting beyond the limit.
var errTooDeep = errors.New("nested too deeply")

// Parse parses one JSON text like JavaScript's JSON.parse: of members with the same key the last wins, and a number too
// large for a float64 is infinite. The strings of the result share one copy of source.
func Parse(source []byte) (Value, error) {
	p := parser{src: string(source), depth: MaxDataDepth}
	return p.document()
}

// ParsePortable parses like Parse, and reports whether all parsers read the text alike: the text is UTF-8, no object has
// two members with the same key, no number is too large for a float64, no escape is half of a surrogate pair, and at most
// depth arrays and objects are nested.
func ParsePortable(source []byte, depth int) (v Value, portable bool, err error) {
	p := parser{src: string(source), depth: MaxDataDepth, least: MaxDataDepth - depth}
	v, err = p.document()
	return v, err == nil && !p.odd, err
}

// parser is a recursive descent parser. Each method reads from pos and moves pos to the end of the text that it read.
type parser struct {
	src   string
	pos   int
	depth int  // levels of nesting still allowed
	least int  // with fewer levels left, the text is odd
	odd   bool // other parsers may read the text differently, or not at all
}

func (p *parser) document() (Value, error) {
	p.space()
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.pos < len(p.src) {
		return Value{}, p.fail("nothing after the value")
	}
	return v, nil
}

func (p *parser) fail(expected string) error {
	if p.pos >= len(p.src) {
		return fmt.Errorf("malformed JSON: expected %s, found the end", expected)
	}
	return fmt.Errorf("malformed JSON: expected %s at byte %d", expected, p.pos)
}

func (p *parser) space() {
	for p.pos < len(p.src) && isJSONSpace(p.src[p.pos]) {
		p.pos++
	}
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// peek returns the next byte, or 0 at the end: no JSON token starts with 0.
func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) value() (Value, error) {
	switch c := p.peek(); c {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		s, err := p.text()
		return String(s), err
	case 't':
		return p.word("true", Bool(true))
	case 'f':
		return p.word("false", Bool(false))
	case 'n':
		return p.word("null", Null())
	}
	return p.number()
}

func (p *parser) word(word string, v Value) (Value, error) {
	if !strings.HasPrefix(p.src[p.pos:], word) {
		return Value{}, p.fail("a value")
	}
	p.pos += len(word)
	return v, nil
}

func (p *parser) array() (Value, error) {
	var items []Value
	err := p.sequence(']', func() error {
		v, err := p.value()
		items = append(items, v)
		return err
	})
	if err != nil {
		return Value{}, err
	}
	return Array(items...), nil
}

func (p *parser) object() (Value, error) {
	o := newObject(fewMembers) // enough for most objects of a context
	err := p.sequence('}', func() error {
		m, err := p.member()
		if err == nil && o.set(m) {
			p.odd = true
		}
		return err
	})
	if err != nil {
		return Value{}, err
	}
	return o.value(), nil
}

// sequence reads elements, separated by commas, up to the closing bracket.
func (p *parser) sequence(closing byte, element func() error) error {
	if p.depth == 0 {
		return errTooDeep
	}
	p.depth--
	if p.depth < p.least {
		p.odd = true
	}
	defer func() { p.depth++ }()
	p.pos++
	p.space()
	if p.peek() == closing {
		p.pos++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case closing:
			p.pos++
			return nil
		case ',':
			p.pos++
			p.space()
		default:
			return p.fail("a comma or " + strconv.Quote(string(closing)))
		}
	}
}

func (p *parser) member() (Member, error) {
	if p.peek() != '"' {
		return Member{}, p.fail("a key")
	}
	key, err := p.text()
	if err != nil {
		return Member{}, err
	}
	p.space()
	if p.peek() != ':' {
		return Member{}, p.fail("a colon")
	}
	p.pos++
	p.space()
	v, err := p.value()
	return Member{Key: key, Value: v}, err
}

// number reads a number. JSON's grammar is narrower than strconv's.
func (p *parser) number() (Value, error) {
	start := p.pos
	p.accept('-')
	if !p.accept('0') && p.digits() == 0 {
		return Value{}, p.fail("a value")
	}
	if p.accept('.') && p.digits() == 0 {
		return Value{}, p.fail("a digit")
	}
	if p.accept('e') || p.accept('E') {
		if !p.accept('+') {
			p.accept('-')
		}
		if p.digits() == 0 {
			return Value{}, p.fail("a digit")
		}
	}
	f := decimal(p.src[start:p.pos])
	if math.IsInf(f, 0) {
		p.odd = true
	}
	return Number(f), nil
}

func (p *parser) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.pos++
	return true
}

func (p *parser) digits() int {
	n := leadingDigits(p.src[p.pos:])
	p.pos += n
	return n
}

// text reads a string. A string without escapes is a slice of src.
func (p *parser) text() (string, error) {
	p.pos++
	var unescaped []byte // the text before start, once there is an escape
	start, ascii := p.pos, true
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '"':
			s := p.src[start:p.pos]
			p.pos++
			if unescaped != nil {
				s, ascii = string(append(unescaped, s...)), false
			}
			if ascii || utf8.ValidString(s) {
				return s, nil
			}
			p.odd = true
			return valid(s), nil
		case c == '\\':
			unescaped = append(unescaped, p.src[start:p.pos]...)
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			unescaped = utf8.AppendRune(unescaped, r)
			start = p.pos
		case c < ' ':
			return "", p.fail("no control character in a string")
		default:
			ascii = ascii && c < utf8.RuneSelf
			p.pos++
		}
	}
	return "", p.fail(`a closing "`)
}

// valid replaces invalid UTF-8 with U+FFFD.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// escape reads one escape. Half of a surrogate pair becomes U+FFFD: UTF-8 cannot represent it.
func (p *parser) escape() (rune, error) {
	p.pos++
	c := p.peek()
	if c != 'u' {
		i := strings.IndexByte(`"\/bfnrt`, c)
		if i < 0 || c == 0 {
			return 0, p.fail("an escape")
		}
		p.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	p.pos++
	first, err := p.hex4()
	if err != nil || !utf16.IsSurrogate(first) {
		return first, err
	}
	return p.secondHalf(first)
}

// secondHalf reads the rest of a surrogate pair, if it is there.
func (p *parser) secondHalf(first rune) (rune, error) {
	if !strings.HasPrefix(p.src[p.pos:], `\u`) {
		p.odd = true
		return utf8.RuneError, nil
	}
	before := p.pos
	p.pos += 2
	second, err := p.hex4()
	if err != nil {
		return 0, err
	}
	r := utf16.DecodeRune(first, second)
	if r == utf8.RuneError {
		p.pos, p.odd = before, true
	}
	return r, nil
}

func (p *parser) hex4() (rune, error) {
	if p.pos+4 > len(p.src) {
		p.pos = len(p.src)
		return 0, p.fail("four hexadecimal digits")
	}
	n, err := strconv.ParseUint(p.src[p.pos:p.pos+4], 16, 32)
	if err != nil {
		return 0, p.fail("four hexadecimal digits")
	}
	p.pos += 4
	return rune(n), nil
}
