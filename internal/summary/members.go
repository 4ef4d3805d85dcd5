package summary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/condition"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// derived returns the members that follow from others, or that every write changes.
func derived() []string {
	return []string{"created_at", "updated_at", "version", "configuration_id", "next_run_at", "group_id", "resolved", "created_by"}
}

// members compares two objects member by member. pointer is the place of the objects.
func (c *comparison) members(environment, pointer string, before, after map[string]json.RawMessage) {
	for _, name := range union(before, after) {
		was, is, place := before[name], after[name], pointer+"/"+fault.Escape(name)
		if rawjson.Same(rawjson.OrNull(was), rawjson.OrNull(is)) || pointer == "" && slices.Contains(derived(), name) {
			continue
		}
		switch {
		case pointer == "" && c.policy(name, was, is):
		case pointer == "" && name == "environments":
			c.environments(object(was), object(is), object(after["items"]))
		case c.hasLevels() && name == "level":
			c.level("", place, before, after, "level_expires_at")
		case c.hasLevels() && name == "level_expires_at":
			if rawjson.Same(rawjson.OrNull(before["level"]), rawjson.OrNull(after["level"])) { // else it is told with the level
				c.level("", place, before, after, name)
			}
		case c.kind == "config" && pointer == "" && name == "items":
			c.items(object(was), object(is), object(after["environments"]))
		default:
			c.member(environment, place, was, is)
		}
	}
}

// environments compares the values of every environment.
func (c *comparison) environments(before, after, items map[string]json.RawMessage) {
	for _, environment := range union(before, after) {
		pointer := "/environments/" + fault.Escape(environment)
		was, is := object(before[environment]), object(after[environment])
		if c.hasLevels() {
			c.level(environment, pointer+"/level", was, is, "expires_at")
			continue
		}
		for _, name := range union(was, is) {
			if rawjson.Same(rawjson.OrNull(was[name]), rawjson.OrNull(is[name])) {
				continue
			}
			place := pointer + "/" + fault.Escape(name)
			switch {
			case c.kind == "flag" && name == "rules":
				c.rules(environment, place, was[name], is[name])
			case c.kind == "config":
				c.override(environment, place, name, was[name], is[name], object(items[name])["value"])
			default:
				c.member(environment, place, was[name], is[name])
			}
		}
	}
}

// hasLevels reports whether the resource is a logger or a group of loggers.
func (c *comparison) hasLevels() bool { return c.kind == "logger" || c.kind == "log_group" }

// level says that a logger has another level, and until when.
func (c *comparison) level(environment, place string, before, after map[string]json.RawMessage, expiry string) {
	was, is, until := before["level"], after["level"], after[expiry]
	started := len(c.sentences)
	if !rawjson.Same(rawjson.OrNull(was), rawjson.OrNull(is)) {
		c.differs(environment, place, "Level", was, is)
	}
	switch {
	case isNothing(is) || rawjson.Same(rawjson.OrNull(until), rawjson.OrNull(before[expiry])):
	case len(c.sentences) > started && !isNothing(until):
		c.sentences[started].Text += " until " + instant(until)
	case !isNothing(until):
		c.say(environment, place, "Level %s ends at %s", value(is), instant(until))
	case len(c.sentences) == started:
		c.say(environment, place, "Level %s stays: it no longer ends by itself", value(is))
	}
}

// instant returns a time to the second.
func instant(text json.RawMessage) string {
	at, err := time.Parse(time.RFC3339Nano, rawjson.Unquote(text))
	if err != nil {
		return value(text)
	}
	return at.UTC().Format("2006-01-02 15:04:05 UTC")
}

// override says that an environment got another value of an item, or has the item's own again.
func (c *comparison) override(environment, place, name string, was, is, base json.RawMessage) {
	switch {
	case isNothing(is) && base != nil:
		c.say(environment, place, "%s back to %s (was %s)", name, value(base), value(was))
	case isNothing(was) && base != nil && !c.created:
		c.say(environment, place, "%s %s → %s", name, value(base), value(is))
	default:
		c.differs(environment, place, name, was, is)
	}
}

// items compares the items of a config. An environment with a value of its own keeps it.
func (c *comparison) items(before, after, environments map[string]json.RawMessage) {
	for _, name := range union(before, after) {
		was, is := object(before[name]), object(after[name])
		for _, part := range union(was, is) {
			if rawjson.Same(rawjson.OrNull(was[part]), rawjson.OrNull(is[part])) || part != "value" && (before[name] == nil || after[name] == nil) {
				continue
			}
			place := "/items/" + fault.Escape(name) + "/" + fault.Escape(part)
			if part == "value" {
				c.differs("", place, name, was[part], is[part])
				c.keeping(name, environments)
			} else {
				c.differs("", place, name+": "+strings.ToLower(label(part)), was[part], is[part])
			}
		}
	}
}

