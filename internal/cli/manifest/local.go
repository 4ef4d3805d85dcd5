package manifest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A key that may only read cannot send a dry run. So this file imitates the parts of a write that a comparison needs: the
// defaults, the spelling and the members that a write keeps. The tests compare it with the server.

// compareHere computes the result of a step without the server.
func (p *Plan) compareHere(step *Step) {
	step.Untried = true
	if step.Action == Delete {
		return
	}
	after := pick(step.Kind, step.sent)
	switch step.Kind {
	case "environment":
		after.stay(step.before, "managed", "classification")
	case "context_type":
		after.fill("attributes", "{}")
	case "log_group", "logger":
		settleLevels(step.Kind, after, step.sent)
	case "config":
		settleConfig(after)
	case "flag":
		settleFlag(after, step.before)
	case "job":
		settleJob(after, step.before)
	case "webhook":
		settleWebhook(after)
	}
	if !hasHeaders(step.Kind) && step.Kind != "flag" {
		after.fill("name", encode(step.ID))
	}
	p.keepFrozen(after, step.before)
	step.after = aligned(after, step.before)
}

// fill sets a member that is absent or null.
func (a attributes) fill(name, text string) {
	if empty(a[name]) && a != nil {
		a[name] = json.RawMessage(text)
	}
}

// stay sets absent members to their stored values.
func (a attributes) stay(stored attributes, names ...string) {
	for _, name := range names {
		if empty(a[name]) && stored != nil {
			a[name] = stored[name]
		}
	}
}

// each changes every object in a member. A missing member becomes an empty object.
func (a attributes) each(member string, change func(name string, object attributes)) {
	a.fill(member, "{}")
	objects := a.objects(member)
	for name, object := range objects {
		change(name, object)
	}
	if objects != nil {
		a[member] = raw(objects)
	}
}

func settleLevels(kind string, after, sent attributes) {
	if seconds, is := sent["level_ttl_seconds"]; is && !empty(seconds) {
		after["level_expires_at"] = raw("in " + string(seconds) + " s")
	}
	after.each("environments", func(_ string, level attributes) {
		if seconds := level["ttl_seconds"]; !empty(seconds) {
			level["expires_at"] = raw("in " + string(seconds) + " s")
		}
		delete(level, "ttl_seconds")
	})
	levels := after.objects("environments")
	maps.DeleteFunc(levels, func(_ string, level attributes) bool { return empty(level["level"]) })
	if levels != nil {
		after["environments"] = raw(levels)
	}
	if kind == "logger" && string(sent["managed"]) != "false" {
		after["managed"] = raw(!empty(after["level"]) || !empty(after["group"]) || len(levels) > 0)
	}
}

func settleConfig(after attributes) {
	after.each("items", func(_ string, item attributes) {
		item.fill("type", encode(typeOf(item["value"])))
		item.fill("description", "null")
	})
	after.each("environments", func(_ string, overrides attributes) {
		maps.DeleteFunc(overrides, func(_ string, value json.RawMessage) bool { return empty(value) })
	})
	environments := after.objects("environments")
	maps.DeleteFunc(environments, func(_ string, overrides attributes) bool { return len(overrides) == 0 })
	after["environments"] = raw(environments)
}

// typeOf returns the type of an item with this value.
func typeOf(value json.RawMessage) string {
	switch decode(value).(type) {
	case string:
		return "STRING"
	case json.Number:
		return "NUMBER"
	case bool:
		return "BOOLEAN"
	default:
		return "JSON"
	}
}

func settleFlag(after, before attributes) {
	after.stay(before, "name")
	if strings.EqualFold(after.text("type"), "BOOLEAN") {
		after.fill("values", `[{"name":"True","value":true},{"name":"False","value":false}]`)
	}
	var values []json.RawMessage
	if json.Unmarshal(after["values"], &values) == nil && values != nil {
		for i := range values {
			values[i] = labeled(values[i])
		}
		after["values"] = raw(values)
	}
	after.each("environments", func(_ string, environment attributes) {
		environment.fill("enabled", "true")
		environment.fill("rules", "[]")
		var rules []attributes
		if json.Unmarshal(environment["rules"], &rules) == nil {
			for _, rule := range rules {
				rule.fill("description", `""`)
			}
			environment["rules"] = raw(rules)
		}
	})
}

// labeled returns a choice of a flag with its name. Without a name in the file, the name is the value's text.
func labeled(value json.RawMessage) json.RawMessage {
	var label attributes
	if json.Unmarshal(value, &label) == nil && len(label) == 2 && label["name"] != nil && label["value"] != nil {
		return value
	}
	name := string(value)
	_ = json.Unmarshal(value, &name) // a string is named by its text
	return raw(attributes{"name": raw(name), "value": value})
}

