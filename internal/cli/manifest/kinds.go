package manifest

import (
	"encoding/json"
	"maps"
	"strings"
)

// definition returns the members of a kind that people configure; all others are observed or computed. A plan compares only
// these members, so a missing one would never differ: the tests compare the table with the requests of the OpenAPI
// description, and change every member. Reading that description here instead would add 90 ms to every plan, and would still
// need a list of synonyms, such as group and group_id.
func definition(kind string) []string {
	return map[string][]string{
		"environment":  {"name", "color", "classification", "managed"},
		"service":      {"name"},
		"context_type": {"name", "attributes"},
		"log_group":    {"name", "level", "level_expires_at", "environments"},
		"logger":       {"name", "level", "level_expires_at", "group", "environments", "managed"},
		"config":       {"name", "description", "parent", "items", "environments"},
		"flag":         {"name", "description", "type", "default", "values", "environments", "managed"},
		"job":          {"name", "description", "enabled", "schedule", "timezone", "configuration", "overlap", "retry", "alerts"},
		"webhook":      {"name", "url", "format", "events", "filter", "headers", "enabled"},
	}[kind]
}

// pick returns the members of a resource that define it.
func pick(kind string, all attributes) attributes {
	picked := attributes{}
	for _, name := range definition(kind) {
		if member, exists := all[name]; exists {
			picked[name] = member
		}
	}
	return picked
}

// complete returns the attributes to send for a resource: the file's attributes, their defaults, and the server's state that
// files leave out. current is the stored resource; nil for none.
func complete(kind, id string, declared, current attributes) attributes {
	sent := maps.Clone(declared)
	switch kind {
	case "flag":
		sent.fallback("managed", "true")
	case "config":
		completeConfig(id, sent, current)
	case "logger":
		if group, exists := sent["group_id"]; exists && sent["group"] == nil { // group_id is a synonym
			sent["group"] = group
			delete(sent, "group_id")
		}
		completeLevels(sent, current)
	case "log_group":
		completeLevels(sent, current)
	case "job":
		completeJob(sent, current)
	case "environment":
		sent.fallback("name", encode(id))
	case "context_type":
		if observed, exists := current["attributes"]; exists && sent["attributes"] == nil {
			sent["attributes"] = observed
		}
	}
	return sent
}

// fallback sets a missing member. A nil object stays nil: a file may set the level of an environment to null.
func (a attributes) fallback(name, text string) {
	if _, exists := a[name]; !exists && a != nil {
		a[name] = json.RawMessage(text)
	}
}

// completeConfig sets members that the server would otherwise keep from the stored config: a file without a parent means the
// parent common, and an item without a schema means no schema.
func completeConfig(id string, sent, current attributes) {
	if id != "common" {
		sent.fallback("parent", `"common"`)
	}
	stored := current.objects("items")
	items := sent.objects("items")
	for key, item := range items {
		if _, had := stored[key]["schema"]; had {
			item.fallback("schema", "null")
		}
	}
	if items != nil {
		sent["items"] = raw(items)
	}
}

// completeLevels makes levels of the file permanent unless the file has an expiry, and keeps the server's temporary levels
// where the file has no level.
func completeLevels(sent, current attributes) {
	if !empty(sent["level"]) {
		sent.fallback("level_expires_at", "null")
	} else if !empty(current["level_expires_at"]) {
		sent["level"], sent["level_expires_at"] = current["level"], current["level_expires_at"]
	}
	levels := sent.objects("environments")
	for _, level := range levels {
		level.fallback("expires_at", "null")
	}
	for environment, level := range current.objects("environments") {
		if _, declared := levels[environment]; !declared && !empty(level["expires_at"]) {
			if levels == nil {
				levels = map[string]attributes{}
			}
			levels[environment] = level
		}
	}
	if levels != nil {
		sent["environments"] = raw(levels)
	}
}

// completeJob keeps a one-off job disabled after it has run, so that it does not run again.
func completeJob(sent, current attributes) {
	schedule := strings.TrimSpace(sent.text("schedule")) // the server trims it too
	once := len(strings.Fields(schedule)) == 1
	if once && schedule == current.text("schedule") && string(sent["enabled"]) != "false" && current["enabled"] != nil {
		sent["enabled"] = current["enabled"]
	}
}

// objects returns the objects in a member; nil if the member is not an object of objects.
func (a attributes) objects(name string) map[string]attributes {
	var objects map[string]attributes
	if json.Unmarshal(a[name], &objects) != nil {
		return nil
	}
	return objects
}

// empty reports whether a member is absent or null.
func empty(member json.RawMessage) bool { return len(member) == 0 || string(member) == "null" }

// raw encodes a value that was decoded from JSON, which cannot fail.
func raw(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func encode(text string) string { return string(raw(text)) }
