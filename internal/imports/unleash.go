package imports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
)

type unleashExport struct {
	Features []struct {
		Name, Description string
		Archived          bool
	} `json:"features"`
	Strategies   []unleashStrategy `json:"featureStrategies"`
	Environments []struct {
		Feature     string            `json:"featureName"`
		Environment string            `json:"environment"`
		Enabled     bool              `json:"enabled"`
		Variants    []json.RawMessage `json:"variants"`
	} `json:"featureEnvironments"`
}

type unleashStrategy struct {
	Feature     string              `json:"featureName"`
	Environment string              `json:"environment"`
	Name        string              `json:"name"`
	Title       string              `json:"title"`
	Disabled    bool                `json:"disabled"`
	Order       float64             `json:"sortOrder"`
	Parameters  map[string]string   `json:"parameters"`
	Constraints []unleashConstraint `json:"constraints"`
	Variants    []json.RawMessage   `json:"variants"`
	Segments    []json.RawMessage   `json:"segments"`
}

type unleashConstraint struct {
	Context         string   `json:"contextName"`
	Operator        string   `json:"operator"`
	Value           string   `json:"value"`
	Values          []string `json:"values"`
	Inverted        bool     `json:"inverted"`
	CaseInsensitive bool     `json:"caseInsensitive"`
}

// unleash imports an export of Unleash. Its flags are BOOLEAN: strategies switch them on.
func unleash(documents [][]byte, options Options) (Result, error) {
	return collect(documents, "export of Unleash", func(c *collector, export unleashExport) {
		slices.SortStableFunc(export.Strategies, func(a, b unleashStrategy) int { return cmp.Compare(a.Order, b.Order) })
		for _, feature := range export.Features {
			if feature.Archived {
				c.lose("flag %s: left out, because it is archived.", feature.Name)
				continue
			}
			c.addFlag(flag{ID: feature.Name, Description: feature.Description, Type: flageval.Boolean, Default: encode(false),
				Environments: c.unleashEnvironments(export, feature.Name, options.Environment)})
		}
	})
}

func (c *collector) unleashEnvironments(export unleashExport, feature, fallback string) map[string]environment {
	made := map[string]environment{}
	for _, each := range export.Environments {
		if each.Feature != feature {
			continue
		}
		name := cmp.Or(each.Environment, fallback)
		if len(each.Variants) > 0 {
			c.lose("flag %s in %s: variants are a second value, which flags do not have here; make a flag of type STRING for them.", feature, name)
		}
		made[name] = environment{Enabled: each.Enabled, Rules: c.unleashRules(export.Strategies, feature, name)}
	}
	return made
}

func (c *collector) unleashRules(strategies []unleashStrategy, feature, environment string) (rules []rule) {
	place, found := fmt.Sprintf("flag %s in %s", feature, environment), false
	for _, each := range strategies {
		if each.Feature != feature || each.Environment != "" && each.Environment != environment {
			continue
		}
		found = true
		switch condition, err := c.unleashStrategy(each); {
		case each.Disabled:
			c.lose("%s: a strategy %s that is disabled is left out.", place, each.Name)
		case err != nil:
			c.lose("%s: a strategy %s is left out, because %v; the flag is off for those it alone matched.", place, each.Name, err)
		default:
			rules = append(rules, rule{Description: each.Title, Logic: condition, Value: encode(true)})
		}
		if len(each.Variants) > 0 {
			c.lose("%s: the variants of a strategy %s are left out.", place, each.Name)
		}
	}
	if !found { // Unleash switches such a flag on for everybody
		return []rule{{Logic: true, Value: encode(true)}}
	}
	return rules
}

func (c *collector) unleashStrategy(from unleashStrategy) (logic, error) {
	if len(from.Segments) > 0 {
		return nil, fmt.Errorf("segments are not known here")
	}
	all, err := conditions(from.Constraints, func(each unleashConstraint) (logic, error) {
		condition, err := each.logic()
		return negate(condition, each.Inverted), err
	})
	if err != nil {
		return nil, err
	}
	switch from.Name {
	case "default":
	case "userWithId":
		all = append(all, oneOf(userKey, texts(splitList(from.Parameters["userIds"]))))
	case "flexibleRollout", "gradualRolloutUserId", "gradualRolloutSessionId", "gradualRolloutRandom":
		percent, err := number(cmp.Or(from.Parameters["rollout"], from.Parameters["percentage"]))
		if err != nil {
			return nil, err
		}
		share, _ := percent.Float64() // it is a number
		all = append(all, c.share(share, unleashPath(cmp.Or(from.Parameters["stickiness"], "userId"))))
	default:
		return nil, fmt.Errorf("this kind of strategy is not known here")
	}
	return every(all...), nil
}

func (u unleashConstraint) logic() (logic, error) {
	path := unleashPath(u.Context)
	switch {
	case u.Context == "currentTime" || strings.HasPrefix(u.Operator, "DATE_"):
		return nil, fmt.Errorf("rules cannot read the time")
	case u.CaseInsensitive:
		return nil, fmt.Errorf("texts are only compared with their case")
	}
	switch u.Operator {
	case "IN":
		return oneOf(path, texts(u.Values)), nil
	case "NOT_IN":
		return negate(oneOf(path, texts(u.Values)), true), nil
	case "STR_CONTAINS":
		return contains(path, texts(u.Values)), nil
	case "STR_STARTS_WITH":
		return anyValue("starts_with", path, texts(u.Values)), nil
	case "STR_ENDS_WITH":
		return anyValue("ends_with", path, texts(u.Values)), nil
	}
	if operator := map[string]string{"NUM_EQ": "==", "NUM_GT": ">", "NUM_GTE": ">=", "NUM_LT": "<", "NUM_LTE": "<="}[u.Operator]; operator != "" {
		value, err := number(u.Value)
		return apply(operator, variable(path), value), err
	}
	if operator := map[string]string{"SEMVER_EQ": "=", "SEMVER_GT": ">", "SEMVER_LT": "<"}[u.Operator]; operator != "" {
		return apply("sem_ver", variable(path), operator, u.Value), nil
	}
	return nil, fmt.Errorf("the operator %q is not known here", u.Operator)
}

// unleashPath returns where a field of Unleash's context is.
func unleashPath(field string) string {
	switch field {
	case "userId", "default", "random":
		return userKey
	}
	return "user." + field
}

// splitList splits a list by commas.
func splitList(text string) (list []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
