package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/openapi"
)

// node is a JSON object such as a schema.
type node = map[string]any

// Schema returns a JSON Schema of files, for editors. It is built from the OpenAPI description.
func Schema() (json.RawMessage, error) {
	kinds, err := kindSchemas()
	if err != nil {
		return nil, err
	}
	resource := node{
		"type": "object", "required": []string{"kind", "id"},
		"properties": node{"kind": node{"enum": signalbox.DocumentKinds(), "description": "What the resource is."}},
	}
	var chosen []node
	definitions := node{"resource": resource}
	for _, kind := range signalbox.DocumentKinds() {
		definitions[kind] = kinds[kind]
		isKind := node{"properties": node{"kind": node{"const": kind}}, "required": []string{"kind"}}
		chosen = append(chosen, node{"if": isKind, "then": node{"$ref": "#/$defs/" + kind}})
	}
	resource["allOf"] = chosen
	one := node{"$ref": "#/$defs/resource"}
	return json.Marshal(node{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Resources of Signalbox",
		"if": node{"type": "array"}, "then": node{"items": one}, "else": one, "$defs": definitions,
	})
}

// kindSchemas returns a schema for the resources of each kind.
func kindSchemas() (map[string]node, error) {
	text, err := openapi.JSON()
	if err != nil {
		return nil, err
	}
	var description node
	if err := json.Unmarshal(text, &description); err != nil {
		return nil, fmt.Errorf("reading the interface description: %w", err)
	}
	kinds := map[string]node{}
	for _, kind := range signalbox.DocumentKinds() {
		request := at(description, "paths", "/api/v1/"+kind+"s/{id}", "put", "requestBody", "content", "application/vnd.api+json",
			"schema", "properties", "data", "properties", "attributes")
		if request == nil {
			return nil, fmt.Errorf("the interface description has no attributes of a %s", kind)
		}
		id := at(description, "paths", "/api/v1/"+kind+"s/{id}", "put", "responses", "200", "content", "application/vnd.api+json",
			"schema", "properties", "data", "properties", "id")
		kinds[kind] = ofFile(kind, closed(description, request).(node), sentID(kind, closed(description, id).(node)))
	}
	return kinds, nil
}

// at returns the node at a path of names in a description, and follows references; nil if there is none.
func at(description node, names ...string) node {
	value := description
	for _, name := range names {
		value, _ = value[name].(node)
		if reference, is := value["$ref"].(string); is {
			value = at(description, segments(reference)...)
		}
	}
	return value
}

// segments returns the path of names in a reference.
func segments(reference string) []string {
	return strings.Split(strings.TrimPrefix(reference, "#/"), "/")
}

// closed returns a schema with its references replaced by their targets, which allows no unknown members.
func closed(description node, schema any) any {
	switch schema := schema.(type) {
	case []any:
		for i, each := range schema {
			schema[i] = closed(description, each)
		}
	case node:
		if reference, is := schema["$ref"].(string); is {
			return closed(description, at(description, segments(reference)...))
		}
		result := node{}
		for name, each := range schema {
			result[name] = closed(description, each)
		}
		if _, names := schema["properties"]; names {
			result["additionalProperties"] = false
		}
		return withWords(result)
	}
	return schema
}

// anyCase finds a pattern of words in any case.
var anyCase = regexp.MustCompile(`^\^\(((?:\[[A-Z][a-z]\]|[_|])+)\)\$$`)

// withWords adds the usual spelling to a pattern of words in any case, so that editors complete them.
func withWords(schema node) node {
	pattern, _ := schema["pattern"].(string)
	found := anyCase.FindStringSubmatch(pattern)
	if found == nil {
		return schema
	}
	words := strings.Split(regexp.MustCompile(`\[([A-Z])[a-z]\]`).ReplaceAllString(found[1], "$1"), "|")
	delete(schema, "pattern")
	schema["anyOf"] = []node{{"enum": words}, {"pattern": pattern}, {"type": "null"}}
	return schema
}

