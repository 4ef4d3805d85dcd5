package summary

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// policy says how a policy of a job differs, and reports whether the member is one. A member that an older document lacks
// has its default.
func (c *comparison) policy(name string, was, is json.RawMessage) bool {
	if c.kind != "job" {
		return false
	}
	switch name {
	case "timezone":
		c.timezone(was, is)
	case "overlap":
		c.overlap(was, is)
	case "retry":
		c.retry(was, is)
	case "alerts":
		c.alerts(was, is)
	default:
		return false
	}
	return true
}

func (c *comparison) timezone(was, is json.RawMessage) {
	name := func(zone json.RawMessage) string {
		if isNothing(zone) {
			return "UTC"
		}
		return value(zone)
	}
	switch {
	case !c.created:
		c.say("", "/timezone", "Time zone %s → %s", name(was), name(is))
	case !isNothing(is):
		c.say("", "/timezone", "Time zone set to %s", name(is))
	}
}

func (c *comparison) overlap(was, is json.RawMessage) {
	const allowed = "allow"
	policy := text(is)
	if len(was) == 0 && policy == allowed {
		return
	}
	sentence := map[string]string{
		allowed: "Runs may overlap",
		"skip":  "Skips a due time while an earlier run has not ended",
		"wait":  "A run waits until the earlier ones have ended",
	}[policy]
	if sentence == "" {
		sentence = "Overlap set to " + value(is)
	}
	c.say("", "/overlap", "%s", sentence)
}

// retry says how failed runs are attempted again.
func (c *comparison) retry(was, is json.RawMessage) {
	before, after := object(was), object(is)
	switch {
	case isNothing(is):
		c.say("", "/retry", "A failed run is no longer attempted again (was up to %s attempts)", value(before["max_attempts"]))
	case isNothing(was):
		c.say("", "/retry", "A failed run is attempted up to %s times, %s apart%s", value(after["max_attempts"]), span(after["delay_seconds"]), growth(after["backoff"]))
	default:
		c.parts("/retry", before, after, retryLabels())
	}
}

func growth(backoff json.RawMessage) string {
	if text(backoff) == "exponential" {
		return ", doubling each time"
	}
	return ""
}

// alerts says when the job is failing or late.
func (c *comparison) alerts(was, is json.RawMessage) {
	before, after := object(was), object(is)
	switch {
	case isNothing(is):
		c.say("", "/alerts", "Failing, late and recovered are no longer events")
	case len(was) == 0: // a new job, or a document from before there were alerts
		c.parts("/alerts", object(json.RawMessage(`{"after_failures":1,"recover_after":1}`)), after, alertLabels())
	case isNothing(was):
		c.say("", "/alerts", "Failing, late and recovered are events again")
		c.parts("/alerts", object(json.RawMessage(`{"after_failures":1,"recover_after":1}`)), after, alertLabels())
	default:
		c.parts("/alerts", before, after, alertLabels())
	}
}

// part is a member of a policy: its name for people and how its value is written.
type part struct {
	member, label, none string
	show                func(json.RawMessage) string
}

func retryLabels() []part {
	return []part{
		{"max_attempts", "Attempts of a failed run", "", value},
		{"delay_seconds", "Delay between attempts", "", span},
		{"backoff", "Growth of the delay", "", value},
		{"max_delay_seconds", "Longest delay between attempts", "", span},
		{"on", "Attempts again after", "", list},
		{"statuses", "Attempts again after the HTTP statuses", "", list},
	}
}

func alertLabels() []part {
	return []part{
		{"after_failures", "Failures in a row until it is failing", "", value},
		{"recover_after", "Successes in a row until it has recovered", "", value},
		{"late_after_seconds", "Late without a start for", "Late starts no longer count", span},
		{"no_success_for_seconds", "Late without a success for", "Missing successes no longer count", span},
		{"remind_every_seconds", "Reminds every", "No longer reminds", span},
	}
}

// parts compares the members of a policy.
func (c *comparison) parts(place string, before, after map[string]json.RawMessage, parts []part) {
	for _, part := range parts {
		was, is := before[part.member], after[part.member]
		switch {
		case rawjson.Same(rawjson.OrNull(was), rawjson.OrNull(is)):
		case isNothing(is) && part.none != "":
			c.say("", place+"/"+part.member, "%s (was %s)", part.none, part.show(was))
		case isNothing(was):
			c.say("", place+"/"+part.member, "%s %s", part.label, part.show(is))
		default:
			c.say("", place+"/"+part.member, "%s %s → %s", part.label, part.show(was), part.show(is))
		}
	}
}

// list returns the entries of a list of texts, or "nothing".
func list(raw json.RawMessage) string {
	var entries []string
	if json.Unmarshal(raw, &entries) != nil {
		return value(raw)
	}
	if len(entries) == 0 {
		return "nothing"
	}
	return cut(strings.Join(entries, ", "))
}

// span returns a number of seconds for people: 90 is "1 min 30 s".
func span(raw json.RawMessage) string {
	seconds, err := strconv.Atoi(string(raw))
	if err != nil || seconds <= 0 || seconds > math.MaxInt32 {
		return value(raw)
	}
	var words []string
	for _, unit := range []struct {
		size int
		name string
	}{{86_400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}} {
		if seconds >= unit.size {
			words = append(words, fmt.Sprintf("%d %s", seconds/unit.size, unit.name))
		}
		seconds %= unit.size
	}
	return strings.Join(words, " ")
}

// text returns a JSON string; "" for anything else.
func text(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	return rawjson.Unquote(raw)
}

// health returns what happened to a job, as the event says it.
func health(before, after json.RawMessage) []Sentence {
	detail := text(object(after)["detail"])
	if detail == "" || rawjson.Same(rawjson.OrNull(before), rawjson.OrNull(after)) {
		return []Sentence{}
	}
	return []Sentence{{Text: detail, Pointer: "/detail"}}
}
