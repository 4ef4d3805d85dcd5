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

// maxIgnored is how many unknown members of one body are named.
const maxIgnored = 1000

// reading remembers which members of an object anything has asked for. A nil reading remembers nothing.
type reading struct {
	known    map[string]bool      // false for members that are known but cannot be written
	children map[string][]*Object // that a member holds: itself, or the items of an array
}

func newReading() *reading {
	return &reading{known: map[string]bool{}, children: map[string][]*Object{}}
}

// inside returns the reading of a child.
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

// writable returns the members that something has asked for, whether they were sent or not.
func (r *reading) writable() []string {
	names := maps.Clone(r.known)
	maps.DeleteFunc(names, func(_ string, writable bool) bool { return !writable })
	return slices.Sorted(maps.Keys(names))
}

// Track makes an item remember what is asked of it, so that Done can refuse the rest.
func (o *Object) Track() { o.reading = newReading() }

// Know makes members known that cannot be written: clients send back what they have read.
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

// Ignored returns the pointers of all members that nothing has asked for, in the order of the text.
func (o *Object) Ignored() []string {
	var pointers []string
	for in, name := range o.unknown() {
		pointers = append(pointers, *source(in.Place(name)).Pointer)
	}
	return pointers
}

// Done returns the problems of a body once everything was read from it. If it is read strictly, the members that nothing
// has asked for are among them.
func (o *Object) Done(strict bool) fault.Problems {
	if strict {
		for in, name := range o.unknown() {
			in.refuseUnknown(name, in.reading.writable())
		}
	}
	return *o.problems
}

// unknown iterates over the first members that nothing has asked for, each with the object that has it.
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

// Unknown notes a problem for every member that is not among the known ones, however the body is read.
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

// MemberNames returns the names of the members that a value has as JSON; none if it is no object.
func MemberNames(value any) []string {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	names := map[string]bool{}
	rawjson.Members(text, func(name string, _ json.RawMessage) { names[name] = true })
	return slices.Sorted(maps.Keys(names))
}
