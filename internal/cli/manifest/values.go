package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/hosts"
	"github.com/signalbox/signalbox/internal/imports"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// brokenValues returns a sentence for each value of a flag that the flag cannot serve.
func brokenValues(flag Resource) (found []string) {
	kind := flageval.Type(strings.ToUpper(flag.Attributes.text("type")))
	choices := choicesOf(flag, kind)
	check := func(place string, value json.RawMessage) {
		is := func(choice json.RawMessage) bool { return rawjson.Same(choice, value) }
		switch {
		case value == nil:
		case !flageval.Fits(kind, value):
			found = append(found, fmt.Sprintf("%s: %s is no value of a %s flag", place, value, kind))
		case len(choices) > 0 && !slices.ContainsFunc(choices, is):
			found = append(found, fmt.Sprintf("%s: %s is not one of the flag's values", place, value))
		}
	}
	check("default", flag.Attributes["default"])
	environments := flag.Attributes.objects("environments")
	for _, environment := range slices.Sorted(maps.Keys(environments)) {
		if value := environments[environment]["default"]; string(value) != "null" { // null is the flag's default
			check("environments."+environment+".default", value)
		}
		var rules []struct{ Value json.RawMessage }
		if json.Unmarshal(environments[environment]["rules"], &rules) != nil {
			continue // there are none
		}
		for i, rule := range rules {
			check(fmt.Sprintf("environments.%s.rules[%d].value", environment, i), rule.Value)
		}
	}
	return found
}

// choicesOf returns the values that a flag is limited to. A JSON flag has none here, because an object can be a value, or a
// value with its name.
func choicesOf(flag Resource, kind flageval.Type) (choices []json.RawMessage) {
	var listed []json.RawMessage
	if kind == flageval.JSON || json.Unmarshal(flag.Attributes["values"], &listed) != nil {
		return nil
	}
	for _, each := range listed {
		var named struct{ Value json.RawMessage }
		if json.Unmarshal(each, &named) == nil && named.Value != nil {
			each = named.Value
		}
		choices = append(choices, each)
	}
	return choices
}

// brokenURL returns a sentence about a URL that the server would refuse. A reference to a URL is no text, and not checked.
func brokenURL(place string, member json.RawMessage) []string {
	var text string
	if json.Unmarshal(member, &text) != nil {
		return nil
	}
	if rule := hosts.URLRule(text); rule != "" {
		return []string{place + ": " + rule}
	}
	return nil
}

// brokenOverrides returns a sentence for each override of an item of the config that has another type than the item.
func brokenOverrides(config Resource) (found []string) {
	items, environments := config.Attributes.objects("items"), config.Attributes.objects("environments")
	for _, environment := range slices.Sorted(maps.Keys(environments)) {
		for _, name := range slices.Sorted(maps.Keys(environments[environment])) {
			item, value := items[name], environments[environment][name]
			kind := strings.ToUpper(item.text("type"))
			if kind == "" {
				kind = typeOf(item["value"])
			}
			if item != nil && !empty(value) && kind != "JSON" && typeOf(value) != kind {
				found = append(found, fmt.Sprintf("environments.%s.%s: must be a %s, as the item is", environment, name, kind))
			}
		}
	}
	return found
}

// brokenTimes returns a sentence about a time zone that does not exist, or cron fields that the server would refuse. It leaves
// dates to the server.
func brokenTimes(job Resource) (found []string) {
	zone := job.Attributes.text("timezone")
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
		found, zone = append(found, fmt.Sprintf("timezone: %q is no time zone", zone)), ""
	}
	schedule := job.Attributes.text("schedule")
	if len(strings.Fields(schedule)) > 1 && !strings.Contains(schedule, ":") {
		if err := imports.CheckSchedule(schedule, zone); err != nil {
			found = append(found, "schedule: "+err.Error())
		}
	}
	return found
}
