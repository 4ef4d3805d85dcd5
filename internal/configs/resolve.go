package configs

import (
	"bytes"
	"encoding/json"
	"strconv"

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
	resolved := Resolved{Environment: environment, Values: map[string]json.RawMessage{}, Origins: map[string]Origin{}}
	layers := map[string]stack{} // of the keys whose values may have to be merged
	for _, config := range chain {
		resolved.Key = config.Key
		base := Origin{Config: config.Key, Source: Base}
		for key, item := range config.Items {
			resolved.put(layers, key, item.Value, base)
		}
		if environment == nil {
			continue
		}
		overridden := Origin{Config: config.Key, Source: SourceEnvironment}
		for key, value := range config.Environments[*environment] {
			resolved.put(layers, key, value, overridden)
		}
	}
	for key, each := range layers {
		resolved.Values[key] = each.merge()
	}
	return resolved
}

// put lays a value over what the key has so far. A key gets a stack with its
// second value: most have one.
func (r Resolved) put(layers map[string]stack, key string, value json.RawMessage, origin Origin) {
	if first, again := r.Values[key]; again && (isObject(value) || layers[key] != nil) {
		below := layers[key]
		if below == nil {
			below = stack{first}
		}
		layers[key] = below.with(value)
	}
	r.Values[key], r.Origins[key] = value, origin
}

func isObject(value json.RawMessage) bool { return value[0] == '{' }

// stack is the values of one key that are merged, the first lying lowest: one
// value of any kind, or several objects.
type stack []json.RawMessage

// with lays another value on top: an object merges with objects, and
// everything else hides what is below it.
func (s stack) with(value json.RawMessage) stack {
	if len(s) > 0 && (!isObject(value) || !isObject(s[len(s)-1])) {
		return append(s[:0], value)
	}
	return append(s, value)
}

// merge gives the one value that the stack comes to, made of the bytes of its
// parts.
func (s stack) merge() json.RawMessage {
	if len(s) == 1 {
		return s[0]
	}
	var merged members
	for _, layer := range s {
		merged.lay(layer)
	}
	var text bytes.Buffer
	text.WriteByte('{')
	for i, name := range merged.names {
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(quoted(name))
		text.WriteByte(':')
		text.Write(merged.values[i].merge())
	}
	text.WriteByte('}')
	return text.Bytes()
}

// quoted is a name as JSON text; plain ones, which most are, need no encoder.
func quoted(name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			text, _ := json.Marshal(name) // a string always encodes
			return text
		}
	}
	return strconv.AppendQuote(nil, name)
}

// members are the members of objects that are merged, in the order in which
// their names first appear.
type members struct {
	names  []string
	values []stack
	index  map[string]int // made when there are many
}

// lay puts the members of one object over those that are there.
func (m *members) lay(object json.RawMessage) {
	var own members // of members with one name the last counts, as JSON readers have it
	rawjson.Members(object, func(name string, value json.RawMessage) {
		own.values[own.place(name)] = stack{value}
	})
	for i, name := range own.names {
		at := m.place(name)
		m.values[at] = m.values[at].with(own.values[i][0])
	}
}

// place finds the index of a name, or makes one.
func (m *members) place(name string) int {
	const many = 16
	if m.index != nil {
		if at, known := m.index[name]; known {
			return at
		}
		m.index[name] = len(m.names)
	} else {
		for at, known := range m.names {
			if known == name {
				return at
			}
		}
		if len(m.names) == many {
			m.index = map[string]int{name: many}
			for at, known := range m.names {
				m.index[known] = at
			}
		}
	}
	m.names, m.values = append(m.names, name), append(m.values, nil)
	return len(m.names) - 1
}
