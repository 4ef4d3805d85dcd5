package imports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
)

type fliptFile struct {
	Flags    []fliptFlag    `json:"flags"`
	Segments []fliptSegment `json:"segments"`
}

type fliptFlag struct {
	Key, Name, Description, Type string
	Enabled                      bool
	Variants                     []struct {
		Key        string          `json:"key"`
		Default    bool            `json:"default"`
		Attachment json.RawMessage `json:"attachment"`
	} `json:"variants"`
	Rules []struct {
		fliptSegments

		Distributions []struct {
			Variant string  `json:"variant"`
			Rollout float64 `json:"rollout"`
		} `json:"distributions"`
	} `json:"rules"`
	Rollouts []struct {
		Description string `json:"description"`
		Segment     *struct {
			fliptSegments

			Value bool `json:"value"`
		} `json:"segment"`
		Threshold *struct {
			Percentage float64 `json:"percentage"`
			Value      bool    `json:"value"`
		} `json:"threshold"`
	} `json:"rollouts"`
}

// fliptSegments names segments, in one of the ways that exports had over time.
type fliptSegments struct {
	Segment  json.RawMessage `json:"segment"`
	Segments []string        `json:"segments"`
	Key      string          `json:"key"`
	Keys     []string        `json:"keys"`
	Operator string          `json:"operator"`
}

type fliptSegment struct {
	Key         string `json:"key"`
	MatchType   string `json:"match_type"`
	Constraints []struct {
		Type, Property, Operator, Value string
	} `json:"constraints"`
}

// flipt imports an export of Flipt.
func flipt(documents [][]byte, options Options) (Result, error) {
	c := &collector{}
	for _, document := range documents {
		file, err := decode[fliptFile](document, "export of Flipt")
		if err != nil {
			return Result{}, err
		}
		segments := map[string]fliptSegment{}
		for _, each := range file.Segments {
			segments[each.Key] = each
		}
		for _, each := range file.Flags {
			made := c.fliptBoolean(each, segments)
			if each.Type != "BOOLEAN_FLAG_TYPE" {
				made = c.fliptVariants(each, segments)
			}
			c.addFlag(flag{ID: each.Key, Name: each.Name, Description: each.Description, Type: made.kind, Default: made.fallback,
				Environments: map[string]environment{options.Environment: made.environment}})
		}
	}
	return c.finish()
}

// fliptMade is what a flag becomes.
type fliptMade struct {
	kind        flageval.Type
	fallback    json.RawMessage
	environment environment
}

// fliptBoolean: enabled is the value for everybody whom no rollout gives another.
func (c *collector) fliptBoolean(from fliptFlag, segments map[string]fliptSegment) fliptMade {
	made := environment{Enabled: true, Default: encode(from.Enabled)}
	for i, each := range from.Rollouts {
		switch {
		case each.Segment != nil:
			condition, err := each.Segment.logic(segments)
			if err != nil {
				c.lose("flag %s: rollout %d is left out, because %v; whom it matched gets what follows.", from.Key, i+1, err)
				continue
			}
			made.Rules = append(made.Rules, rule{Description: each.Description, Logic: condition, Value: encode(each.Segment.Value)})
		case each.Threshold != nil:
			condition := c.share(each.Threshold.Percentage, userKey)
			made.Rules = append(made.Rules, rule{Description: each.Description, Logic: condition, Value: encode(each.Threshold.Value)})
		}
	}
	return fliptMade{flageval.Boolean, encode(false), made}
}

