package accounts

import (
	"encoding/json"
	"slices"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// The member of the account's settings that says when flags are stale, and its members.
const (
	staleFlagsMember = "stale_flags"
	unevaluatedDays  = "unevaluated_days"
	unchangedDays    = "unchanged_days"
)

// maxStaleDays is ten years.
const maxStaleDays = 3650

// StaleFlags is the number of days after which an account calls its flags stale.
type StaleFlags struct {
	// UnevaluatedDays counts from the last evaluation, UnchangedDays from the last change of a flag that serves one value.
	UnevaluatedDays, UnchangedDays int
}

// StaleFlags returns the account's numbers of days. Members that are missing or unreadable have their default: settings
// that were stored before the member had a meaning may hold anything.
func (s Settings) StaleFlags() StaleFlags {
	days := StaleFlags{UnevaluatedDays: 30, UnchangedDays: 90}
	var stored struct {
		Days map[string]json.RawMessage `json:"stale_flags"`
	}
	if json.Unmarshal(s.Other, &stored) != nil {
		return days
	}
	if read, ok := staleDays(stored.Days[unevaluatedDays]); ok {
		days.UnevaluatedDays = read
	}
	if read, ok := staleDays(stored.Days[unchangedDays]); ok {
		days.UnchangedDays = read
	}
	return days
}

// staleDays reads a whole number of days within the limits.
func staleDays(text json.RawMessage) (int, bool) {
	days := 0
	ok := string(text) != "null" && json.Unmarshal(text, &days) == nil && days >= 1 && days <= maxStaleDays
	return days, ok
}

// checkStaleFlags notes a problem for members of stale_flags that StaleFlags would ignore.
func checkStaleFlags(problems *fault.Problems, other json.RawMessage) {
	rawjson.Members(other, func(name string, value json.RawMessage) {
		if name != staleFlagsMember || string(value) == "null" {
			return
		}
		isObject := rawjson.Members(value, func(member string, days json.RawMessage) {
			place := staleFlagsMember + "/" + fault.Escape(member)
			if !slices.Contains([]string{unevaluatedDays, unchangedDays}, member) {
				problems.Attribute(place, "is not known; known are %s and %s", unevaluatedDays, unchangedDays)
			} else if _, ok := staleDays(days); !ok {
				problems.Attribute(place, "must be a whole number of days from 1 to %d", maxStaleDays)
			}
		})
		if !isObject {
			problems.Attribute(staleFlagsMember, `must be an object such as {"%s": 30, "%s": 90}`, unevaluatedDays, unchangedDays)
		}
	})
}