// keeping adds to the last sentence which environments keep a value of their own.
func (c *comparison) keeping(name string, environments map[string]json.RawMessage) {
	var kept []string
	for _, environment := range slices.Sorted(maps.Keys(environments)) {
		if own := object(environments[environment])[name]; own != nil && !c.created {
			kept = append(kept, environment+" keeps "+value(own))
		}
	}
	if len(kept) > 0 {
		c.sentences[len(c.sentences)-1].Text += " (" + strings.Join(kept, ", ") + ")"
	}
}

// member says how one member differs. Objects are compared member by member.
func (c *comparison) member(environment, place string, was, is json.RawMessage) {
	name := place[strings.LastIndexByte(place, '/')+1:]
	switch {
	case isObject(was) && isObject(is), c.created && isObject(is):
		c.members(environment, place, object(was), object(is))
	case name == "enabled" && c.created && string(is) == "true": // as everybody expects
	case name == "enabled":
		c.say(environment, place, "%s", map[bool]string{true: "Turned on", false: "Turned off"}[string(is) == "true"])
	case name == "managed" && c.kind == "environment":
		c.say(environment, place, "%s", map[bool]string{true: "Promoted: values can be written for it", false: "No longer managed: its values are kept and not served"}[string(is) == "true"])
	default:
		c.differs(environment, place, named(place), was, is)
	}
}

// differs says that something called name has another value. For a resource that was
// just created, it says only the values that were set.
func (c *comparison) differs(environment, place, name string, was, is json.RawMessage) {
	switch {
	case isNothing(was) && isNothing(is), c.created && !tellsWhenCreated(place, is):
	case isNothing(was):
		c.say(environment, place, "%s set to %s", name, value(is))
	case isNothing(is):
		c.say(environment, place, "%s removed (was %s)", name, value(was))
	default:
		c.say(environment, place, "%s %s → %s", name, value(was), value(is))
	}
}

// tellsWhenCreated reports whether the summary of a new resource mentions a member's
// value. It leaves out names, defaults and details.
func tellsWhenCreated(place string, is json.RawMessage) bool {
	parts := strings.Split(place, "/")
	return parts[1] == "environments" || parts[1] == "items" || parts[1] == "scopes" ||
		slices.Contains([]string{"default", "level", "schedule", "role", "parent", "group", "url", "email"}, parts[len(parts)-1]) && !isEmpty(is)
}

// named returns the name of a member for people: "Level expires at", "Configuration URL".
func named(place string) string {
	parts := strings.Split(strings.TrimPrefix(place, "/"), "/")
	if parts[0] == "environments" && len(parts) > 2 {
		parts = parts[2:]
	}
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
	}
	if last := len(parts) - 1; parts[last] == "url" {
		parts[last] = "URL"
	}
	return label(strings.Join(parts, " "))
}

// label returns a member's name as the beginning of a sentence.
func label(name string) string {
	name = strings.ReplaceAll(name, "_", " ")
	if name == "" {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// shownRunes bounds a value or a condition in a sentence.
const shownRunes = 80

// value returns a JSON value for people: a word without its quotes, other texts with them.
func value(text json.RawMessage) string {
	if len(text) > 0 && text[0] == '"' {
		return cut(condition.Word(rawjson.Unquote(text)))
	}
	var compact bytes.Buffer
	if json.Compact(&compact, text) != nil {
		return cut(string(text))
	}
	return cut(compact.String())
}

// cut returns the beginning of a long text.
func cut(text string) string {
	if utf8.RuneCountInString(text) > shownRunes {
		return string([]rune(text)[:shownRunes]) + "…"
	}
	return text
}

func isObject(text json.RawMessage) bool { return len(text) > 0 && text[0] == '{' }

func isNothing(text json.RawMessage) bool { return len(text) == 0 || string(text) == "null" }

// isEmpty reports whether a value is one that a new resource has without asking.
func isEmpty(text json.RawMessage) bool {
	return slices.Contains([]string{"{}", "[]", `""`, "null"}, string(text))
}

// union returns the names of both objects: well-known members first, in the order in
// which people think of them, then the others by name.
func union(before, after map[string]json.RawMessage) []string {
	first := []string{"name", "description", "type", "role", "enabled", "managed", "level", "default", "schedule", "timezone"}
	rank := func(name string) string {
		if at := slices.Index(first, name); at >= 0 {
			return fmt.Sprintf("\x00%02d", at)
		}
		return name
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
	return slices.Compact(names)
}
