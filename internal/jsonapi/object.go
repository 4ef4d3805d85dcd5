package jsonapi

import (
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Object is a JSON object of a request. Each method reads one member, and adds a problem if the
// member has the wrong JSON type.
type Object struct {
	names    []string // in the order of the text, without duplicates
	members  map[string]json.RawMessage
	path     string // the path of the object itself: "", or a path that ends in "/"
	place    func(path string) fault.Source
	problems *fault.Problems
	reading  *reading // nil if unknown members are not tracked
}

// parse splits valid JSON into members and reports whether it is an object.
func (o *Object) parse(text []byte) bool {
	o.members = map[string]json.RawMessage{}
	return rawjson.Members(text, func(name string, member json.RawMessage) {
		if _, repeated := o.members[name]; !repeated { // names repeat only in a rejected item of a report
			o.names = append(o.names, name)
		}
		o.members[name] = member
	})
}

// child parses a member that is an object. Its problems are collected with the problems of o.
func (o *Object) child(name string, text []byte) (*Object, bool) {
	child := &Object{path: o.path + fault.Escape(name) + "/", place: o.place, problems: o.problems, reading: o.reading.inside()}
	return child, child.parse(text)
}

// member returns the text of a member, and marks the member as known.
func (o *Object) member(name string) (json.RawMessage, bool) {
	o.reading.ask(name)
	text, sent := o.members[name]
	return text, sent
}

// Names returns the members' names in the order of the text.
func (o *Object) Names() []string { return o.names }

// Problems returns the collected problems of this object.
func (o *Object) Problems() *fault.Problems { return o.problems }

// Refuse adds a problem: the member breaks a rule, such as "must be …".
func (o *Object) Refuse(name, rule string) {
	o.problems.Add(fault.New(fault.Validation, "%s%s %s.", o.path, fault.Escape(name), rule).At(o.Place(name)))
}

// Place returns the place of a member in the request.
func (o *Object) Place(name string) fault.Source {
	place := o.place(o.path + fault.Escape(name))
	if place.Kind == fault.PointerSource {
		place.Path = "/" + place.Path
	}
	return place
}

// read returns a member if convert accepts it. Otherwise it adds the rule as a problem.
func read[T any](o *Object, name, rule, example string, convert func(json.RawMessage) (T, bool)) optional.Value[T] {
	text, sent := o.member(name)
	switch {
	case !sent:
		return optional.Value[T]{}
	case string(text) == "null":
		return optional.Null[T]()
	}
	value, ok := convert(text)
	if !ok {
		o.Refuse(name, rule+example)
		return optional.Value[T]{}
	}
	return optional.Of(value)
}

// String reads a string. It refuses the character U+0000, because PostgreSQL cannot store it.
func (o *Object) String(name string) optional.Value[string] {
	value := read(o, name, "must be a string", "", toString)
	if text, sent := value.Get(); sent && strings.ContainsRune(text, 0) {
		o.Refuse(name, "must not contain the character U+0000")
		return optional.Value[string]{}
	}
	return value
}

// Text reads a string that may contain any character, for members that are not stored
// as text.
func (o *Object) Text(name string) optional.Value[string] {
	return read(o, name, "must be a string", "", toString)
}

// Bool reads true or false.
func (o *Object) Bool(name string) optional.Value[bool] {
	return read(o, name, "must be true or false", "", func(text json.RawMessage) (bool, bool) {
		return string(text) == "true", string(text) == "true" || string(text) == "false"
	})
}

// Number reads a finite number.
func (o *Object) Number(name string) optional.Value[float64] {
	return read(o, name, "must be a number", "", func(text json.RawMessage) (float64, bool) {
		number, err := strconv.ParseFloat(string(text), 64)
		return number, err == nil && !math.IsInf(number, 0)
	})
}

// Time reads a date and time.
func (o *Object) Time(name string) optional.Value[time.Time] {
	return read(o, name, "must be an RFC 3339 date and time such as ", "2030-01-31T08:00:00Z", func(text json.RawMessage) (time.Time, bool) {
		written, ok := toString(text)
		if !ok {
			return time.Time{}, false
		}
		return ParseTime(written)
	})
}

// Strings reads an array of strings.
func (o *Object) Strings(name string) optional.Value[[]string] {
	return read(o, name, "must be an array of strings", "", func(text json.RawMessage) ([]string, bool) {
		items, ok := rawjson.Elements(text)
		if !ok {
			return nil, false
		}
		texts := make([]string, len(items))
		for i, item := range items {
			if texts[i], ok = toString(item); !ok || strings.ContainsRune(texts[i], 0) {
				return nil, false
			}
		}
		return texts, true
	})
}

// Array reads an array of anything.
func (o *Object) Array(name string) optional.Value[[]json.RawMessage] {
	return read(o, name, "must be an array", "", rawjson.Elements)
}

const mustBeObject = "must be an object such as "

// Object reads an object. The example shows its shape in the error.
func (o *Object) Object(name, example string) optional.Value[*Object] {
	return read(o, name, mustBeObject, example, func(text json.RawMessage) (*Object, bool) {
		child, isObject := o.child(name, text)
		o.reading.contain(name, child)
		return child, isObject
	})
}

// RawObject reads an object as its JSON text.
func (o *Object) RawObject(name, example string) optional.Value[json.RawMessage] {
	o.requireShallow(name)
	return o.DeepObject(name, example)
}

// DeepObject is like RawObject, for members that have their own nesting limit.
func (o *Object) DeepObject(name, example string) optional.Value[json.RawMessage] {
	return read(o, name, mustBeObject, example, func(text json.RawMessage) (json.RawMessage, bool) { return text, text[0] == '{' })
}

// Raw reads any value except null as its JSON text.
func (o *Object) Raw(name string) optional.Value[json.RawMessage] {
	o.requireShallow(name)
	return read(o, name, "", "", func(text json.RawMessage) (json.RawMessage, bool) { return text, true })
}

// RawOrNull returns any value, including null, as its JSON text. It also reports whether the
// value was sent.
func (o *Object) RawOrNull(name string) (json.RawMessage, bool) {
	o.requireShallow(name)
	return o.member(name)
}

// requireShallow adds a problem if a value is nested so deeply that many parsers cannot read
// it.
func (o *Object) requireShallow(name string) {
	if rule := BrokenDepth(o.members[name]); rule != "" {
		o.Refuse(name, rule)
	}
}

// BrokenDepth returns the nesting rule that a value breaks, or "".
func BrokenDepth(value json.RawMessage) string {
	if len(value) <= 2*rawjson.MaxValueDepth || rawjson.Depth(value) <= rawjson.MaxValueDepth {
		return ""
	}
	return "must have at most " + strconv.Itoa(rawjson.MaxValueDepth) + " levels of arrays and objects"
}

// Items iterates over an array of objects. It adds a problem for every element that is
// not an object.
func (o *Object) Items(name, example string) iter.Seq2[int, *Object] {
	return func(yield func(int, *Object) bool) {
		items, _ := o.Array(name).Get()
		array := &Object{path: o.path + fault.Escape(name) + "/", place: o.place, problems: o.problems, reading: o.reading}
		for index, text := range items {
			at := strconv.Itoa(index)
			item, isObject := array.child(at, text)
			o.reading.contain(name, item)
			if !isObject {
				array.Refuse(at, mustBeObject+example)
			} else if !yield(index, item) {
				return
			}
		}
	}
}

// Without returns the JSON text of the object without the named members.
func (o *Object) Without(names ...string) json.RawMessage {
	text := []byte{'{'}
	for _, name := range o.names {
		if slices.Contains(names, name) {
			continue
		}
		o.reading.ask(name)
		o.requireShallow(name)
		if len(text) > 1 {
			text = append(text, ',')
		}
		quoted, _ := json.Marshal(name) // a string always encodes
		text = append(append(append(text, quoted...), ':'), o.members[name]...)
	}
	return append(text, '}')
}

// ParseTime parses an ISO 8601 date and time, in extended or basic form. It returns the time in
// UTC, truncated to microseconds. A time without an offset is UTC.
func ParseTime(text string) (time.Time, bool) {
	text = strings.ToUpper(text)
	for _, local := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "20060102T150405", "20060102T1504"} {
		for _, offset := range []string{"Z07:00", "", "Z0700", "Z07"} {
			// Parse accepts a fraction after the seconds even if the layout has none.
			if at, err := time.Parse(local+offset, text); err == nil {
				at = at.UTC().Truncate(time.Microsecond)
				return at, at.Year() >= 0 && at.Year() <= 9999 && isOffset(text) // the offset may move the year out of range
			}
		}
	}
	return time.Time{}, false
}

// HasOffset reports whether a text that ParseTime accepts has an offset.
func HasOffset(text string) bool {
	_, clock, _ := strings.Cut(strings.ToUpper(text), "T")
	return strings.ContainsAny(clock, "Z+-")
}

// isOffset reports whether the offset of a parsed time is valid. It is needed because Parse
// accepts 24 hours and 60 minutes.
func isOffset(text string) bool {
	_, clock, _ := strings.Cut(text, "T")
	at := strings.LastIndexAny(clock, "+-")
	if at < 0 {
		return true
	}
	hours, minutes := clock[at+1:at+3], strings.TrimPrefix(clock[at+3:], ":")
	return hours < "24" && minutes < "60"
}

func toString(text json.RawMessage) (string, bool) {
	if text[0] != '"' {
		return "", false
	}
	return rawjson.Unquote(text), true
}
