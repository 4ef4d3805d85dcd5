package flagd

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Flag is a flag in one environment.
type Flag struct {
	Key     string
	Type    flageval.Type
	Default json.RawMessage // the flag's default
	flageval.Environment
	// Sent returns the text of a value for typed clients, and its name as a JSON string, or nil. If Sent is nil, values are
	// sent as they are, and have no names.
	Sent func(value json.RawMessage) (text, name json.RawMessage)
}

// definition is a flag in the form of flagd. Providers refuse all flags if one has another member.
type definition struct {
	State          string         `json:"state"`
	Variants       variants       `json:"variants"`
	DefaultVariant string         `json:"defaultVariant"`
	Targeting      *node          `json:"targeting,omitempty"`
	Metadata       map[string]any `json:"metadata,omitempty"`
}

const splitWarning = "This flag has a percentage. Providers that hash like the server serve its values; others give the same percentage to other users."

// translate returns the definition of a flag. The error says why the flag cannot be expressed.
func translate(flag Flag) (definition, error) {
	made := definition{State: "ENABLED", Metadata: map[string]any{}}
	chosen := choices{flag: flag, names: map[string]string{}, taken: map[string]bool{}}
	fallback, name := flag.fallback()
	var err error
	if made.DefaultVariant, err = chosen.add(fallback, name); err != nil {
		return definition{}, err
	}
	if !flag.Enabled {
		made.Metadata["signalbox.disabled"] = true
		made.Variants = chosen.variants
		return made, nil
	}
	if err := made.addTargeting(flag, &chosen); err != nil {
		return definition{}, err
	}
	made.Variants = chosen.variants
	return made, nil
}

// fallback returns the value that is served if no rule matches, and the name of its variant if the value has no name.
func (f Flag) fallback() (value json.RawMessage, name string) {
	if own := f.Environment.Default; own != nil && string(own) != "null" && flageval.Fits(f.Type, own) {
		return own, "environment"
	}
	return f.Default, "default"
}

// addTargeting adds the rules as an if: condition, variant, condition, variant. Without an else the default is served.
func (d *definition) addTargeting(flag Flag, chosen *choices) error {
	t := &translation{key: flag.Key, kinds: map[string]kind{}}
	var branches []node
	for i, rule := range flag.Rules {
		condition, err := t.rule(flag.Type, rule)
		if err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
		holds, constant := isConstant(condition)
		if constant && !holds {
			continue
		}
		variant, err := chosen.add(rule.Value, "rule-"+strconv.Itoa(i))
		if err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
		branches = append(branches, condition, jsonlogic.String(variant))
		if constant {
			break
		}
	}
	if len(branches) == 0 {
		return nil
	}
	if t.splits {
		d.Metadata["signalbox.warning"] = splitWarning
	}
	d.Targeting = new(apply("if", branches...))
	if size := len(d.Targeting.AppendJSON(nil)); size > maxTargeting {
		return errTooLarge
	}
	return nil
}

// maxTargeting bounds the targeting of a flag in bytes.
const maxTargeting = 256 << 10

// rule translates the logic of a rule. The server skips a rule that has no valid logic or value, and the rule {}.
func (t *translation) rule(of flageval.Type, rule flageval.Rule) (node, error) {
	if _, err := jsonlogic.Compile(rule.Logic, jsonlogic.FlagKey(t.key)); err != nil || !flageval.Fits(of, rule.Value) {
		return never(), nil //nolint:nilerr // as the server does
	}
	logic, err := jsonlogic.Parse(rule.Logic)
	if err != nil {
		return node{}, err
	}
	if logic.Kind() == jsonlogic.KindNull || logic.Kind() == jsonlogic.KindObject && len(logic.Members()) == 0 {
		return never(), nil
	}
	return t.condition(logic)
}

// variants are the values of a flag by name, in the order of their use.
type variants []variant

type variant struct {
	name  string
	value json.RawMessage
}

// MarshalJSON writes the variants as an object.
func (v variants) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, each := range v {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, '"'), each.name...), `":`...)
		text = append(text, each.value...)
	}
	return append(text, '}'), nil
}

// choices collects the variants of a flag.
type choices struct {
	flag     Flag
	variants variants
	names    map[string]string // by the canonical text of the value
	taken    map[string]bool   // the names
}

// add returns the name of the variant with a value. A new variant has the value's own name if flagd can have it, otherwise the
// given one.
func (c *choices) add(value json.RawMessage, name string) (string, error) {
	if !flageval.Fits(c.flag.Type, value) || string(value) == "null" {
		return "", errors.New("it has a value that cannot be served")
	}
	if err := representable(c.flag.Type, value); err != nil {
		return "", err
	}
	text, own := value, json.RawMessage(nil)
	if c.flag.Sent != nil {
		text, own = c.flag.Sent(value)
	}
	text = widened(c.flag.Type, text)
	canonical := string(rawjson.Canonical(text))
	if known, exists := c.names[canonical]; exists {
		return known, nil
	}
	var proposed string
	if own != nil && json.Unmarshal(own, &proposed) == nil && isName(proposed) && !c.taken[proposed] {
		name = proposed
	}
	for c.taken[name] {
		name += "-value"
	}
	c.variants = append(c.variants, variant{name, text})
	c.names[canonical], c.taken[name] = name, true
	return name, nil
}

// widened writes an integer that needs more than 32 bits with a fraction. Java's provider otherwise takes it for a type of its own.
func widened(of flageval.Type, value json.RawMessage) json.RawMessage {
	number, err := strconv.ParseFloat(string(value), 64)
	if of != flageval.Numeric || err != nil || math.Abs(number) <= math.MaxInt32 || strings.ContainsAny(string(value), ".eE") {
		return value
	}
	return slices.Concat(value, []byte(".0"))
}

// isName reports whether a variant may have this name. Go's provider compares names in their JSON form, in which other
// characters are escaped.
func isName(name string) bool {
	const allowed = " -._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return strings.Trim(name, " ") == name && name != "" && strings.Trim(name, allowed) == ""
}

// representable refuses values that flagd's schema does not allow, or that a provider would round.
func representable(of flageval.Type, value json.RawMessage) error {
	parsed, err := jsonlogic.Parse(value)
	if err != nil {
		return err
	}
	switch of {
	case flageval.JSON:
		if parsed.Kind() != jsonlogic.KindObject {
			return errors.New("it has a JSON value that is no object")
		}
	case flageval.Numeric:
		if float, _ := parsed.Float(); math.Abs(float) >= maxInteger {
			return errors.New("it has a number that not every provider can represent")
		}
	case flageval.Boolean, flageval.String:
	}
	return nil
}
