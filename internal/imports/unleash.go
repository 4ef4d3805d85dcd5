package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
)

// unleashExport is an export of any version of Unleash. It has features with their strategies (version 1, and answers for
// client libraries), the whole state (versions 2 to 4), or the features of one environment (newer versions).
type unleashExport struct {
	Features     []unleashFeature  `json:"features"`
	Strategies   []unleashStrategy `json:"featureStrategies"`
	Environments []struct {
		Feature     string            `json:"featureName"`
		Environment string            `json:"environment"`
		Enabled     bool              `json:"enabled"`
		Variants    []json.RawMessage `json:"variants"`
	} `json:"featureEnvironments"`
	Dependencies []struct {
		Feature string              `json:"feature"`
		Parents []unleashDependency `json:"dependencies"`
	} `json:"dependencies"`
	Segments         []unleashSegment `json:"segments"`
	StrategySegments []struct {
		Strategy string      `json:"featureStrategyId"`
		Segment  json.Number `json:"segmentId"`
	} `json:"featureStrategySegments"`
}

type unleashFeature struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Archived    bool   `json:"archived"`
	// Only exports of version 1 and answers for client libraries have these.
	Enabled      *bool               `json:"enabled"`
	Strategies   []unleashStrategy   `json:"strategies"`
	Dependencies []unleashDependency `json:"dependencies"`
	// Exports before version 4 have one list of variants for all environments.
	Variants []json.RawMessage `json:"variants"`
}

// unleashSegment is a segment. In newer exports it has no constraints.
type unleashSegment struct {
	ID          json.Number         `json:"id"`
	Constraints []unleashConstraint `json:"constraints"`
}

type unleashDependency struct {
	Feature string `json:"feature"`
}

type unleashStrategy struct {
	ID          string              `json:"id"`
	Feature     string              `json:"featureName"`
	Environment string              `json:"environment"`
	Name        string              `json:"name"`
	StateName   string              `json:"strategyName"` // in exports of the whole state
	Title       string              `json:"title"`
	Disabled    bool                `json:"disabled"`
	Order       float64             `json:"sortOrder"`
	Parameters  map[string]any      `json:"parameters"`
	Constraints []unleashConstraint `json:"constraints"`
	Variants    []json.RawMessage   `json:"variants"`
	Segments    []json.Number       `json:"segments"`
}

type unleashConstraint struct {
	Context         string   `json:"contextName"`
	Operator        string   `json:"operator"`
	Value           string   `json:"value"`
	Values          []string `json:"values"`
	Inverted        bool     `json:"inverted"`
	CaseInsensitive bool     `json:"caseInsensitive"`
}

// unleash imports an export of Unleash. Its flags become BOOLEAN flags, which the strategies switch on.
func unleash(documents [][]byte, options Options) (Result, error) {
	return collect(documents, "export of Unleash", func(c *collector, export unleashExport) {
		slices.SortStableFunc(export.Strategies, func(a, b unleashStrategy) int { return cmp.Compare(a.Order, b.Order) })
		for _, feature := range export.Features {
			if feature.Archived {
				c.lose("flag %s: left out, because it is archived.", feature.Name)
				continue
			}
			c.unleashParents(export, feature)
			c.addFlag(flag{ID: feature.Name, Description: feature.Description, Type: flageval.Boolean, Default: encode(false),
				Environments: c.unleashEnvironments(export, feature, options.Environment)})
		}
	})
}

// unleashParents reports a loss for every other flag on which a flag depends.
func (c *collector) unleashParents(export unleashExport, feature unleashFeature) {
	parents := feature.Dependencies
	for _, each := range export.Dependencies {
		if each.Feature == feature.Name {
			parents = append(parents, each.Parents...)
		}
	}
	for _, parent := range parents {
		c.lose("flag %s: flags have no dependencies in Signalbox; it decides as if its dependency on the flag %s were met.", feature.Name, parent.Feature)
	}
}

const unleashVariants = "%s: variants are a second value, which flags of Signalbox do not have; make a flag of type STRING for them."