// fliptVariants: the value is the key of a variant; nobody matched is the default variant, or none.
func (c *collector) fliptVariants(from fliptFlag, segments map[string]fliptSegment) fliptMade {
	made := fliptMade{flageval.String, encode(""), environment{Enabled: from.Enabled}}
	for _, each := range from.Variants {
		if each.Default {
			made.fallback = encode(each.Key)
		}
		if len(each.Attachment) > 0 && string(each.Attachment) != "null" {
			c.lose("flag %s: the attachment of the variant %s is left out; a config or a flag of type JSON can have it.", from.Key, each.Key)
		}
	}
	for i, each := range from.Rules {
		condition, err := each.logic(segments)
		if err != nil {
			c.lose("flag %s: rule %d is left out, because %v; whom it matched gets what follows.", from.Key, i+1, err)
			continue
		}
		var portions []portion
		left := 10_000
		for _, share := range each.Distributions {
			weight := int(share.Rollout*100 + 0.5)
			portions = append(portions, portion{encode(share.Variant), weight})
			left -= weight
		}
		portions = append(portions, portion{made.fallback, left})
		made.environment.Rules = append(made.environment.Rules, c.rollout("", condition, portions, userKey)...)
	}
	return made
}

// logic returns the condition of the named segments.
func (f fliptSegments) logic(segments map[string]fliptSegment) (logic, error) {
	keys, operator := append(f.Segments, f.Keys...), f.Operator
	if f.Key != "" {
		keys = append(keys, f.Key)
	}
	var key string
	var nested fliptSegments
	if json.Unmarshal(f.Segment, &key) == nil && key != "" {
		keys = append(keys, key)
	} else if json.Unmarshal(f.Segment, &nested) == nil {
		keys, operator = append(append(keys, nested.Keys...), nested.Segments...), cmp.Or(operator, nested.Operator)
		if nested.Key != "" {
			keys = append(keys, nested.Key)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("it names no segment")
	}
	var conditions []logic
	for _, each := range keys {
		segment, known := segments[each]
		if !known {
			return nil, fmt.Errorf("there is no segment %q in the file", each)
		}
		condition, err := segment.logic()
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, condition)
	}
	if operator == "AND_SEGMENT_OPERATOR" {
		return every(conditions...), nil
	}
	return either(conditions...), nil
}

func (f fliptSegment) logic() (logic, error) {
	var conditions []logic
	for _, each := range f.Constraints {
		condition, err := fliptConstraint(each.Type, each.Property, each.Operator, each.Value)
		if err != nil {
			return nil, fmt.Errorf("in segment %q %w", f.Key, err)
		}
		conditions = append(conditions, condition)
	}
	if f.MatchType == "ANY_MATCH_TYPE" && len(conditions) > 0 {
		return either(conditions...), nil
	}
	return every(conditions...), nil
}

func fliptConstraint(kind, property, operator, value string) (logic, error) {
	path := "user." + property
	if kind == "ENTITY_ID_COMPARISON_TYPE" {
		path = userKey
	}
	var compared any = value
	switch {
	case kind == "DATETIME_COMPARISON_TYPE":
		return nil, fmt.Errorf("dates are compared, which is not possible here")
	case operator == "isoneof" || operator == "isnotoneof":
		return fliptList(path, operator, value)
	case kind == "NUMBER_COMPARISON_TYPE" && value != "":
		parsed, err := number(value)
		if err != nil {
			return nil, err
		}
		compared = parsed
	}
	switch strings.ToLower(operator) {
	case "eq":
		return apply("==", variable(path), compared), nil
	case "neq":
		return apply("!=", variable(path), compared), nil
	case "lt", "lte", "gt", "gte":
		return apply(map[string]string{"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}[operator], variable(path), compared), nil
	case "prefix":
		return apply("starts_with", variable(path), value), nil
	case "suffix":
		return apply("ends_with", variable(path), value), nil
	case "contains":
		return contains(path, []any{value}), nil
	case "true", "present", "notempty":
		return apply("!!", variable(path)), nil
	case "false", "notpresent", "empty":
		return apply("!", variable(path)), nil
	}
	return nil, fmt.Errorf("the operator %q is not known here", operator)
}

func fliptList(path, operator, value string) (logic, error) {
	var values []any
	if err := json.Unmarshal([]byte(value), &values); err != nil {
		return nil, fmt.Errorf("%q is no list", value)
	}
	return negate(oneOf(path, values), operator == "isnotoneof"), nil
}
