package flags

import (
	"encoding/json"

	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// warnDefault warns if an environment's default equals the flag's default.
func (c checker) warnDefault(path string, value json.RawMessage) {
	if c.base != nil && rawjson.Same(value, c.base) {
		c.problems.Warn(fault.Attribute(path), "%s is the same as the flag's default: leave it out, and the environment follows the flag.", path)
	}
}

// reach warns of rules of one environment that never apply or apply to every context. Its sentences number rules from 1, as
// people do; only the path of a warning counts from 0.
type reach struct {
	problems    *fault.Problems
	environment string
	seen        map[string]int // the numbers of the rules so far, by the canonical text of their logic
	final       int            // the number of the first rule that applies to every context; 0 is none
}

// warn checks the next rule; compiled is nil if the rule does not compile.
func (r *reach) warn(number int, path string, logic json.RawMessage, compiled *jsonlogic.Rule) {
	if compiled == nil {
		return
	}
	text := string(rawjson.Canonical(logic))
	first, repeated := r.seen[text]
	truthy, invariant := compiled.Invariant()
	switch {
	case r.final > 0:
		r.problems.Warn(fault.Attribute(path), "Rule %d in %s is never reached: rule %d before it applies to every context.", number, r.environment, r.final)
	case text == "{}" || invariant && !truthy:
		r.problems.Warn(fault.Attribute(path+"/logic"), "%s/logic is false for every context, so the rule never applies.", path)
	case repeated:
		r.problems.Warn(fault.Attribute(path), "Rule %d in %s is never reached: rule %d before it has the same logic.", number, r.environment, first)
	case invariant:
		r.final = number
		r.problems.Warn(fault.Attribute(path+"/logic"), "%s/logic is true for every context%s.", path, remedy(logic))
	default:
		r.seen[text] = number
	}
}

// remedy suggests a replacement for logic that is always true.
func remedy(logic json.RawMessage) string {
	var split struct {
		Buckets []json.RawMessage `json:"fractional"`
	}
	if json.Unmarshal(logic, &split) != nil || len(split.Buckets) == 0 {
		return `: give the environment a default instead, or compare with something, as in {"==": [{"var": "user.plan"}, "pro"]}`
	}
	const long = 200
	shown := string(logic)
	if len(shown) > long {
		shown = `{"fractional": …}`
	}
	return ", because every outcome of its fractional is: compare the outcome, as in " +
		`{"==": [` + shown + ", " + firstVariant(split.Buckets) + "]}"
}

// firstVariant returns the first outcome of a fractional.
func firstVariant(buckets []json.RawMessage) string {
	for _, bucket := range buckets {
		if entry, isBucket := rawjson.Elements(bucket); isBucket && len(entry) > 0 {
			return string(entry[0])
		}
	}
	return `"on"`
}
