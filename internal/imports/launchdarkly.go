package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/rawjson"
)

type darklyList struct {
	Items []darklyFlag `json:"items"`
	// Total counts the flags of all pages. The file has one page.
	Total int `json:"totalCount"`
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
	On             bool           `json:"on"`
	Targets        []darklyTarget `json:"targets"`
	ContextTargets []darklyTarget `json:"contextTargets"`
	Rules          []darklyRule   `json:"rules"`
	Fallthrough    *darklyServed  `json:"fallthrough"`
	OffVariation   *int           `json:"offVariation"`
	Prerequisites  []struct {
		Key string `json:"key"`
	} `json:"prerequisites"`
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
		Purpose    string `json:"kind"`
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

// errSummary is the refusal of a file whose environments have no rules.
var errSummary = errors.New("it has only a summary of the flags, without their rules: get it with ?summary=0")

// launchDarkly imports a response of LaunchDarkly's API that lists flags.
func launchDarkly(documents [][]byte, _ Options) (Result, error) {
	summary := false
	result, err := collect(documents, "list of flags of LaunchDarkly", func(c *collector, list darklyList) {
		for _, each := range list.Items {
			summary = summary || each.isSummary()
			c.darkly(each)
		}
		if count := len(list.Items); count > 0 && count < list.Total {
			c.lose("the file has %d of %d flags, which is one page: get the others with &limit= and &offset=, and import them too.", count, list.Total)
		}
	})
	if summary {
		return Result{}, errSummary
	}
	return result, err
}

// isSummary reports whether an environment has no fallthrough, which every complete flag has.
func (d darklyFlag) isSummary() bool {
	for _, each := range d.Environments {
		if each.Fallthrough == nil {
			return true
		}
	}
	return false
}

func (c *collector) darkly(from darklyFlag) {
	switch {
	case from.Archived:
		c.lose("flag %s: left out, because it is archived.", from.Key)
		return
	case len(from.Variations) == 0:
		c.lose("flag %s: left out, because it has no variations.", from.Key)
		return
	case len(from.Environments) == 0:
		c.lose("flag %s: left out, because the file has no environments for it; name them with &env=.", from.Key)
		return
	}
	var values []json.RawMessage
	var names []string
	for _, each := range from.Variations {
		values = append(values, each.Value)
		if each.Name != "" {
			names = append(names, each.Name)
		}
	}
	made := flag{ID: from.Key, Name: from.Name, Description: from.Description, Type: typeOf(values), Default: values[len(values)-1],
		Environments: map[string]environment{}}
	if made.Type != flageval.Boolean && len(names) == len(values) { // every variation has a name
		made.Values = c.choices(from.Key, names, values)
	}
	for _, name := range slices.Sorted(maps.Keys(from.Environments)) {
		if served := from.Environments[name]; served.Fallthrough != nil {
			made.Environments[name] = c.darklyEnvironment(darklyPlace{from.Key, name, values}, served)
		}
	}
	c.addFlag(made)
}

// darklyPlace names a flag and an environment for the report. It also has the values of the flag's variations.
type darklyPlace struct {
	flag, environment string
	values            []json.RawMessage
}

// String returns the beginning of a sentence about the place.
func (p darklyPlace) String() string { return fmt.Sprintf("flag %s in %s", p.flag, p.environment) }

// value returns the value of a variation.
func (p darklyPlace) value(variation int) (json.RawMessage, error) {
	if variation < 0 || variation >= len(p.values) {
		return nil, fmt.Errorf("there is no variation %d", variation)
	}
	return p.values[variation], nil
}

// darklyEnvironment translates an environment. The off variation becomes the default, so that the flag can be switched on and
// off as before. The fallthrough becomes the last rule.
func (c *collector) darklyEnvironment(place darklyPlace, from darklyEnvironment) environment {
	made := environment{Enabled: from.On, Default: c.darklyOff(place, from.OffVariation)}
	for _, each := range from.Prerequisites {
		c.lose("%s: flags have no prerequisites in Signalbox; it decides as if its prerequisite %s were met.", place, each.Key)
	}
	for _, target := range from.targets() {
		path, err := darklyPath(target.ContextKind, "key")
		if err != nil {
			c.lose("%s: a list of targets is left out, because %v.", place, err)
			continue
		}
		for part := range slices.Chunk(target.Values, darklyTargets) {
			c.darklyServe(place, &made, "Targets", oneOf(path, texts(part)), darklyServed{Variation: &target.Variation})
		}
	}
	for i, each := range from.Rules {
		condition, err := darklyClauses(each.Clauses)
		if err != nil {
			c.lose("%s: rule %d is left out, because %v; the users it matched fall through to the next rule.", place, i+1, err)
			continue
		}
		c.darklyServe(place, &made, each.Description, condition, each.darklyServed)
	}
	c.darklyServe(place, &made, "Everybody else", true, *from.Fallthrough)
	return made
}

// darklyTargets is the largest number of keys in a rule, because the server limits the size of a rule.
const darklyTargets = 500

// darklyOff returns the value that is served while a flag is off.
func (c *collector) darklyOff(place darklyPlace, variation *int) json.RawMessage {
	last := place.values[len(place.values)-1]
	if variation != nil {
		if off, err := place.value(*variation); err == nil {
			return off
		}
	}
	c.lose("%s: it has no off variation. While it is off, the code decided what to use; here everybody gets %s.", place, last)
	return last
}

// targets returns the lists of keys in the order of evaluation. Targets has the lists of user keys. An empty user list in
// ContextTargets marks the position of the list with the same variation. Lists without such a mark come first.
func (d darklyEnvironment) targets() []darklyTarget {
	first, all := slices.Clone(d.Targets), slices.Clone(d.ContextTargets)
	for i, each := range all {
		if cmp.Or(each.ContextKind, "user") != "user" || len(each.Values) > 0 {
			continue
		}
		if at := slices.IndexFunc(first, func(t darklyTarget) bool { return t.Variation == each.Variation }); at >= 0 {
			all[i].Values = first[at].Values
			first = slices.Delete(first, at, at+1)
		}
	}
	return slices.Concat(first, all)
}

// darklyServe adds the rules that serve a variation or a rollout to matching contexts.
func (c *collector) darklyServe(place darklyPlace, to *environment, description string, condition logic, served darklyServed) {
	portions, how, err := place.portions(served)
	if err != nil {
		c.lose("%s: %q serves nothing, because %v; the users it matched fall through to the next rule.", place, cmp.Or(description, "a rule"), err)
		return
	}
	rules := c.rollout(place.String(), description, condition, portions, how)
	if len(rules) == 1 && condition == logic(true) && rawjson.Same(rules[0].Value, to.Default) {
		return // the default has the same value
	}
	to.Rules = append(to.Rules, rules...)
}

// portions returns the served portions, and the attribute that distributes users over them. Users without this attribute
// get the first portion. The last portion is enlarged so that the sum is 100 %.
func (p darklyPlace) portions(served darklyServed) (portions []portion, how spread, err error) {
	if served.Variation != nil {
		value, err := p.value(*served.Variation)
		return []portion{{value, 1}}, spread{by: userKey}, err
	}
	if served.Rollout == nil || len(served.Rollout.Variations) == 0 {
		return nil, how, errors.New("it has neither a variation nor a rollout")
	}
	left := 100_000
	for i, each := range served.Rollout.Variations {
		value, err := p.value(each.Variation)
		if err != nil {
			return nil, how, err
		}
		weight := min(each.Weight, left)
		if left -= weight; i == len(served.Rollout.Variations)-1 {
			weight += left
		}
		portions = append(portions, portion{value, weight})
	}
	by := served.Rollout.BucketBy
	if served.Rollout.Purpose == "experiment" { // an experiment always distributes users by their key
		by = ""
	}
	how = spread{absent: true}
	how.by, err = darklyPath(served.Rollout.Kind, cmp.Or(by, "key"))
	return portions, how, err
}

func darklyClauses(clauses []darklyClause) (logic, error) {
	all, err := conditions(clauses, darklyClause.logic)
	return every(all...), err
}

// logic returns the condition for a clause. A context without the attribute never matches, even if the clause is negated. A
// list matches if one of its elements matches.
func (d darklyClause) logic() (logic, error) {
	if d.Attribute == "kind" && d.Op != "segmentMatch" {
		return nil, errors.New("kinds of contexts cannot be compared")
	}
	test, err := d.test()
	if err != nil {
		return nil, err
	}
	path, err := darklyPath(d.ContextKind, d.Attribute)
	if err != nil {
		return nil, err
	}
	matches := orAny(path, test)
	if d.Attribute == "key" { // a key is never a list
		matches = test(path)
	}
	if d.Negate {
		return every(exists(path), negate(matches, true)), nil
	}
	return matches, nil
}

// test returns the condition of a clause for one value.
func (d darklyClause) test() (func(path string) logic, error) {
	affixes := map[string]string{"startsWith": "starts_with", "endsWith": "ends_with", "contains": "in"}
	numbers := map[string]string{"lessThan": "<", "lessThanOrEqual": "<=", "greaterThan": ">", "greaterThanOrEqual": ">="}
	versions := map[string]string{"semVerEqual": "=", "semVerLessThan": "<", "semVerGreaterThan": ">"}
	switch {
	case d.Op == "in":
		return d.in()
	case affixes[d.Op] != "":
		return func(path string) logic { return darklyText(affixes[d.Op], path, valuesOf[string](d.Values)) }, nil
	case numbers[d.Op] != "":
		return func(path string) logic {
			return every(isNumber(path), anyOf(valuesOf[json.Number](d.Values), func(value any) logic { return apply(numbers[d.Op], variable(path), value) }))
		}, nil
	case versions[d.Op] != "":
		return func(path string) logic { return darklyVersion(versions[d.Op], path, valuesOf[string](d.Values)) }, nil
	}
	if d.Op == "segmentMatch" {
		return nil, errors.New("it tests a segment, and Signalbox has no segments")
	}
	return nil, fmt.Errorf("rules have no operator like %q", d.Op)
}

// in tests whether an attribute equals one of the values and has the same type.
func (d darklyClause) in() (func(path string) logic, error) {
	var values []any
	for _, value := range d.Values {
		switch value.(type) {
		case []any, map[string]any:
			return nil, errors.New("it compares with a list or an object")
		case nil: // null never matches, because no attribute is null
		default:
			values = append(values, value)
		}
	}
	return func(path string) logic { return oneOf(path, values) }, nil
}

// darklyText compares texts. The empty text is contained in every text.
func darklyText(operator, path string, values []any) logic {
	if operator == "in" && slices.Contains(values, any("")) {
		return isText(path)
	}
	return anyText(operator, path, values)
}

// darklyVersion compares versions. A text that starts with v is not a version.
func darklyVersion(operator, path string, values []any) logic {
	version := apply("cat", "v", variable(path))
	return every(isText(path), anyOf(values, func(value any) logic {
		if strings.HasPrefix(strings.ToLower(value.(string)), "v") {
			return false
		}
		return apply("sem_ver", version, operator, value)
	}))
}

// valuesOf returns the values of type T. Values of other types never match.
func valuesOf[T any](values []any) (same []any) {
	for _, value := range values {
		if _, is := value.(T); is {
			same = append(same, value)
		}
	}
	return same
}

// darklyPath returns the path of an attribute of a context kind. With a kind, it may be a path such as /address/city.
func darklyPath(kind, attribute string) (string, error) {
	names := []string{attribute}
	if kind != "" && strings.HasPrefix(attribute, "/") {
		names = strings.Split(attribute[1:], "/")
	}
	for i, name := range names {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if name == "" || strings.Contains(name, ".") || i > 0 && (name == "length" || strings.Trim(name, "0123456789") == "") {
			return "", fmt.Errorf("rules cannot read the attribute %q", attribute)
		}
		names[i] = name
	}
	if strings.Contains(kind, ".") {
		return "", fmt.Errorf("rules cannot read the kind %q", kind)
	}
	return cmp.Or(kind, "user") + "." + strings.Join(names, "."), nil
}
