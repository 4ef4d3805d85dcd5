package imports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/rawjson"
)

type darklyList struct {
	Items []darklyFlag `json:"items"`
}

type darklyFlag struct {
	Key         string `json:"key"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Archived    bool   `json:"archived"`
	Variations  []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	} `json:"variations"`
	Environments map[string]darklyEnvironment `json:"environments"`
}

type darklyEnvironment struct {
	On             bool              `json:"on"`
	Targets        []darklyTarget    `json:"targets"`
	ContextTargets []darklyTarget    `json:"contextTargets"`
	Rules          []darklyRule      `json:"rules"`
	Fallthrough    darklyServed      `json:"fallthrough"`
	OffVariation   *int              `json:"offVariation"`
	Prerequisites  []json.RawMessage `json:"prerequisites"`
}

type darklyTarget struct {
	Values      []string `json:"values"`
	Variation   int      `json:"variation"`
	ContextKind string   `json:"contextKind"`
}

type darklyServed struct {
	Variation *int `json:"variation"`
	Rollout   *struct {
		Variations []struct{ Variation, Weight int }
		BucketBy   string `json:"bucketBy"`
		Kind       string `json:"contextKind"`
	} `json:"rollout"`
}

type darklyRule struct {
	darklyServed

	Description string         `json:"description"`
	Clauses     []darklyClause `json:"clauses"`
}

type darklyClause struct {
	Attribute   string `json:"attribute"`
	Op          string `json:"op"`
	Values      []any  `json:"values"`
	Negate      bool   `json:"negate"`
	ContextKind string `json:"contextKind"`
}

// launchDarkly imports the answer of LaunchDarkly's list of flags.
func launchDarkly(documents [][]byte, _ Options) (Result, error) {
	return collect(documents, "list of flags of LaunchDarkly", func(c *collector, list darklyList) {
		for _, each := range list.Items {
			c.darkly(each)
		}
	})
}

func (c *collector) darkly(from darklyFlag) {
	if from.Archived {
		c.lose("flag %s: left out, because it is archived.", from.Key)
		return
	}
	if len(from.Variations) == 0 {
		c.lose("flag %s: left out, because it has no variations.", from.Key)
		return
	}
	var values []json.RawMessage
	for _, each := range from.Variations {
		values = append(values, each.Value)
	}
	made := flag{ID: from.Key, Name: from.Name, Description: from.Description, Type: typeOf(values), Default: values[len(values)-1],
		Environments: map[string]environment{}}
	for i, each := range from.Variations {
		if made.Type != flageval.Boolean && each.Name != "" {
			made.Values = append(made.Values, choice{each.Name, values[i]})
		}
	}
	if len(made.Values) != len(values) { // all or none
		made.Values = nil
	}
	for _, name := range slices.Sorted(maps.Keys(from.Environments)) {
		made.Environments[name] = c.darklyEnvironment(darklyPlace{from.Key, name, values}, from.Environments[name])
	}
	c.addFlag(made)
}

// darklyPlace is where something is, for reports.
type darklyPlace struct {
	flag, environment string
	values            []json.RawMessage
}

// value returns the value of a variation.
func (p darklyPlace) value(variation int) (json.RawMessage, error) {
	if variation < 0 || variation >= len(p.values) {
		return nil, fmt.Errorf("there is no variation %d", variation)
	}
	return p.values[variation], nil
}

// darklyEnvironment keeps what is served when the flag is off as the default, so that it can be switched as before; what is
// served to everybody else when it is on is the last rule.
func (c *collector) darklyEnvironment(place darklyPlace, from darklyEnvironment) environment {
	made := environment{Enabled: from.On, Default: place.values[len(place.values)-1]}
	if from.OffVariation != nil {
		if off, err := place.value(*from.OffVariation); err == nil {
			made.Default = off
		}
	}
	if len(from.Prerequisites) > 0 {
		c.lose("flag %s in %s: prerequisites are not known here; it decides as if they held.", place.flag, place.environment)
	}
	for _, target := range slices.Concat(from.Targets, from.ContextTargets) {
		if len(target.Values) > 0 {
			served := darklyServed{Variation: &target.Variation}
			c.darklyServe(place, &made, "Targets", oneOf(darklyPath(target.ContextKind, "key"), texts(target.Values)), served)
		}
	}
	for i, each := range from.Rules {
		condition, err := darklyClauses(each.Clauses)
		if err != nil {
			c.lose("flag %s in %s: rule %d is left out, because %v; whom it matched gets what follows.", place.flag, place.environment, i+1, err)
			continue
		}
		c.darklyServe(place, &made, each.Description, condition, each.darklyServed)
	}
	c.darklyServe(place, &made, "Everybody else", true, from.Fallthrough)
	return made
}

// darklyServe adds the rules that serve something to those who match a condition.
func (c *collector) darklyServe(place darklyPlace, to *environment, description string, condition logic, served darklyServed) {
	var portions []portion
	by := userKey
	switch {
	case served.Variation != nil:
		value, err := place.value(*served.Variation)
		if err != nil || condition == logic(true) && rawjson.Same(value, to.Default) {
			return
		}
		portions = []portion{{value, 1}}
	case served.Rollout != nil:
		by = darklyPath(served.Rollout.Kind, served.Rollout.BucketBy)
		for _, each := range served.Rollout.Variations {
			value, err := place.value(each.Variation)
			if err == nil {
				portions = append(portions, portion{value, each.Weight})
			}
		}
	}
	to.Rules = append(to.Rules, c.rollout(description, condition, portions, by)...)
}

func darklyClauses(clauses []darklyClause) (logic, error) {
	all, err := conditions(clauses, func(clause darklyClause) (logic, error) {
		condition, err := clause.logic()
		return negate(condition, clause.Negate), err
	})
	return every(all...), err
}

func (d darklyClause) logic() (logic, error) {
	if d.Attribute == "kind" && d.Op != "segmentMatch" {
		return nil, fmt.Errorf("kinds of contexts cannot be compared")
	}
	path := darklyPath(d.ContextKind, d.Attribute)
	plain := map[string]string{"startsWith": "starts_with", "endsWith": "ends_with",
		"lessThan": "<", "lessThanOrEqual": "<=", "greaterThan": ">", "greaterThanOrEqual": ">="}
	versions := map[string]string{"semVerEqual": "=", "semVerLessThan": "<", "semVerGreaterThan": ">"}
	switch {
	case d.Op == "in":
		return oneOf(path, d.Values), nil
	case d.Op == "contains":
		return contains(path, d.Values), nil
	case plain[d.Op] != "":
		return anyValue(plain[d.Op], path, d.Values), nil
	case versions[d.Op] != "":
		return anyOf(d.Values, func(value any) logic { return apply("sem_ver", variable(path), versions[d.Op], value) }), nil
	}
	return nil, fmt.Errorf("%q is not known here", d.Op)
}

// darklyPath returns where an attribute of a context is. An attribute with slashes is a path.
func darklyPath(kind, attribute string) string {
	path := strings.TrimPrefix(cmp.Or(attribute, "key"), "/")
	return cmp.Or(kind, "user") + "." + strings.ReplaceAll(path, "/", ".")
}