func (c *collector) unleashEnvironments(export unleashExport, feature unleashFeature, fallback string) map[string]environment {
	made := map[string]environment{}
	if len(feature.Variants) > 0 {
		c.lose(unleashVariants, "flag "+feature.Name)
	}
	if feature.Enabled != nil && len(export.Environments) == 0 {
		place := fmt.Sprintf("flag %s in %s", feature.Name, fallback)
		return map[string]environment{fallback: {Enabled: *feature.Enabled, Rules: c.unleashRules(export, feature.Strategies, place)}}
	}
	for _, each := range export.Environments {
		if each.Feature != feature.Name {
			continue
		}
		name := cmp.Or(each.Environment, fallback)
		place := fmt.Sprintf("flag %s in %s", feature.Name, name)
		if len(each.Variants) > 0 {
			c.lose(unleashVariants, place)
		}
		own := slices.DeleteFunc(slices.Clone(export.Strategies), func(s unleashStrategy) bool {
			return s.Feature != feature.Name || s.Environment != "" && s.Environment != name
		})
		made[name] = environment{Enabled: each.Enabled, Rules: c.unleashRules(export, own, place)}
	}
	if len(made) == 0 {
		c.lose("flag %s: the file has no environment for it, so it is off everywhere.", feature.Name)
	}
	return made
}

// unleashRules returns one rule for each strategy. Each rule switches the flag on.
func (c *collector) unleashRules(export unleashExport, strategies []unleashStrategy, place string) (rules []rule) {
	if len(strategies) == 0 { // Unleash switches such a flag on for everybody
		return []rule{{Logic: true, Value: encode(true)}}
	}
	for _, each := range strategies {
		each.Name = cmp.Or(each.Name, each.StateName)
		if each.Disabled {
			c.lose("%s: a strategy %s that is disabled is left out.", place, each.Name)
			continue
		}
		switch condition, err := c.unleashStrategy(export, each, place); {
		case err != nil:
			c.lose("%s: a strategy %s is left out, because %v; the flag is off for users that only this strategy matched.", place, each.Name, err)
		default:
			rules = append(rules, rule{Description: each.Title, Logic: condition, Value: encode(true)})
		}
		if len(each.Variants) > 0 {
			c.lose("%s: the variants of a strategy %s are left out.", place, each.Name)
		}
	}
	return rules
}

func (c *collector) unleashStrategy(export unleashExport, from unleashStrategy, place string) (logic, error) {
	constraints, err := export.constraints(from)
	if err != nil {
		return nil, err
	}
	all, err := conditions(constraints, unleashConstraint.logic)
	if err != nil {
		return nil, err
	}
	c.unleashSent(constraints, place)
	switch from.Name {
	case "default":
	case "userWithId":
		all = append(all, oneOf(userKey, texts(splitList(from.parameter("userIds")))))
	case "flexibleRollout", "gradualRolloutUserId", "gradualRolloutSessionId", "gradualRolloutRandom":
		share, err := c.unleashShare(from, place)
		if err != nil {
			return nil, err
		}
		all = append(all, share)
	default:
		return nil, errors.New("rules cannot express this kind of strategy")
	}
	return every(all...), nil
}

// unleashSent reports a loss for every constraint on a field that Unleash's clients add to every context.
func (c *collector) unleashSent(constraints []unleashConstraint, place string) {
	for _, each := range constraints {
		if each.Context == "appName" || each.Context == "environment" {
			c.lose("%s: it reads %s, which Unleash's clients send by themselves; send it as the attribute %[2]s of the user.", place, each.Context)
		}
	}
}

// constraints returns the constraints of a strategy and of its segments.
func (e unleashExport) constraints(from unleashStrategy) ([]unleashConstraint, error) {
	segments := from.Segments
	for _, each := range e.StrategySegments {
		if from.ID != "" && each.Strategy == from.ID && !slices.Contains(segments, each.Segment) {
			segments = append(segments, each.Segment)
		}
	}
	all := slices.Clone(from.Constraints)
	for _, id := range segments {
		at := slices.IndexFunc(e.Segments, func(s unleashSegment) bool { return s.ID == id && s.Constraints != nil })
		if at < 0 {
			return nil, fmt.Errorf("the file does not have the constraints of its segment %s", id)
		}
		all = append(all, e.Segments[at].Constraints...)
	}
	return all, nil
}

