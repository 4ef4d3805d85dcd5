// Package rawjson takes JSON text apart that is known to be valid UTF-8 JSON:
// a body was checked as a whole when it came, and what is stored was written
// by us. Taking it apart member by member with a decoder would check every
// piece again at every level.
package rawjson

import (
	"bytes"
	"encoding/json"
)

// splitter walks over valid JSON text.
type splitter struct {
	text []byte
	at   int
}

// enter steps into an array or object; false when the text is something else.
func (s *splitter) enter(open byte) bool {
	s.space()
	if s.at >= len(s.text) || s.text[s.at] != open {
		return false
	}
	s.at++
	return true
}

// more tells whether another item follows, and steps over the comma before it.
func (s *splitter) more() bool {
	s.space()
	if s.text[s.at] == ',' {
		s.at++
		s.space()
	}
	return s.text[s.at] != '}' && s.text[s.at] != ']'
}

// value gives the next value and steps behind it.
func (s *splitter) value() json.RawMessage {
	s.space()
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

// skipNested steps over an array or object. Brackets in strings do not count.
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
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return
		}
		s.at++
	}
}

func (s *splitter) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// Elements gives the items of an array; false when text is none.
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

// Members calls add for every member of an object in order; false when text is none.
func Members(text json.RawMessage, add func(name string, value json.RawMessage)) bool {
	s := splitter{text: text}
	if !s.enter('{') {
		return false
	}
	for s.more() {
		name := s.value()
		s.space()
		s.at++ // the colon
		add(Unquote(name), s.value())
	}
	return true
}

// Unquote gives the text of a JSON string.
func Unquote(quoted json.RawMessage) string {
	inner := quoted[1 : len(quoted)-1]
	if !bytes.ContainsRune(inner, '\\') {
		return string(inner)
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // the text is valid
	return text
}
