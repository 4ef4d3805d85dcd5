package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// fliptSegments names segments. Depending on the version, Flipt exports a key, a list of keys or an object.
type fliptSegments struct {
	Segment  json.RawMessage `json:"segment"`
	Segments json.RawMessage `json:"segments"`
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
			if !slices.Contains([]string{"", "VARIANT_FLAG_TYPE", "BOOLEAN_FLAG_TYPE"}, each.Type) {
				c.lose("flag %s: left out, because Signalbox has no type like %q.", each.Key, each.Type)
				continue
			}
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

// fliptBoolean translates a BOOLEAN flag. If no rollout matches, its value is the member enabled.
func (c *collector) fliptBoolean(from fliptFlag, segments map[string]fliptSegment) environment {
	made := environment{Enabled: true, Default: encode(from.Enabled)}
	for i, each := range from.Rollouts {
		switch {
		case each.Segment != nil:
			condition, err := each.Segment.logic(segments)
			if err != nil {
				c.lose("flag %s: rollout %d is left out, because %v; the users it matched fall through to the next rule.", from.Key, i+1, err)
				continue
			}
			made.Rules = append(made.Rules, rule{Description: each.Description, Logic: condition, Value: encode(each.Segment.Value)})
		case each.Threshold != nil:
			condition := logic(true)
			if each.Threshold.Percentage < 100 {
				condition = c.share("flag "+from.Key, each.Threshold.Percentage, userKey)
			}
			made.Rules = append(made.Rules, rule{Description: each.Description, Logic: condition, Value: encode(each.Threshold.Value)})
		}
	}
	return made
}

// fliptVariants translates a flag whose value is the key of a variant. fallback is the default variant, or "" for none.
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
			c.lose("flag %s: rule %d is left out, because %v; the users it matched fall through to the next rule.", from.Key, i+1, err)
			continue
		}
		var portions []portion
		left := 10_000
		for _, share := range each.Distributions {
			weight := int(share.Rollout*100 + 0.5)
			portions = append(portions, portion{encode(share.Variant), weight})
			left -= weight
		}
		if left > 0 && left < 10_000 {
			c.lose("flag %s: the distributions of rule %d are less than 100 %%; the rest gets %s here, while some versions of Flipt share it out.", from.Key, i+1, fallback)
		}
		portions = append(portions, portion{fallback, left})
		made.Rules = append(made.Rules, c.rollout("flag "+from.Key, "", condition, portions, spread{by: userKey})...)
	}
	return fallback, made
}

// logic returns the condition for the named segments.
func (f fliptSegments) logic(segments map[string]fliptSegment) (logic, error) {
	keys, operator := f.named()
	if len(keys) == 0 {
		return nil, errors.New("it names no segment")
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

// named returns the keys of segments, and the operator that joins them.
func (f fliptSegments) named() (keys []string, operator string) {
	keys, operator = f.Keys, f.Operator
	if f.Key != "" {
		keys = append(keys, f.Key)
	}
	for _, text := range []json.RawMessage{f.Segment, f.Segments} {
		var key string
		var list []string
		var nested fliptSegments
		switch {
		case json.Unmarshal(text, &key) == nil && key != "":
			keys = append(keys, key)
		case json.Unmarshal(text, &list) == nil:
			keys = append(keys, list...)
		case json.Unmarshal(text, &nested) == nil:
			more, join := nested.named()
			keys, operator = append(keys, more...), cmp.Or(operator, join)
		}
	}
	return keys, operator
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

// logic returns the condition for a constraint. In Flipt all values are texts. A missing property counts as empty, and
// matches only constraints for missing or empty properties.
func (f fliptConstraint) logic() (logic, error) {
	path, err := attribute(f.Property)
	if f.Type == "ENTITY_ID_COMPARISON_TYPE" {
		path, err = userKey, nil
	}
	if err != nil {
		return nil, err
	}
	operator := strings.ToLower(f.Operator)
	switch operator {
	case "present", "notempty":
		return negate(isMissing(path), true), nil
	case "notpresent", "empty":
		return isMissing(path), nil
	}
	switch f.Type {
	case "DATETIME_COMPARISON_TYPE":
		return nil, errors.New("dates are compared, which rules cannot do")
	case "NUMBER_COMPARISON_TYPE":
		return f.number(path, operator)
	case "BOOLEAN_COMPARISON_TYPE":
		return f.boolean(path, operator)
	}
	return f.text(path, operator)
}

func (f fliptConstraint) unknown() error {
	return fmt.Errorf("rules have no operator like %q", f.Operator)
}

// number compares numbers, which may be texts.
func (f fliptConstraint) number(path, operator string) (logic, error) {
	plain := map[string]string{"eq": "==", "neq": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
	switch operator {
	case "isoneof", "isnotoneof":
		var values []json.Number
		if err := json.Unmarshal([]byte(f.Value), &values); err != nil {
			return nil, fmt.Errorf("%q is no list of numbers", f.Value)
		}
		return every(isNumeric(path), negate(apply("in", apply("+", variable(path)), values), operator == "isnotoneof")), nil
	case "eq", "neq", "lt", "lte", "gt", "gte":
		value, err := number(f.Value)
		return every(isNumeric(path), apply(plain[operator], variable(path), value)), err
	}
	return nil, f.unknown()
}

// boolean compares booleans, or texts that Flipt reads as booleans.
func (f fliptConstraint) boolean(path, operator string) (logic, error) {
	switch operator {
	case "true":
		return oneOf(path, []any{true, "true", "True", "TRUE", "t", "T", "1"}), nil
	case "false":
		return oneOf(path, []any{false, "false", "False", "FALSE", "f", "F", "0"}), nil
	}
	return nil, f.unknown()
}

// text compares texts.
func (f fliptConstraint) text(path, operator string) (logic, error) {
	values := []string{f.Value}
	if operator == "isoneof" || operator == "isnotoneof" {
		if err := json.Unmarshal([]byte(f.Value), &values); err != nil {
			return nil, fmt.Errorf("%q is no list of texts", f.Value)
		}
	}
	there := negate(isMissing(path), true)
	affixes := map[string]string{"prefix": "starts_with", "suffix": "ends_with", "contains": "in"}
	switch {
	case operator == "eq" && f.Value == "":
		return false, nil
	case operator == "eq":
		return oneOf(path, spellings(values)), nil
	case operator == "isoneof":
		return every(there, oneOf(path, spellings(values))), nil
	case operator == "neq" || operator == "isnotoneof":
		return every(there, negate(oneOf(path, spellings(values)), true)), nil
	case affixes[operator] != "" && f.Value == "":
		return there, nil
	case affixes[operator] != "":
		return anyText(affixes[operator], path, texts(values)), nil
	case operator == "notcontains" && f.Value == "":
		return false, nil
	case operator == "notcontains":
		return every(there, negate(anyText("in", path, texts(values)), true)), nil
	}
	return nil, f.unknown()
}
