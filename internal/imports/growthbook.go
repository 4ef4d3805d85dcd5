package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/rawjson"
)

type growthFile struct {
	Features  map[string]growthFeature `json:"features"`
	Encrypted string                   `json:"encryptedFeatures"`
}

type growthFeature struct {
	Default json.RawMessage `json:"defaultValue"`
	Rules   []growthRule    `json:"rules"`
}

type growthRule struct {
	Description string         `json:"description"`
	Condition   map[string]any `json:"condition"`
	Parents     []struct {
		ID   string `json:"id"`
		Gate bool   `json:"gate"`
	} `json:"parentConditions"`
	Force         json.RawMessage   `json:"force"`
	Coverage      *float64          `json:"coverage"`
	HashAttribute string            `json:"hashAttribute"`
	Variations    []json.RawMessage `json:"variations"`
	Weights       []float64         `json:"weights"`
	unknown       string            // a member that Signalbox cannot express
}

// UnmarshalJSON decodes a rule. It sets unknown to a restriction of the users that Signalbox cannot express.
func (g *growthRule) UnmarshalJSON(text []byte) error {
	type plain growthRule
	if err := json.Unmarshal(text, (*plain)(g)); err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	condition, err := decode[struct{ Condition map[string]any }](text, "rule") // this decoding keeps the spelling of numbers
	g.Condition = condition.Condition
	for _, name := range []string{"namespace", "range", "ranges", "filters", "url", "urlPatterns", "groups", "status", "contextualBanditRef"} {
		if value := string(members[name]); value != "" && value != "null" && value != "[]" && value != `""` {
			g.unknown = name
		}
	}
	return err
}

// growthBook imports the features that GrowthBook sends to its client libraries.
func growthBook(documents [][]byte, options Options) (Result, error) {
	return collect(documents, "list of features of GrowthBook", func(c *collector, file growthFile) {
		if file.Encrypted != "" {
			c.lose("The features of the file are encrypted; get them with a key of an SDK connection without encryption.")
		}
		for _, key := range slices.Sorted(maps.Keys(file.Features)) {
			c.growth(key, file.Features[key], options.Environment)
		}
	})
}

func (c *collector) growth(key string, from growthFeature, where string) {
	if len(from.Default) == 0 {
		from.Default = encode(nil)
	}
	values := []json.RawMessage{from.Default}
	made := environment{Enabled: true}
	for i, each := range from.Rules {
		if c.growthGate(key, i, each) {
			continue
		}
		rules, err := c.growthRules(key, each)
		if err != nil {
			c.lose("flag %s: rule %d is left out, because %v; the users it matched fall through to the next rule.", key, i+1, err)
			continue
		}
		if comparesVersions(each.Condition) {
			c.lose("flag %s: rule %d compares versions; versions without three numbers, such as 2.1, are compared as text there and as 2.1.0 here.", key, i+1)
		}
		for _, rule := range rules {
			values = append(values, rule.Value)
		}
		made.Rules = append(made.Rules, rules...)
	}
	kind := typeOf(values)
	if string(from.Default) == "null" {
		kind = flageval.JSON
	}
	c.addFlag(flag{ID: key, Type: kind, Default: from.Default, Environments: map[string]environment{where: made}})
}

// growthGate reports whether a rule is a gate, which disables a flag unless another flag has a value. It adds the loss.
func (c *collector) growthGate(key string, index int, from growthRule) bool {
	gate := false
	for _, parent := range from.Parents {
		if parent.Gate {
			gate = true
			c.lose("flag %s: rule %d is left out, because flags have no prerequisites in Signalbox. Where the prerequisite %s was not met, users got no value (null); in Signalbox they fall through to the next rule.",
				key, index+1, parent.ID)
		}
	}
	return gate
}

func (c *collector) growthRules(key string, from growthRule) ([]rule, error) {
	if len(from.Parents) > 0 {
		return nil, fmt.Errorf("it depends on the flag %s", from.Parents[0].ID)
	}
	if from.unknown != "" {
		return nil, fmt.Errorf("rules have nothing like its %q", from.unknown)
	}
	condition, err := growthCondition(from.Condition)
	if err != nil {
		return nil, err
	}
	by := growthPath(cmp.Or(from.HashAttribute, "id"))
	switch {
	case len(from.Force) > 0:
		if from.Coverage != nil {
			condition = every(condition, c.share("flag "+key, *from.Coverage*100, by))
		}
		return []rule{{Description: from.Description, Logic: condition, Value: from.Force}}, nil
	case len(from.Variations) < 2: // GrowthBook skips such a rule
		return nil, nil
	}
	condition = every(condition, apply("!!", variable(by))) // users without the attribute take part in no experiment
	return c.rollout("flag "+key, from.Description, condition, from.portions(), spread{by: by}), nil
}

