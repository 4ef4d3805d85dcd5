package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func labeled(name string, value any) any { return attributes{"name": name, "value": value} }

func TestFlagValues_Valid(t *testing.T) {
	t.Parallel()
	both := []any{labeled("True", true), labeled("False", false)}
	owner := newOwner(t, "pro")
	for name, c := range map[string]struct {
		sent attributes
		want any
	}{
		"BOOLEAN without values has two":      {boolean(true, nil), both},
		"BOOLEAN with null has two":           {boolean(true, attributes{"values": nil}), both},
		"BOOLEAN with labels keeps them":      {boolean(true, attributes{"values": []any{labeled("Off", false), labeled("On", true)}}), []any{labeled("Off", false), labeled("On", true)}},
		"STRING without values has none":      {flag("STRING", "a", nil), nil},
		"bare values are named by their text": {flag("STRING", "a", attributes{"values": []any{"a", labeled("B", "b")}}), []any{labeled(`"a"`, "a"), labeled("B", "b")}},
		"1 is 1.0":                            {flag("NUMERIC", 1.0, attributes{"values": []any{1, 2.5}}), []any{labeled("1", 1.0), labeled("2.5", 2.5)}},
		"objects with more members are bare": {flag("JSON", attributes{"name": "a", "value": 1, "x": 2}, attributes{"values": []any{attributes{"x": 2, "value": 1, "name": "a"}}}),
			[]any{labeled(`{"name":"a","value":1,"x":2}`, attributes{"name": "a", "value": 1.0, "x": 2.0})}},
		"JSON may be null":       {flag("JSON", nil, attributes{"values": []any{nil, []any{}}}), []any{labeled("null", nil), labeled("[]", []any{})}},
		"types come in any case": {flag("string", "a", nil), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := owner.in(t).post(flagsPath, envelope("", unique("values"), c.sent)).want(201)
			if difference := cmp.Diff(c.want, got.attribute("values")); difference != "" {
				t.Errorf("want (-), got (+):\n%s", difference)
			}
		})
	}
	// The order of members does not count, and 1.0 is 1 in any spelling.
	owner.post(flagsPath, `{"data":{"id":"spelled","attributes":{"type":"JSON","default":{"b":1.0,"a":[10]},"values":[{"a":[1e1],"b":1}]}}}`).want(201)
}

func TestFlagValues_Invalid(t *testing.T) {
	t.Parallel()
	values, base := "/data/attributes/values", "/data/attributes/default"
	long := strings.Repeat("x", 256)
	owner := newOwner(t, "pro")
	for name, c := range map[string]struct {
		sent attributes
		want []string
	}{
		"one value of BOOLEAN":           {boolean(true, attributes{"values": []any{true}}), []string{values}},
		"a default that is not listed":   {flag("STRING", "c", attributes{"values": []any{"a", "b"}}), []string{base}},
		"a value of another type":        {flag("STRING", "a", attributes{"values": []any{"a", 5}}), []string{values + "/1"}},
		"a repeated number":              {flag("NUMERIC", 1, attributes{"values": []any{1, labeled("one", 1.0)}}), []string{values + "/1"}},
		"no values at all":               {flag("STRING", "a", attributes{"values": []any{}}), []string{values}},
		"values that are no array":       {flag("STRING", "a", attributes{"values": "a"}), []string{values}},
		"a name that is too long":        {flag("STRING", "a", attributes{"values": []any{labeled(long, "a")}}), []string{values + "/0/name"}},
		"a default that is missing":      {attributes{"type": "STRING"}, []string{base}},
		"a default of null":              {flag("STRING", nil, nil), []string{base}},
		"a default of another type":      {flag("NUMERIC", "1", nil), []string{base}},
		"a number that nobody can hold":  {flag("NUMERIC", jsonNumber("1e999"), nil), []string{base}},
		"a type that is missing":         {attributes{"default": 1}, []string{"/data/attributes/type"}},
		"a type that is unknown":         {flag("ENUM", 1, nil), []string{"/data/attributes/type"}},
		"a name that is empty":           {boolean(true, attributes{"name": ""}), []string{"/data/attributes/name"}},
		"environments that are an array": {boolean(true, attributes{"environments": []any{}}), []string{"/data/attributes/environments"}},
		"an environment that is null":    {boolean(true, attributes{"environments": attributes{"production": nil}}), []string{"/data/attributes/environments/production"}},
		"an environment's default and a rule's value that are not listed": {
			flag("STRING", "a", attributes{"values": []any{"a"}, "environments": attributes{"production": attributes{"default": "b", "rules": serving(attributes{}, "c")}}}),
			[]string{"/data/attributes/environments/production/default", "/data/attributes/environments/production/rules/0/value"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var problems []problem
			for _, pointer := range c.want {
				problems = append(problems, invalid(pointer))
			}
			owner.in(t).post(flagsPath, envelope("", unique("refused"), c.sent)).refused(400, problems...)
		})
	}
	for _, id := range []string{"", "-a", "a b", "a/b", strings.Repeat("a", 201)} {
		t.Run(fmt.Sprintf("%.40q", id), func(t *testing.T) {
			owner.in(t).post(flagsPath, envelope("", id, boolean(true, nil))).refused(400, invalid("/data/id"))
		})
	}
}

