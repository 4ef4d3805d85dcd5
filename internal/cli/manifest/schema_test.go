package manifest_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/openapi"
)

// schema is a part of the description of the interface.
type schema map[string]any

// described returns the whole description. Reading it takes longer than the tests that use it.
var described = sync.OnceValues(func() (description schema, err error) {
	text, err := openapi.JSON()
	if err == nil {
		err = json.Unmarshal(text, &description)
	}
	return description, err
})

// at returns the schema below some names, with references and alternatives followed.
func (s schema) at(t *testing.T, names ...string) schema {
	t.Helper()
	for _, name := range names {
		below, is := s[name].(map[string]any)
		if !is {
			t.Fatalf("the description has nothing at %q of %q", name, names)
		}
		s = schema(below).resolved(t)
	}
	return s
}

// resolved follows references, and takes the first alternative that is not null.
func (s schema) resolved(t *testing.T) schema {
	t.Helper()
	if reference, is := s["$ref"].(string); is {
		description, err := described()
		if err != nil {
			t.Fatal(err)
		}
		return description.at(t, strings.Split(strings.TrimPrefix(reference, "#/"), "/")...)
	}
	for _, word := range []string{"anyOf", "allOf"} {
		alternatives, _ := s[word].([]any)
		for _, each := range alternatives {
			if chosen := schema(each.(map[string]any)).resolved(t); chosen["type"] != "null" {
				return chosen
			}
		}
	}
	return s
}

// kind returns the type of a value that is not null; "" for any.
func (s schema) kind() string {
	switch kinds := s["type"].(type) {
	case string:
		return kinds
	case []any:
		return kinds[0].(string)
	default:
		return ""
	}
}

// properties returns the members that the schema of an object names, sorted.
func (s schema) properties() []string {
	properties, _ := s["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// values returns two different values; less if there are no two. What nobody checks may have any value.
func (s schema) values() []any {
	examples, _ := s["examples"].([]any)
	if choices, is := s["enum"].([]any); is {
		examples = slices.DeleteFunc(slices.Clone(choices), func(choice any) bool { return choice == nil })
		return examples[:min(2, len(examples))]
	}
	switch {
	case len(examples) >= 2:
		return examples[:2]
	case s["const"] != nil || s.kind() == "null":
		return nil
	}
	switch s.kind() {
	case "string":
		return []any{"one", "two"}
	case "boolean":
		return []any{true, false}
	case "array":
		return []any{[]any{1}, []any{2}}
	case "object":
		return []any{map[string]any{"key": map[string]any{"item": 1}}, map[string]any{"key": map[string]any{"item": 2}}}
	default:
		return []any{1, 2}
	}
}

// attributes returns the schema of the attributes in a request, or in its response, that replaces a resource of a kind.
func attributes(t *testing.T, kind, direction string) schema {
	t.Helper()
	description, err := described()
	if err != nil {
		t.Fatal(err)
	}
	operation := description.at(t, "paths", "/api/v1/"+kind+"s/{id}", "put")
	if direction == "request" {
		operation = operation.at(t, "requestBody")
	} else {
		operation = operation.at(t, "responses", "200")
	}
	return operation.at(t, "content", "application/vnd.api+json", "schema", "properties", "data", "properties", "attributes")
}

// insteadOf maps members that can only be written to the member that they set.
func insteadOf() map[string]string {
	return map[string]string{"group_id": "group", "level_ttl_seconds": "level_expires_at", "ttl_seconds": "expires_at"}
}

// child is a named schema below another one.
type child struct {
	name   string // as the paths of differences have it
	schema schema
}

// children returns the members of an object, one of a map or the first of a list. A single value has none.
func (s schema) children(t *testing.T) (found []child) {
	t.Helper()
	for _, name := range s.properties() {
		found = append(found, child{"." + name, s.at(t, "properties", name)})
	}
	if _, is := s["additionalProperties"].(map[string]any); is && s.kind() == "object" {
		if values := s.at(t, "additionalProperties"); values.kind() != "object" || len(values.properties()) > 0 {
			found = append(found, child{".key", values})
		}
	}
	if _, is := s["items"].(map[string]any); is {
		found = append(found, child{"[0]", s.at(t, "items")})
	}
	return found
}

// leaves returns the paths of all values that can differ.
func (s schema) leaves(t *testing.T, path string) (paths []string) {
	t.Helper()
	below := s.children(t)
	for _, each := range below {
		paths = append(paths, each.schema.leaves(t, path+each.name)...)
	}
	if len(below) == 0 && len(s.values()) == 2 {
		paths = append(paths, strings.TrimPrefix(path, "."))
	}
	return paths
}

// sample returns a value that has everything in it. The one at the path changed is another one than usual.
func (s schema) sample(t *testing.T, path, changed string) any {
	t.Helper()
	below := s.children(t)
	if len(below) == 0 {
		values := s.values()
		if len(values) == 0 {
			return nil
		}
		if strings.TrimPrefix(path, ".") == changed {
			return values[1]
		}
		return values[0]
	}
	if s.kind() == "array" {
		return []any{below[0].schema.sample(t, path+below[0].name, changed)}
	}
	members := map[string]any{}
	for _, each := range below {
		members[each.name[1:]] = each.schema.sample(t, path+each.name, changed)
	}
	for short, long := range insteadOf() { // only one of the two may be sent
		if _, has := members[short]; has && strings.TrimPrefix(path+"."+short, ".") == changed {
			delete(members, long)
		} else {
			delete(members, short)
		}
	}
	return members
}