// parameter returns a parameter as text. In some exports it is a number.
func (s unleashStrategy) parameter(name string) string {
	if value := s.Parameters[name]; value != nil {
		return fmt.Sprint(value)
	}
	return ""
}

// unleashShare returns the condition for a percentage of users. It excludes users without the field that distributes users,
// unless the stickiness is default or random.
func (c *collector) unleashShare(from unleashStrategy, place string) (logic, error) {
	parsed, err := number(cmp.Or(from.parameter("rollout"), from.parameter("percentage")))
	if err != nil {
		return nil, err
	}
	percent, _ := parsed.Float64() // always a valid number
	by := cmp.Or(from.parameter("stickiness"), "default")
	switch from.Name {
	case "gradualRolloutUserId":
		by = "userId"
	case "gradualRolloutSessionId":
		by = "sessionId"
	case "gradualRolloutRandom":
		by = "random"
	}
	if by != "default" && by != "random" {
		path, err := unleashPath(by)
		return c.share(place, percent, path), err
	}
	if percent >= 100 {
		return true, nil
	}
	if by == "random" && percent > 0 {
		c.lose("%s: chance decided at every evaluation; here the key of the user does.", place)
	}
	return c.share(place, percent, userKey), nil
}

// logic returns the condition for a constraint. In Unleash all values are texts, and a missing value counts as empty.
func (u unleashConstraint) logic() (logic, error) {
	path, err := unleashPath(u.Context)
	switch {
	case err != nil:
		return nil, err
	case u.Context == "currentTime" || strings.HasPrefix(u.Operator, "DATE_"):
		return nil, errors.New("rules cannot read the time")
	case u.CaseInsensitive && strings.HasPrefix(u.Operator, "STR_"):
		return nil, errors.New("rules always compare texts with their case")
	}
	affixes := map[string]string{"STR_CONTAINS": "in", "STR_STARTS_WITH": "starts_with", "STR_ENDS_WITH": "ends_with"}
	numbers := map[string]string{"NUM_EQ": "==", "NUM_GT": ">", "NUM_GTE": ">=", "NUM_LT": "<", "NUM_LTE": "<="}
	versions := map[string]string{"SEMVER_EQ": "=", "SEMVER_GT": ">", "SEMVER_LT": "<"}
	switch {
	case u.Operator == "IN" || u.Operator == "NOT_IN":
		return negate(oneOf(path, spellings(u.Values)), u.Inverted != (u.Operator == "NOT_IN")), nil
	case affixes[u.Operator] != "" && slices.Contains(u.Values, ""):
		return !u.Inverted, nil // the empty text is contained in every text
	case affixes[u.Operator] != "":
		return negate(anyText(affixes[u.Operator], path, texts(u.Values)), u.Inverted), nil
	case numbers[u.Operator] != "":
		value, err := number(u.Value)
		return every(isNumeric(path), negate(apply(numbers[u.Operator], variable(path), value), u.Inverted)), err
	case versions[u.Operator] != "":
		return u.version(path, versions[u.Operator])
	}
	return nil, fmt.Errorf("rules have no operator like %q", u.Operator)
}

// fullVersion is a version of three numbers.
var fullVersion = regexp.MustCompile(`^\d+\.\d+\.\d+($|[-+])`)

// version compares versions of three numbers. Any other version does not match, even if the constraint is inverted.
func (u unleashConstraint) version(path, operator string) (logic, error) {
	if !fullVersion.MatchString(u.Value) {
		return nil, fmt.Errorf("%q is no version of three numbers", u.Value)
	}
	condition := apply("sem_ver", strictVersion(path), operator, u.Value)
	if !u.Inverted {
		return condition, nil
	}
	return apply("===", condition, false), nil // null if the text is not a version
}

// unleashPath returns the path of a field of Unleash's context.
func unleashPath(field string) (string, error) {
	if field == "userId" {
		return userKey, nil
	}
	return attribute(field)
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