func TestFlagValues_ConstrainAndRelease(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	rules := attributes{"production": attributes{"default": "b", "rules": serving(equals("user.key", "x"), "c")}}
	path := flagsPath + "/converts"
	owner.post(flagsPath, envelope("", "converts", flag("STRING", "a", attributes{"environments": rules}))).want(201)
	constrained := func(values ...any) string {
		return envelope("", "", flag("STRING", "a", attributes{"environments": rules, "values": values}))
	}
	owner.put(path, constrained("a", "c")).refused(400, invalid("/data/attributes/environments/production/default"))
	owner.put(path, constrained("a", "b")).refused(400, invalid("/data/attributes/environments/production/rules/0/value"))
	if got := owner.put(path, constrained("a", "b", "c")).want(200); len(got.attribute("values").([]any)) != 3 {
		t.Errorf("got %s", got.body)
	}
	if got := owner.put(path, envelope("", "", flag("STRING", "free", attributes{"environments": rules}))).want(200); got.attribute("values") != nil {
		t.Errorf("got %s", got.body)
	}
}

func TestFlagValues_ChangedType(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag("retyped", inEnvironment("production", attributes{"default": true, "rules": serving(attributes{}, false)}))
	stale := attributes{"production": attributes{"default": true, "rules": serving(attributes{}, false)}}
	owner.put(path, envelope("", "", flag("STRING", false, attributes{"environments": stale, "values": []any{true}}))).refused(400,
		invalid("/data/attributes/default"), invalid("/data/attributes/values/0"),
		invalid("/data/attributes/environments/production/default"), invalid("/data/attributes/environments/production/rules/0/value"))
	if got := owner.put(path, envelope("", "", flag("STRING", "x", nil))).want(200); got.attribute("type") != "STRING" || got.attribute("values") != nil {
		t.Errorf("got %s", got.body)
	}
	if got := owner.evaluated("retyped", "production", nil).want(200); got.attribute("value") != "x" {
		t.Errorf("got %s", got.body)
	}
}

func TestFlag_ReplaceKeepsName(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag("named", attributes{"name": "Mine", "description": "D", "environments": attributes{"production": attributes{}}})
	got := owner.get(path).want(200)
	want := attributes{"enabled": true, "default": nil, "rules": []any{}}
	if difference := cmp.Diff(want, got.environment("production")); difference != "" {
		t.Errorf("an empty entry: want (-), got (+):\n%s", difference)
	}
	got = owner.put(path, envelope("", "", boolean(true, attributes{"environments": nil}))).want(200)
	if got.text("name") != "Mine" || got.attribute("description") != nil || !got.contains(`"environments":{}`) {
		t.Errorf("got %s", got.body)
	}
}