// ofFile returns the schema of a resource in a file: it adds kind, id, moved and runtime, and makes some members optional.
func ofFile(kind string, schema, id node) node {
	members := schema["properties"].(node)
	members["kind"] = node{"const": kind}
	members["id"] = id
	members["moved"] = node{
		"type": "object", "properties": node{"from": node{"type": "string", "minLength": 1}}, "required": []string{"from"}, "additionalProperties": false,
		"description": "The id that the resource had before.",
	}
	members["runtime"] = node{
		"type": "array", "items": node{"type": "string", "examples": slices.Concat(definition(kind), ofEnvironments(kind))},
		"description": "Members that people decide while the system runs: apply keeps what the server has.",
	}
	required, _ := schema["required"].([]any)
	schema["required"] = slices.DeleteFunc(append(required, "kind", "id"), func(name any) bool { return kind == "environment" && name == "name" })
	switch kind {
	case "environment":
		delete(members, "moved")
	case "flag":
		schema["allOf"] = flagDefaults()
	case "config":
		members["items"].(node)["additionalProperties"].(node)["allOf"] = itemValues()
	case "job":
		addReferences(members["configuration"].(node)["properties"].(node))
	case "webhook":
		addReferences(members)
		reference := node{"type": "object", "properties": node{"valueFrom": valueFrom()}, "required": []string{"valueFrom"}, "additionalProperties": false}
		members["url"] = node{"anyOf": []any{members["url"], reference}}
	}
	return schema
}

// sentID returns the schema of the ids that the server takes for a kind, from the schema of the ids that it returns: a logger has
// many spellings, and a UUID may be in upper case.
func sentID(kind string, id node) node {
	switch kind {
	case "logger":
		delete(id, "pattern")
	case "webhook":
		id["pattern"] = strings.ReplaceAll(id["pattern"].(string), "a-f", "A-Fa-f")
	}
	return id
}

// itemValues returns schemas that require the value of a config's item to have the item's type. Only a JSON item may have a
// schema.
func itemValues() (rules []node) {
	types := map[string]string{"STRING": "string", "BOOLEAN": "boolean", "NUMBER": "number"}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		isType := node{"properties": node{"type": node{"type": "string", "pattern": inAnyCase(name)}}, "required": []string{"type"}}
		rules = append(rules, node{"if": isType, "then": node{"properties": node{"value": node{"type": types[name]}, "schema": node{"type": "null"}}}})
	}
	return rules
}

// inAnyCase returns a pattern of a word in any case.
func inAnyCase(word string) string {
	var pattern strings.Builder
	for _, letter := range word {
		fmt.Fprintf(&pattern, "[%c%c]", letter, unicode.ToLower(letter))
	}
	return "^" + pattern.String() + "$"
}

// flagDefaults returns schemas that require the default of a flag to have the flag's type.
func flagDefaults() (rules []node) {
	types := map[string]string{"BOOLEAN": "boolean", "STRING": "string", "NUMERIC": "number"}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		isType := node{"properties": node{"type": node{"const": name}}, "required": []string{"type"}}
		rules = append(rules, node{"if": isType, "then": node{"properties": node{"default": node{"type": types[name]}}}})
	}
	return rules
}

// valueFrom returns the schema of a reference to a value.
func valueFrom() node {
	return node{"type": "string", "pattern": "^(env:.+|" + storedReference + ")$", "description": "env:NAME, or " + storedReference + " for the value that the server has."}
}

// addReferences allows valueFrom instead of the value of a header.
func addReferences(members node) {
	for _, each := range members["headers"].(node)["anyOf"].([]any) {
		header, is := each.(node)["items"].(node)
		if !is {
			continue
		}
		header["properties"].(node)["valueFrom"] = valueFrom()
		header["required"] = []string{"name"}
		header["oneOf"] = []node{{"required": []string{"value"}}, {"required": []string{"valueFrom"}}}
	}
}
