package configs

import (
	"encoding/json"
	"slices"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// Source says which part of a config a value comes from.
type Source string

// The sources.
const (
	Base              Source = "base"        // an item
	SourceEnvironment Source = "environment" // an override
)

// Origin is where a value comes from; of an object that was merged, the part
// that came last.
type Origin struct {
	Config string `json:"config"`
	Source Source `json:"source"`
}

// Resolved is what a config comes to, in an environment or without one.
type Resolved struct {
	Key         string                     `json:"-"`
	Environment *string                    `json:"environment"`
	Values      map[string]json.RawMessage `json:"values"`
	Origins     map[string]Origin          `json:"origins"`
}

// Resolve computes what the last config of a chain comes to. The chain begins
// with its root. Without an environment only items count.
func Resolve(chain []Config, environment *string) Resolved {
	found := findings{index: map[string]int{}}
	resolved := Resolved{Environment: environment}
	for _, config := range chain {
		resolved.Key = config.Key
		base := Origin{Config: config.Key, Source: Base}
		for key, item := range config.Items {
			found.lay(key, item.Value, base)
		}
		if environment == nil {
			continue
		}
		overridden := Origin{Config: config.Key, Source: SourceEnvironment}
		for key, value := range config.Environments[*environment] {
			found.lay(key, value, overridden)
		}
	}
	resolved.Values, resolved.Origins = found.values()
	return resolved
}

// findings are the values of keys while a chain is walked.
type findings struct {
	index map[string]int // into the list
	list  []finding
}

type finding struct {
	key    string
	layers stack
	origin Origin
}

// lay puts a value over what its key has so far.
func (f *findings) lay(key string, value json.RawMessage, origin Origin) {
	at, known := f.index[key]
	if !known {
		at = len(f.list)
		f.index[key] = at
		f.list = append(f.list, finding{key: key})
	}
	f.list[at].layers, f.list[at].origin = f.list[at].layers.with(value), origin
}

func (f *findings) values() (map[string]json.RawMessage, map[string]Origin) {
	values, origins := make(map[string]json.RawMessage, len(f.list)), make(map[string]Origin, len(f.list))
	for _, each := range f.list {
		values[each.key], origins[each.key] = each.layers.merge(), each.origin
	}
	return values, origins
}

// MarshalJSON writes the values with the bytes that they have. There may be
// thousands, which an encoder would all check again.
func (r Resolved) MarshalJSON() ([]byte, error) {
	keys, size := make([]string, 0, len(r.Values)), 100
	for key, value := range r.Values {
		keys, size = append(keys, key), size+2*len(key)+len(value)+len(r.Origins[key].Config)+50
	}
	slices.Sort(keys)
	text := append(make([]byte, 0, size), `{"environment":`...)
	if r.Environment == nil {
		text = append(text, "null"...)
	} else {
		text = appendQuoted(text, *r.Environment)
	}
	text = append(text, `,"values":{`...)
	for i, key := range keys {
		text = append(appendName(text, i, key), r.Values[key]...)
	}
	text = append(text, `},"origins":{`...)
	for i, key := range keys {
		origin := r.Origins[key]
		text = appendQuoted(append(appendName(text, i, key), `{"config":`...), origin.Config)
		text = append(appendQuoted(append(text, `,"source":`...), string(origin.Source)), '}')
	}
	return append(text, `}}`...), nil
}

// appendName appends the name of a member, and the comma before it unless it
// is the first.
func appendName(text []byte, index int, name string) []byte {
	if index > 0 {
		text = append(text, ',')
	}
	return append(appendQuoted(text, name), ':')
}

func isObject(value json.RawMessage) bool { return value[0] == '{' }

// stack is the values of one key that are merged, the first lying lowest: one
// value of any kind, or several objects.
type stack []json.RawMessage

// with lays another value on top: an object merges with objects, and
// everything else hides what is below it.
func (s stack) with(value json.RawMessage) stack {
	if len(s) > 0 && isObject(value) && isObject(s[0]) {
		return append(s, value)
	}
	return stack{value}
}

// merge gives the one value that the stack comes to, made of the bytes of its
// parts.
func (s stack) merge() json.RawMessage {
	if len(s) == 1 {
		return s[0]
	}
	var merged members
	size := 2
	for layer, object := range s {
		size += len(object)
		rawjson.Members(object, func(name string, value json.RawMessage) { merged.lay(layer, name, value) })
	}
	text := append(make([]byte, 0, size), '{')
	for i, member := range merged.list {
		text = append(appendName(text, i, member.name), member.value.merge()...)
	}
	return append(text, '}')
}

// appendQuoted appends a name as JSON text; plain ones, which most are, need
// no encoder.
func appendQuoted(text []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			quoted, _ := json.Marshal(name) // a string always encodes
			return append(text, quoted...)
		}
	}
	return append(append(append(text, '"'), name...), '"')
}

// members are the members of objects that are merged, in the order in which
// their names first appear.
type members struct {
	list  []member
	index map[string]int // made when there are many
}

type member struct {
	name  string
	layer int   // the object that was last laid
	below stack // what there was before that object
	value stack
}

// lay puts a member of one object over those of the objects before it. Of
// members of one object with one name the last counts, as JSON readers have it.
func (m *members) lay(layer int, name string, value json.RawMessage) {
	at := m.place(name)
	if m.list[at].layer != layer {
		m.list[at].layer, m.list[at].below = layer, m.list[at].value
	}
	m.list[at].value = m.list[at].below.with(value)
}

// place finds the index of a name, or makes one.
func (m *members) place(name string) int {
	const many = 16
	if m.index == nil {
		for at := range m.list {
			if m.list[at].name == name {
				return at
			}
		}
	} else if at, known := m.index[name]; known {
		return at
	}
	m.list = append(m.list, member{name: name, layer: -1})
	switch last := len(m.list) - 1; {
	case m.index != nil:
		m.index[name] = last
	case last == many:
		m.index = make(map[string]int, 2*many)
		for at := range m.list {
			m.index[m.list[at].name] = at
		}
	}
	return len(m.list) - 1
}
