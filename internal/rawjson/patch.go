package rawjson

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/internal/fault"
)

// Operation is one step of a JSON Patch, RFC 6902.
type Operation struct {
	Op    string          `json:"op"` // add, remove or replace
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"` // nil for remove
}

// Patch is a JSON Patch, RFC 6902.
type Patch []Operation

// Diff returns the patch that turns one value into another; it is empty when they
// are equal. Members come in the order of their names, so that equal values have
// equal patches. An absent value is null.
func Diff(from, to json.RawMessage) Patch {
	patch := Patch{}
	patch.compare("", OrNull(from), OrNull(to))
	return patch
}

// OrNull returns a value, or null if it is absent.
func OrNull(text json.RawMessage) json.RawMessage {
	if text == nil {
		return json.RawMessage("null")
	}
	return text
}

// compare adds the operations that turn one value at a path into another.
func (p *Patch) compare(path string, from, to json.RawMessage) {
	if bytes.Equal(from, to) {
		return
	}
	if was, is, both := objects(from, to); both {
		p.compareMembers(path, was, is)
		return
	}
	was, first := Elements(from)
	is, second := Elements(to)
	switch {
	case first && second:
		p.compareElements(path, was, is)
	case !Same(from, to):
		*p = append(*p, Operation{"replace", path, to})
	}
}

// objects returns the members of two values, and whether both are objects.
func objects(from, to json.RawMessage) (was, is map[string]json.RawMessage, both bool) {
	was, is = map[string]json.RawMessage{}, map[string]json.RawMessage{}
	both = Members(from, func(name string, value json.RawMessage) { was[name] = value }) &&
		Members(to, func(name string, value json.RawMessage) { is[name] = value })
	return was, is, both
}

func (p *Patch) compareMembers(path string, from, to map[string]json.RawMessage) {
	names := maps.Clone(from)
	maps.Copy(names, to)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := from[name]
		is, has := to[name]
		switch at := path + "/" + fault.Escape(name); {
		case !has:
			*p = append(*p, Operation{"remove", at, nil})
		case !had:
			*p = append(*p, Operation{"add", at, is})
		default:
			p.compare(at, was, is)
		}
	}
}

// compareElements skips the equal elements at the start and the end of both
// arrays, compares the rest one by one, and removes or adds surplus elements.
func (p *Patch) compareElements(path string, from, to []json.RawMessage) {
	start := 0
	for start < min(len(from), len(to)) && Same(from[start], to[start]) {
		start++
	}
	for len(from) > start && len(to) > start && Same(from[len(from)-1], to[len(to)-1]) {
		from, to = from[:len(from)-1], to[:len(to)-1]
	}
	at := func(index int) string { return path + "/" + strconv.Itoa(index) }
	common := min(len(from), len(to))
	for i := start; i < common; i++ {
		p.compare(at(i), from[i], to[i])
	}
	for i := len(from) - 1; i >= common; i-- { // from the end, so that other elements keep their indexes
		*p = append(*p, Operation{"remove", at(i), nil})
	}
	for i := common; i < len(to); i++ {
		*p = append(*p, Operation{"add", at(i), to[i]})
	}
}