// portions returns the portion of each variation. A last portion without a value is for users outside the coverage.
func (g growthRule) portions() (portions []portion) {
	const parts = 10_000
	coverage := 1.0
	if g.Coverage != nil {
		coverage = min(max(*g.Coverage, 0), 1)
	}
	left, weights := parts, g.weights()
	for i, value := range g.Variations {
		weight := min(int(weights[i]*coverage*parts+0.5), left)
		portions = append(portions, portion{value, weight})
		left -= weight
	}
	return append(portions, portion{nil, left})
}

// weights returns the weights of variations. If their number or sum is wrong, it makes them equal, like GrowthBook.
func (g growthRule) weights() []float64 {
	sum := 0.0
	for _, each := range g.Weights {
		sum += each
	}
	const tolerance = 0.01
	if len(g.Weights) == len(g.Variations) && math.Abs(sum-1) <= tolerance {
		return g.Weights
	}
	return slices.Repeat([]float64{1 / float64(len(g.Variations))}, len(g.Variations))
}

// comparesVersions reports whether a condition has an operator for versions.
func comparesVersions(condition any) bool {
	switch condition := condition.(type) {
	case []any:
		return slices.ContainsFunc(condition, comparesVersions)
	case map[string]any:
		for name, value := range condition {
			if growthVersions()[name] != "" || comparesVersions(value) {
				return true
			}
		}
	}
	return false
}

// growthCondition translates a condition in the language of MongoDB.
func growthCondition(from map[string]any) (logic, error) {
	all, err := conditions(slices.Sorted(maps.Keys(from)), func(name string) (logic, error) { return growthMember(name, from[name]) })
	return every(all...), err
}

func growthMember(name string, value any) (logic, error) {
	switch name {
	case "$and", "$or", "$nor":
		list, isList := value.([]any)
		if !isList {
			return nil, fmt.Errorf("%s has no list", name)
		}
		all, err := conditions(list, func(each any) (logic, error) {
			object, _ := each.(map[string]any)
			return growthCondition(object)
		})
		if name == "$and" {
			return every(all...), err
		}
		one := either(all...)
		if len(all) == 0 { // in GrowthBook an empty list is true
			one = true
		}
		return negate(one, name == "$nor"), err
	case "$not":
		object, _ := value.(map[string]any)
		condition, err := growthCondition(object)
		return negate(condition, true), err
	}
	return growthComparison(growthPath(name), value)
}

// growthComparison compares an attribute with a value, or with operators.
func growthComparison(path string, value any) (logic, error) {
	operators, is := value.(map[string]any)
	if !is {
		return growthEqual(path, value)
	}
	all, err := conditions(slices.Sorted(maps.Keys(operators)), func(operator string) (logic, error) {
		return growthOperator(path, operator, operators[operator])
	})
	return every(all...), err
}

// growthEqual compares an attribute with a value. It converts the attribute to the type of the value.
func growthEqual(path string, value any) (logic, error) {
	switch value := value.(type) {
	case nil:
		return apply("==", variable(path), nil), nil
	case bool:
		if value {
			return apply("!!", variable(path)), nil
		}
		return every(exists(path), apply("!", variable(path))), nil
	case json.Number:
		return apply("===", apply("-", variable(path), 0), value), nil // as a number, null is 0
	case string:
		if rawjson.IsWord(value) {
			return apply("==", variable(path), value), nil
		}
		return every(exists(path), apply("==", apply("cat", variable(path)), value)), nil
	}
	return nil, errors.New("it compares with a list")
}

func growthVersions() map[string]string {
	return map[string]string{"$veq": "=", "$vne": "!=", "$vlt": "<", "$vlte": "<=", "$vgt": ">", "$vgte": ">="}
}

func growthOperator(path, operator string, value any) (logic, error) {
	plain := map[string]string{"$eq": "===", "$ne": "!==", "$lt": "<", "$lte": "<=", "$gt": ">", "$gte": ">="}
	list, isList := value.([]any)
	_, isObject := value.(map[string]any)
	switch {
	case plain[operator] != "" && (isList || isObject):
		return nil, errors.New("it compares with a list or an object")
	case plain[operator] != "":
		return apply(plain[operator], variable(path), value), nil
	case growthVersions()[operator] != "":
		return growthVersion(path, operator, value), nil
	case (operator == "$in" || operator == "$nin") && isList:
		matches := orAny(path, func(path string) logic { return oneOf(path, list) })
		return negate(matches, operator == "$nin"), nil
	case operator == "$exists":
		return negate(apply("==", variable(path), nil), value == true), nil
	case operator == "$not":
		condition, err := growthComparison(path, value)
		return negate(condition, true), err
	}
	return nil, fmt.Errorf("rules have no operator like %q", operator)
}

// growthVersion compares versions. In GrowthBook a missing version is lower than all others.
func growthVersion(path, operator string, value any) logic {
	condition := apply("sem_ver", variable(path), growthVersions()[operator], value)
	if operator == "$vlt" || operator == "$vlte" || operator == "$vne" {
		return either(negate(variable(path), true), condition)
	}
	return condition
}

// growthPath returns the path of an attribute.
func growthPath(attribute string) string {
	if attribute == "id" {
		return userKey
	}
	return "user." + attribute
}
