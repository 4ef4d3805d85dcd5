package jsonapi

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// maxIgnored is how many unknown members of a body are reported.
const maxIgnored = 1000

// reading remembers which members of an object were read. A nil reading remembers nothing.
type reading struct {
	known    map[string]bool      // the value is false for members that cannot be written
	children map[string][]*Object // the objects in a member: its value, or the items of its array
}

func newReading() *reading {
	return &reading{known: map[string]bool{}, children: map[string][]*Object{}}
}

// inside returns a reading for a child.
func (r *reading) inside() *reading {
	if r == nil {
		return nil
	}
	return newReading()
}

func (r *reading) ask(name string) {
	if r != nil {
		r.known[name] = true
	}
}

func (r *reading) contain(name string, child *Object) {
	if r != nil {
		r.children[name] = append(r.children[name], child)
	}
}

// writable returns the names that were asked for, even if the body does not have them.
func (r *reading) writable() []string {
	names := maps.Clone(r.known)
	maps.DeleteFunc(names, func(_ string, writable bool) bool { return !writable })
	return slices.Sorted(maps.Keys(names))
}

// Track makes an item remember which members are read, so that Done can refuse the others.
func (o *Object) Track() { o.reading = newReading() }

// Know makes read-only members known, because clients may send back a document that they have read.
func (o *Object) Know(names ...string) {
	if o.reading == nil {
		return
	}
	for _, name := range names {
		if !o.reading.known[name] {
			o.reading.known[name] = false
		}
	}
}

// Ignored returns the JSON pointers to all unknown members, in the order of the text.
func (o *Object) Ignored() []string {
	var pointers []string
	for in, name := range o.unknown() {
		pointers = append(pointers, *source(in.Place(name)).Pointer)
	}
	return pointers
}

// Done returns the problems of a body. Call it after everything was read. If strict is set, unknown members are
// problems.
func (o *Object) Done(strict bool) fault.Problems {
	if strict {
		for in, name := range o.unknown() {
			in.refuseUnknown(name, in.reading.writable())
		}
	}
	return *o.problems
}

// unknown iterates over the first maxIgnored unknown members, each with its object.
func (o *Object) unknown() iter.Seq2[*Object, string] {
	return func(yield func(*Object, string) bool) {
		left := maxIgnored
		o.eachUnknown(func(in *Object, name string) bool {
			left--
			return yield(in, name) && left > 0
		})
	}
}

func (o *Object) eachUnknown(yield func(*Object, string) bool) bool {
	if o.reading == nil {
		return true
	}
	for _, name := range o.names {
		if _, known := o.reading.known[name]; !known && !yield(o, name) {
			return false
		}
		for _, child := range o.reading.children[name] {
			if !child.eachUnknown(yield) {
				return false
			}
		}
	}
	return true
}

// Unknown adds a problem for every member that is not in known, even if the body is not strict.
func (o *Object) Unknown(known ...string) {
	for _, name := range o.names {
		if !slices.Contains(known, name) {
			o.refuseUnknown(name, known)
			o.Know(name)
		}
	}
}

func (o *Object) refuseUnknown(name string, known []string) {
	rule := "is not a known member; there are none here"
	if len(known) > 0 {
		rule = "is not a known member; known are " + strings.Join(known, ", ")
	}
	path := o.path + fault.Escape(name)
	o.problems.Add(fault.New(fault.Validation, "%s %s.%s", path, rule, naming.DidYouMean(name, known)).At(o.Place(name)))
}

// MemberNames returns the names of the members of a value's JSON, or none if the JSON is not an object.
func MemberNames(value any) []string {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	names := map[string]bool{}
	rawjson.Members(text, func(name string, _ json.RawMessage) { names[name] = true })
	return slices.Sorted(maps.Keys(names))
}
