package imports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/client/flageval"
)

type growthFile struct {
	Features map[string]growthFeature `json:"features"`
}

type growthFeature struct {
	Default json.RawMessage `json:"defaultValue"`
	Rules   []growthRule    `json:"rules"`
}

type growthRule struct {
	Description   string            `json:"description"`
	Condition     map[string]any    `json:"condition"`
	Parents       []json.RawMessage `json:"parentConditions"`
	Force         json.RawMessage   `json:"force"`
	Coverage      *float64          `json:"coverage"`
	HashAttribute string            `json:"hashAttribute"`
	Variations    []json.RawMessage `json:"variations"`
	Weights       []float64         `json:"weights"`
	Namespace     json.RawMessage   `json:"namespace"`
	Ranges        json.RawMessage   `json:"ranges"`
}

// growthBook imports the features that GrowthBook gives to its SDKs.
func growthBook(documents [][]byte, options Options) (Result, error) {
	return collect(documents, "list of features of GrowthBook", func(c *collector, file growthFile) {
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
		rules, err := c.growthRules(each)
		if err != nil {
			c.lose("flag %s: rule %d is left out, because %v; whom it matched gets what follows.", key, i+1, err)
			continue
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

func (c *collector) growthRules(from growthRule) ([]rule, error) {
	switch {
	case len(from.Parents) > 0:
		return nil, fmt.Errorf("it depends on other flags")
	case len(from.Namespace) > 0 || len(from.Ranges) > 0:
		return nil, fmt.Errorf("namespaces and ranges of experiments are not known here")
	}
	condition, err := growthCondition(from.Condition)
	if err != nil {
		return nil, err
	}
	by := growthPath(cmp.Or(from.HashAttribute, "id"))
	if len(from.Force) > 0 {
		if from.Coverage != nil {
			condition = every(condition, c.share(*from.Coverage*100, by))
		}
		return []rule{{Description: from.Description, Logic: condition, Value: from.Force}}, nil
	}
	if len(from.Variations) == 0 {
		return nil, fmt.Errorf("it gives no value")
	}
	return c.growthExperiment(from, condition, by)
}

// growthExperiment gives each variation its part of those whom the experiment covers.
func (c *collector) growthExperiment(from growthRule, condition logic, by string) ([]rule, error) {
	if from.Coverage != nil && *from.Coverage < 1 {
		return nil, fmt.Errorf("the experiment covers a part of the users only, who cannot be told from the others here")
	}
	const parts = 10_000
	var portions []portion
	for i, value := range from.Variations {
		weight := 1.0 / float64(len(from.Variations))
		if len(from.Weights) == len(from.Variations) {
			weight = from.Weights[i]
		}
		portions = append(portions, portion{value, int(weight*parts + 0.5)})
	}
	return c.rollout(from.Description, condition, portions, by), nil
}

// growthCondition translates a condition in the language of MongoDB.
func growthCondition(from map[string]any) (logic, error) {
	all, err := conditions(slices.Sorted(maps.Keys(from)), func(name string) (logic, error) { return growthMember(name, from[name]) })
	return every(all...), err
}

func growthMember(name string, value any) (logic, error) {
	switch name {
	case "$and", "$or", "$nor":
		list, _ := value.([]any)
		all, err := conditions(list, func(each any) (logic, error) {
			object, _ := each.(map[string]any)
			return growthCondition(object)
		})
		if name == "$and" {
			return every(all...), err
		}
		return negate(either(all...), name == "$nor"), err
	case "$not":
		object, _ := value.(map[string]any)
		condition, err := growthCondition(object)
		return negate(condition, true), err
	}
	return growthComparison(growthPath(name), value)
}

// growthComparison compares an attribute with a value, or by operators.
func growthComparison(path string, value any) (logic, error) {
	operators, is := value.(map[string]any)
	if !is {
		return apply("==", variable(path), value), nil
	}
	all, err := conditions(slices.Sorted(maps.Keys(operators)), func(operator string) (logic, error) {
		return growthOperator(path, operator, operators[operator])
	})
	return every(all...), err
}

func growthOperator(path, operator string, value any) (logic, error) {
	plain := map[string]string{"$eq": "==", "$ne": "!=", "$lt": "<", "$lte": "<=", "$gt": ">", "$gte": ">="}
	versions := map[string]string{"$veq": "=", "$vne": "!=", "$vlt": "<", "$vlte": "<=", "$vgt": ">", "$vgte": ">="}
	list, _ := value.([]any)
	switch {
	case plain[operator] != "":
		return apply(plain[operator], variable(path), value), nil
	case versions[operator] != "":
		return apply("sem_ver", variable(path), versions[operator], value), nil
	case operator == "$in" || operator == "$nin":
		return negate(oneOf(path, list), operator == "$nin"), nil
	case operator == "$exists":
		return negate(apply("==", variable(path), nil), value == true), nil
	case operator == "$not":
		condition, err := growthComparison(path, value)
		return negate(condition, true), err
	}
	return nil, fmt.Errorf("the operator %q is not known here", operator)
}

// growthPath returns where an attribute is.
func growthPath(attribute string) string {
	if attribute == "id" {
		return userKey
	}
	return "user." + attribute
}
