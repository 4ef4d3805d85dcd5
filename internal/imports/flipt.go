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
	Key         string            `json:"key"`
	MatchType   string            `json:"match_type"`
	Constraints []fliptConstraint `json:"constraints"`
}

type fliptConstraint struct{ Type, Property, Operator, Value string }

// flipt imports an export of Flipt.
func flipt(documents [][]byte, options Options) (Result, error) {
	return collect(documents, "export of Flipt", func(c *collector, file fliptFile) {
		segments := map[string]fliptSegment{}
		for _, each := range file.Segments {
			segments[each.Key] = each
		}
		for _, each := range file.Flags {
			made := flag{ID: each.Key, Name: each.Name, Description: each.Description, Type: flageval.Boolean, Default: encode(false)}
			var place environment
			if each.Type == "BOOLEAN_FLAG_TYPE" {
				place = c.fliptBoolean(each, segments)
			} else {
				made.Type = flageval.String
				made.Default, place = c.fliptVariants(each, segments)
			}
			made.Environments = map[string]environment{options.Environment: place}
			c.addFlag(made)
		}
	})
}

// fliptBoolean: enabled is the value for everybody whom no rollout gives another.
func (c *collector) fliptBoolean(from fliptFlag, segments map[string]fliptSegment) environment {
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
	return made
}

// fliptVariants: the value is the key of a variant; nobody matched is the default variant, or none.
func (c *collector) fliptVariants(from fliptFlag, segments map[string]fliptSegment) (fallback json.RawMessage, made environment) {
	fallback, made.Enabled = encode(""), from.Enabled
	for _, each := range from.Variants {
		if each.Default {
			fallback = encode(each.Key)
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
		portions = append(portions, portion{fallback, left})
		made.Rules = append(made.Rules, c.rollout("", condition, portions, userKey)...)
	}
	return fallback, made
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
	all, err := conditions(keys, func(key string) (logic, error) {
		segment, known := segments[key]
		if !known {
			return nil, fmt.Errorf("there is no segment %q in the file", key)
		}
		return segment.logic()
	})
	if operator == "AND_SEGMENT_OPERATOR" {
		return every(all...), err
	}
	return either(all...), err
}

func (f fliptSegment) logic() (logic, error) {
	all, err := conditions(f.Constraints, fliptConstraint.logic)
	if err != nil {
		return nil, fmt.Errorf("in segment %q %w", f.Key, err)
	}
	if f.MatchType == "ANY_MATCH_TYPE" && len(all) > 0 {
		return either(all...), nil
	}
	return every(all...), nil
}

func (f fliptConstraint) logic() (logic, error) {
	path := "user." + f.Property
	if f.Type == "ENTITY_ID_COMPARISON_TYPE" {
		path = userKey
	}
	operator := strings.ToLower(f.Operator)
	var compared any = f.Value
	switch {
	case f.Type == "DATETIME_COMPARISON_TYPE":
		return nil, fmt.Errorf("dates are compared, which is not possible here")
	case operator == "isoneof" || operator == "isnotoneof":
		return fliptList(path, operator, f.Value)
	case f.Type == "NUMBER_COMPARISON_TYPE" && f.Value != "":
		parsed, err := number(f.Value)
		if err != nil {
			return nil, err
		}
		compared = parsed
	}
	plain := map[string]string{"eq": "==", "neq": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
	switch operator {
	case "eq", "neq", "lt", "lte", "gt", "gte":
		return apply(plain[operator], variable(path), compared), nil
	case "prefix":
		return apply("starts_with", variable(path), f.Value), nil
	case "suffix":
		return apply("ends_with", variable(path), f.Value), nil
	case "contains":
		return contains(path, []any{f.Value}), nil
	case "true", "present", "notempty":
		return apply("!!", variable(path)), nil
	case "false", "notpresent", "empty":
		return apply("!", variable(path)), nil
	}
	return nil, fmt.Errorf("the operator %q is not known here", f.Operator)
}

func fliptList(path, operator, value string) (logic, error) {
	var values []any
	if err := json.Unmarshal([]byte(value), &values); err != nil {
		return nil, fmt.Errorf("%q is no list", value)
	}
	return negate(oneOf(path, values), operator == "isnotoneof"), nil
}