func settleJob(after, before attributes) {
	after.fill("enabled", "true")
	after["schedule"] = raw(strings.TrimSpace(after.text("schedule")))
	if before == nil || before["overlap"] != nil { // an older server has no policies
		settlePolicies(after)
	}
	var configuration attributes
	if json.Unmarshal(after["configuration"], &configuration) != nil {
		return
	}
	configuration.fill("method", `"POST"`)
	configuration.fill("success_status", `"2xx"`)
	configuration.fill("tls_verify", "true")
	configuration.fill("timeout", "30")
	configuration.fill("headers", "[]")
	configuration["headers"] = listedHeaders(configuration["headers"])
	after["configuration"] = raw(configuration)
	_, stored, _ := headersOf(before)
	configuration, headers, is := headersOf(after)
	if !is {
		return
	}
	for i, header := range headers {
		name := header.text("name")
		candidates, at := named(stored, name), len(named(headers[:i], name))
		if at < len(candidates) && candidates[at].text("value") == redacted { // a redacted value cannot be compared
			header["value"] = candidates[at]["value"]
		}
	}
	after["configuration"] = withHeaders(after, configuration, headers)["configuration"]
}

func settleWebhook(after attributes) {
	after.fill("format", `"standard"`)
	after.fill("enabled", "true")
	after.fill("headers", "[]")
	after["headers"] = listedHeaders(after["headers"])
	var filter attributes
	if json.Unmarshal(after["filter"], &filter) != nil || filter == nil {
		filter = attributes{}
	}
	filter.fill("environments", "[]")
	filter.fill("ids", "[]")
	after["filter"] = raw(filter)
}

// listedHeaders returns headers as a list. They may be an object of names and values, whose order counts.
func listedHeaders(headers json.RawMessage) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(headers))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return headers
	}
	list := []attributes{}
	for decoder.More() {
		var value json.RawMessage
		name, err := decoder.Token()
		if err != nil || decoder.Decode(&value) != nil {
			return headers
		}
		list = append(list, attributes{"name": raw(name), "value": value})
	}
	return raw(list)
}

// keepFrozen keeps the stored values of frozen environments that the file leaves out.
func (p *Plan) keepFrozen(after, before attributes) {
	values, stored := after.objects("environments"), before.objects("environments")
	for environment, value := range stored {
		if _, is := values[environment]; !is && values != nil && p.isFrozen(environment) {
			values[environment] = value
			after["environments"] = raw(values)
		}
	}
}

// aligned returns after, with the stored spelling for values that mean the same: null and absent members, words in any case,
// and instants.
func aligned(after, before attributes) attributes {
	if before == nil {
		return after
	}
	for name := range before {
		after[name] = raw(align(name, decode(after[name]), decode(before[name])))
	}
	return after
}

func align(name string, after, before any) any {
	if slices.Contains([]string{"default", "value", "values", "logic", "schema"}, name) { // nothing in a value is left out
		return after
	}
	switch old := before.(type) {
	case map[string]any:
		if members, is := after.(map[string]any); is {
			alignMembers(members, old)
		}
	case []any:
		items, is := after.([]any)
		for i := 0; is && i < min(len(items), len(old)); i++ {
			items[i] = align("", items[i], old[i])
		}
	case string:
		isWord := slices.Contains([]string{"classification", "level", "method", "type"}, name)
		if text, is := after.(string); is && (isWord && strings.EqualFold(text, old) || sameInstant(text, old)) {
			return old
		}
	}
	return after
}

func alignMembers(after, before map[string]any) {
	for name, value := range before {
		if member, exists := after[name]; exists || value == nil {
			after[name] = align(name, member, value)
		}
	}
	maps.DeleteFunc(after, func(name string, value any) bool { _, had := before[name]; return value == nil && !had })
}

// sameInstant reports whether two texts are the same instant.
func sameInstant(a, b string) bool {
	left, wrong := time.Parse(time.RFC3339, a)
	right, alsoWrong := time.Parse(time.RFC3339, b)
	return wrong == nil && alsoWrong == nil && left.Equal(right)
}

// settlePolicies adds the server's defaults to the policies of a job. Null alerts mean no alerts; absent alerts mean
// the defaults.
func settlePolicies(after attributes) {
	after.fill("overlap", `"allow"`)
	var retry, alerts attributes
	if json.Unmarshal(after["retry"], &retry) == nil && retry != nil {
		retry.fill("delay_seconds", "60")
		retry.fill("backoff", `"exponential"`)
		retry.fill("max_delay_seconds", longest(retry["delay_seconds"]))
		retry.fill("on", `["TIMEOUT","CONNECTION_ERROR","NON_SUCCESS_STATUS"]`)
		retry.fill("statuses", `["408","429","5xx"]`)
		after["retry"] = raw(retry)
	}
	after.fallback("alerts", "{}")
	if json.Unmarshal(after["alerts"], &alerts) == nil && alerts != nil {
		alerts.fill("after_failures", "1")
		alerts.fill("recover_after", "1")
		for _, name := range []string{"late_after_seconds", "no_success_for_seconds", "remind_every_seconds"} {
			alerts.fallback(name, "null")
		}
		after["alerts"] = raw(alerts)
	}
}

// longest returns the default of max_delay_seconds: an hour, or a longer delay.
func longest(delay json.RawMessage) string {
	if seconds, err := strconv.Atoi(string(delay)); err == nil && seconds > 3600 {
		return string(delay)
	}
	return "3600"
}
