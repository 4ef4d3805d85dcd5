package condition

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/signalbox/signalbox/internal/rawjson"
)

// Logic is a rule of JSON Logic, decoded.
type Logic = any

const help = `a condition such as 'user.plan in pro,team', 'user.age >= 18 and user.country == NO', or JSON Logic`

// Parse returns the JSON Logic of a condition. A text that begins with { is JSON Logic already.
func Parse(text string) (Logic, error) {
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") {
		logic, err := Decode([]byte(text))
		if err != nil {
			return nil, fmt.Errorf(`%q is not JSON, such as {"==": [{"var": "user.plan"}, "pro"]}`, text)
		}
		return logic, nil
	}
	r := &reader{rest: text}
	var parts []any
	for {
		part, err := r.clause()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if r.rest == "" {
			return And(parts...), nil
		}
		if !r.takeWord("and") {
			return nil, unexpected(r.rest)
		}
		if r.rest == "" {
			return nil, errors.New(`a condition is missing after the last "and"`)
		}
	}
}

// Decode reads JSON Logic. Numbers keep their spelling.
func Decode(text []byte) (Logic, error) {
	if !json.Valid(text) { // a decoder stops after the first value
		return nil, errors.New("it is not JSON")
	}
	return rawjson.Decode[any](text)
}

// And returns a condition that is true if all parts are true.
func And(parts ...Logic) Logic {
	if len(parts) == 1 {
		return parts[0]
	}
	return map[string]any{"and": parts}
}

// Share returns a condition that is true for a percentage of the values of a variable. Each flag needs its own seed, or all
// flags would choose the same users.
func Share(seed, variable string, percent float64) (Logic, error) {
	if math.IsNaN(percent) || percent < 0 || percent > 100 {
		return nil, fmt.Errorf("a percentage is 0 to 100, not %v", percent)
	}
	if !isVariable(variable) {
		return nil, fmt.Errorf("%q is not an attribute such as user.key", variable)
	}
	by := map[string]any{"cat": []any{seed, read(variable)}}
	return map[string]any{"fractional": []any{by, []any{true, percent}, []any{false, 100 - percent}}}, nil
}

func read(variable string) Logic { return map[string]any{"var": variable} }

// isVariable reports whether a text names an attribute of a context: user.plan, account.address.city.
func isVariable(text string) bool {
	return regexp.MustCompile(`^[A-Za-z_][\w-]*(\.[\w-]+)+$`).MatchString(text)
}
