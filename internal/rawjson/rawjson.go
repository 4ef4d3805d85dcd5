// Package rawjson splits and compares JSON text that is known to be valid: a
// request body was checked as a whole, and Signalbox wrote the stored text. A
// decoder would check every piece again at every level. It also encodes and decodes
// values so that numbers and characters keep their spelling.
package rawjson

import (
	"bytes"
	"encoding/json"
)

// splitter is a position in valid JSON text.
type splitter struct {
	text []byte
	at   int
}

// enter moves into an array or object, and reports whether there is one.
func (s *splitter) enter(open byte) bool {
	s.skipSpace()
	if s.at >= len(s.text) || s.text[s.at] != open {
		return false
	}
	s.at++
	return true
}

// more skips a comma and reports whether another item follows.
func (s *splitter) more() bool {
	s.skipSpace()
	if s.text[s.at] == ',' {
		s.at++
		s.skipSpace()
	}
	return s.text[s.at] != '}' && s.text[s.at] != ']'
}

// value returns the next value and skips it.
func (s *splitter) value() json.RawMessage {
	s.skipSpace()
	start := s.at
	switch s.text[s.at] {
	case '"':
		s.skipString()
	case '{', '[':
		s.skipNested()
	default:
		s.skipScalar()
	}
	return s.text[start:s.at:s.at]
}

func (s *splitter) skipString() {
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}

// skipNested skips an array or object. Brackets in strings do not count.
func (s *splitter) skipNested() {
	for depth := 0; ; {
		switch s.text[s.at] {
		case '"':
			s.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return
		}
	}
}

func (s *splitter) skipScalar() {
	for s.at < len(s.text) && s.text[s.at] != ',' && s.text[s.at] != '}' && s.text[s.at] != ']' && !isSpace(s.text[s.at]) {
		s.at++
	}
}

func (s *splitter) skipSpace() {
	for s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// Elements returns the elements of an array; false if text is not an array.
func Elements(text json.RawMessage) ([]json.RawMessage, bool) {
	s := splitter{text: text}
	if !s.enter('[') {
		return nil, false
	}
	items := []json.RawMessage{}
	for s.more() {
		items = append(items, s.value())
	}
	return items, true
}

// Members calls add for every member of an object in order. It returns false if
// text is not an object.
func Members(text json.RawMessage, add func(name string, value json.RawMessage)) bool {
	s := splitter{text: text}
	if !s.enter('{') {
		return false
	}
	for s.more() {
		name := s.value()
		s.skipSpace()
		s.at++ // the colon
		add(Unquote(name), s.value())
	}
	return true
}

// Unquote returns the text of a JSON string.
func Unquote(quoted json.RawMessage) string {
	inner := quoted[1 : len(quoted)-1]
	if !bytes.ContainsRune(inner, '\\') {
		return string(inner)
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // the text is valid
	return text
}
