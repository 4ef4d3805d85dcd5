package configs

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// Source is the part of a config that a value comes from.
type Source string

// The sources.
const (
	Base              Source = "base"        // an item
	SourceEnvironment Source = "environment" // an override
)

// Origin is the config and source of a value. A merged object has the origin of the last part.
type Origin struct {
	Config string `json:"config"`
	Source Source `json:"source"`
}

// Resolved has all values of a config, with the inherited ones, in one environment or in none.
type Resolved struct {
	Key         string                     `json:"-"`
	Environment *string                    `json:"environment"`
	Values      map[string]json.RawMessage `json:"values"`
	Origins     map[string]Origin          `json:"origins"`
}

// Resolve returns the values of the last config of a chain. If environment is nil, it ignores overrides.
func Resolve(configs []Config, environment *string) Resolved {
	var found members
	var origins []Origin // of each layer
	resolved := Resolved{Environment: environment}
	for _, config := range configs {
		resolved.Key = config.Key
		origins = append(origins, Origin{Config: config.Key, Source: Base}, Origin{Config: config.Key, Source: SourceEnvironment})
		for key, item := range config.Items {
			found.add(len(origins)-2, key, item.Value)
		}
		if environment == nil {
			continue
		}
		for key, value := range config.Environments[*environment] {
			found.add(len(origins)-1, key, value)
		}
	}
	resolved.Values, resolved.Origins = make(map[string]json.RawMessage, len(found.list)), make(map[string]Origin, len(found.list))
	for _, each := range found.list {
		resolved.Values[each.name], resolved.Origins[each.name] = each.value.merge(), origins[each.layer]
	}
	return resolved
}

// MarshalJSON copies the bytes of the values. An encoder would parse all of them again, and there may be thousands.
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
	text = r.appendValues(append(text, `,"values":`...), keys)
	text = append(text, `,"origins":{`...)
	for i, key := range keys {
		origin := r.Origins[key]
		text = appendQuoted(append(appendName(text, i, key), `{"config":`...), origin.Config)
		text = append(appendQuoted(append(text, `,"source":`...), string(origin.Source)), '}')
	}
	return append(text, `}}`...), nil
}

// AppendValues appends the values as a JSON object, sorted by key.
func (r Resolved) AppendValues(text []byte) []byte {
	return r.appendValues(text, slices.Sorted(maps.Keys(r.Values)))
}

func (r Resolved) appendValues(text []byte, keys []string) []byte {
	text = append(text, '{')
	for i, key := range keys {
		text = append(appendName(text, i, key), r.Values[key]...)
	}
	return append(text, '}')
}

// appendName appends the name of a member, with a comma before it unless index is 0.
func appendName(text []byte, index int, name string) []byte {
	if index > 0 {
		text = append(text, ',')
	}
	return append(appendQuoted(text, name), ':')
}

func isObject(value json.RawMessage) bool { return value[0] == '{' }

// layers are the values to merge for one key, the lowest first: either one value of any kind, or several objects.
type layers []json.RawMessage

// with adds a value on top. An object merges with the objects below it; any other value hides the layers below it.
func (l layers) with(value json.RawMessage) layers {
	if len(l) > 0 && isObject(value) && isObject(l[0]) {
		return append(l, value)
	}
	return layers{value}
}

// merge merges the layers into one value. It copies their bytes without decoding.
func (l layers) merge() json.RawMessage {
	if len(l) == 1 {
		return l[0]
	}
	var merged members
	size := 2
	for layer, object := range l {
		size += len(object)
		rawjson.Members(object, func(name string, value json.RawMessage) { merged.add(layer, name, value) })
	}
	text := append(make([]byte, 0, size), '{')
	for i, member := range merged.list {
		text = append(appendName(text, i, member.name), member.value.merge()...)
	}
	return append(text, '}')
}

// appendQuoted appends a name as JSON text. Most names are plain and need no encoder.
func appendQuoted(text []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			quoted, _ := json.Marshal(name) // a string always encodes
			return append(text, quoted...)
		}
	}
	return append(append(append(text, '"'), name...), '"')
}

// members are the members of merged objects, or the keys of configs, in the order of their first appearance.
type members struct {
	list  []member
	index map[string]int // created once there are many members
}

type member struct {
	name  string
	layer int    // the last object or config with this member
	below layers // the layers of the value before that layer
	value layers
}

// add puts a member over the same member of lower layers. If an object repeats a name, its last value counts.
func (m *members) add(layer int, name string, value json.RawMessage) {
	at := m.place(name)
	if m.list[at].layer != layer {
		m.list[at].layer, m.list[at].below = layer, m.list[at].value
	}
	m.list[at].value = m.list[at].below.with(value)
}

// place returns the index of a name, adding the name if it is new.
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
