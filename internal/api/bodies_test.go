package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/jsonapi"
)

// body is a request document and the expected problem with it.
type body struct {
	name, text string
	problems   []problem
}

// shapes returns bodies with a wrong shape, which no rule of a resource is needed to
// refuse, and bodies without a required id.
func shapes(needsID bool) []body {
	whole := []problem{invalid("")}
	data, attributes := []problem{invalid("/data")}, []problem{invalid("/data/attributes")}
	if needsID {
		attributes = append(attributes, invalid("/data/id"))
	}
	return []body{
		{"nothing", "", whole},
		{"blanks", " \n\t", whole},
		{"half an object", `{"data":`, whole},
		{"a comma too many", `{"data":{"attributes":{"name":"a",}}}`, whole},
		{"two documents", `{"data":{}} {"data":{}}`, whole},
		{"a byte order mark", "\ufeff{}", whole},
		{"bytes that are not UTF-8", "{\"data\":{\"attributes\":{\"name\":\"\xff\"}}}", whole},
		{"a number JSON does not know", `{"data":{"attributes":{"name":NaN}}}`, whole},
		{"nesting without end", strings.Repeat(`{"data":`, 20_000) + "1" + strings.Repeat("}", 20_000), whole},
		{"an array", `[{"data":{}}]`, whole},
		{"null", `null`, whole},
		{"a string", `"data"`, whole},
		{"a number", `5`, whole},
		{"no data", `{}`, data},
		{"data in another case", `{"Data":{"attributes":{}}}`, data},
		{"data that is null", `{"data":null}`, data},
		{"data that is an array", `{"data":[]}`, data},
		{"data that is a string", `{"data":"environment"}`, data},
		{"no attributes", `{"data":{}}`, attributes},
		{"attributes that are null", `{"data":{"attributes":null}}`, attributes},
		{"attributes that are an array", `{"data":{"attributes":[]}}`, attributes},
		{"attributes beside data", `{"data":{},"attributes":{"name":"Q"}}`, attributes},
		{"another type and no attributes", `{"data":{"type":"flag"}}`, append(slices.Clip(attributes), invalid("/data/type"))},
	}
}

// newEnvironments returns bodies of POST /api/v1/environments.
func newEnvironments() []body {
	name := func(value string) string { return `{"data":{"id":"qa","attributes":{"name":` + value + `}}}` }
	with := func(more string) string { return `{"data":{"id":"qa","attributes":{"name":"Q",` + more + `}}}` }
	id := func(value string) string { return `{"data":{"id":` + value + `,"attributes":{"name":"Q"}}}` }
	noID, noName, noColor := []problem{invalid("/data/id")}, []problem{invalid("/data/attributes/name")}, []problem{invalid("/data/attributes/color")}
	return []body{
		{"another type", `{"data":{"id":"qa","type":"flag","attributes":{"name":"Q"}}}`, []problem{invalid("/data/type")}},
		{"a type in another case", `{"data":{"id":"qa","type":"Environment","attributes":{"name":"Q"}}}`, []problem{invalid("/data/type")}},
		{"a type that is a number", `{"data":{"id":"qa","type":1,"attributes":{"name":"Q"}}}`, []problem{invalid("/data/type")}},
		{"an id that is a number and no attributes", `{"data":{"id":5}}`, []problem{invalid("/data/id"), invalid("/data/attributes")}},
		{"no id", `{"data":{"attributes":{"name":"Q"}}}`, noID},
		{"an id that is null", id(`null`), noID},
		{"an id that is empty", id(`""`), noID},
		{"an id that is a number", id(`7`), noID},
		{"an id that starts with a dot", id(`".hidden"`), noID},
		{"an id with a slash", id(`"a/b"`), noID},
		{"an id with a line break at its end", id(`"qa\n"`), noID},
		{"an id with a zero byte", id(`"q\u0000a"`), noID},
		{"an id of 101 characters", id(`"` + strings.Repeat("a", 101) + `"`), noID},
		{"no name", `{"data":{"id":"qa","attributes":{}}}`, noName},
		{"a name that is null", name(`null`), noName},
		{"a name that is empty", name(`""`), noName},
		{"a name that is a number", name(`1`), noName},
		{"a name that is an array", name(`["Q"]`), noName},
		{"a name with a zero byte", name(`"a\u0000b"`), noName},
		{"a name of 256 characters", name(`"` + strings.Repeat("ä", 256) + `"`), noName},
		{"the last of two names counts", `{"data":{"id":"qa","attributes":{"name":"Q","name":7}}}`, noName},
		{"a color that is empty", with(`"color":""`), noColor},
		{"a color that is a word", with(`"color":"red"`), noColor},
		{"a color of two digits", with(`"color":"#12"`), noColor},
		{"a color of four digits", with(`"color":"#1234"`), noColor},
		{"a color of seven digits", with(`"color":"#1234567"`), noColor},
		{"a color with a line break at its end", with(`"color":"#123\n"`), noColor},
		{"a color that is a number", with(`"color":123`), noColor},
		{"a classification nobody knows", with(`"classification":"SOMETIMES"`), []problem{invalid("/data/attributes/classification")}},
		{"a classification that is a number", with(`"classification":1`), []problem{invalid("/data/attributes/classification")}},
		{"managed as a word", with(`"managed":"true"`), []problem{invalid("/data/attributes/managed")}},
		{"managed as a number", with(`"managed":1`), []problem{invalid("/data/attributes/managed")}},
		{
			"everything at once",
			`{"data":{"id":"-","type":"flag","attributes":{"name":"","color":"red","classification":"X","managed":0}}}`,
			[]problem{
				invalid("/data/id"), invalid("/data/type"), invalid("/data/attributes/name"), invalid("/data/attributes/color"),
				invalid("/data/attributes/classification"), invalid("/data/attributes/managed"),
			},
		},
	}
}

func TestEnvironment_InvalidBodies(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, c := range append(shapes(true), newEnvironments()...) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			owner.in(t).post(environmentsPath, c.text).refused(400, c.problems...)
		})
	}
}

func TestEnvironment_UnusualValidBodies(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for name, text := range map[string]string{
		"without a type":             `{"data":{"id":"%","attributes":{"name":"Q"}}}`,
		"with a type that is null":   `{"data":{"id":"%","type":null,"attributes":{"name":"Q"}}}`,
		"with unknown members":       `{"meta":{},"data":{"id":"%","links":{},"attributes":{"name":"Q","created_at":"never","more":[1]}}}`,
		"with a name of 255 letters": `{"data":{"id":"%","attributes":{"name":"` + strings.Repeat("ä", 255) + `"}}}`,
		"with blanks around it":      "\n\t {\"data\":{\"id\":\"%\",\"attributes\":{\"name\":\"Q\"}}} \r\n",
		"with escapes":               `{"\u0064ata":{"id":"%","attributes":{"n\u0061me":"\ud83d\ude80"}}}`,
		"with a short color":         `{"data":{"id":"%","attributes":{"name":"Q","color":"#aBc"}}}`,
		"with a long color":          `{"data":{"id":"%","attributes":{"name":"Q","color":"#aabbccdd"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			text = strings.Replace(text, "%", unique("fine"), 1)
			got := owner.in(t).post(environmentsPath, text, func(r *request) { r.offContract = strings.Contains(text, `"type":null`) })
			if got.status != 201 {
				t.Errorf("got %d, want 201: %s", got.status, got.body)
			}
		})
	}
}

// written is a route that takes a document of one resource.
type written struct {
	method  string
	path    func(owner client) string
	needsID bool
}

func is(path string) func(client) string { return func(client) string { return path } }

func writtenDocuments() map[string]written {
	return map[string]written{
		"PUT /api/v1/accounts/current":          {"PUT", is(accountPath), false},
		"PUT /api/v1/accounts/current/settings": {"PUT", is(settingsPath), false},
		"PUT /api/v1/users/current/settings":    {"PUT", is(ownSettingsPath), false},
		"POST /api/v1/api_keys":                 {"POST", is(keysPath), false},
		"PUT /api/v1/api_keys/{id}":             {"PUT", aKey, false},
		"POST /api/v1/environments":             {"POST", is(environmentsPath), true},
		"PUT /api/v1/environments/{id}":         {"PUT", anEnvironment, false},
		"POST /api/v1/services":                 {"POST", is(servicesPath), true},
		"POST /api/v1/context_types":            {"POST", is(typesPath), true},
		"PUT /api/v1/services/{id}":             {"PUT", aService, false},
		"PUT /api/v1/context_types/{id}":        {"PUT", aContextType, false},
		"PUT /api/v1/contexts/{id}":             {"PUT", aContext, false},
	}
}

func TestBody_SameRulesOnEveryRoute(t *testing.T) {
	t.Parallel()
	first := newOwner(t, "pro")
	for route, written := range writtenDocuments() {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			owner := first.in(t)
			path := written.path(owner)
			for _, shape := range shapes(written.needsID) {
				got := owner.send(written.method, path, shape.text)
				got.what += " with " + shape.name
				got.refused(400, shape.problems...)
			}
			got := owner.send(written.method, path, `{"data":{"id":"another","type":"nothing","attributes":{"name":"N"}}}`)
			if written.method == "PUT" {
				got.refused(400, invalid("/data/type"), invalid("/data/id"))
			} else {
				got.refused(400, invalid("/data/type"))
			}
			owner.send(written.method, path, strings.Repeat(" ", jsonapi.MaxBody)+" ").refused(413, problem{code: "payload_too_large"})
			for _, mediaType := range []string{"text/plain", "application/xml", "multipart/form-data; boundary=x", "nonsense", "application/json, text/plain"} {
				t.Run(mediaType, func(t *testing.T) {
					owner.in(t).send(written.method, path, `{"data":{"attributes":{}}}`, with("Content-Type", mediaType)).
						refused(415, problem{code: "unsupported_media_type"})
				})
			}
		})
	}
}

func TestBody_InvalidAttributes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	large := strings.Repeat("x", 64<<10)
	at := func(names ...string) []problem {
		var problems []problem
		for _, name := range names {
			problems = append(problems, invalid("/data/attributes/"+name))
		}
		return problems
	}
	cases := []struct {
		name, method string
		path         func(client) string
		attributes   attributes
		problems     []problem
	}{
		{"an account without a name", "PUT", is(accountPath), attributes{}, at("name")},
		{"an account with bad values", "PUT", is(accountPath), attributes{"name": 1, "key": "Not Ok", "plans": []int{}}, at("name", "key", "plans")},
		{"an account with a plan that is a number", "PUT", is(accountPath), attributes{"name": "A", "plans": attributes{"jobs": 1}}, at("plans/jobs")},
		{"an order that is a string", "PUT", is(settingsPath), attributes{"environment_order": "staging"}, at("environment_order")},
		{"an order of numbers", "PUT", is(ownSettingsPath), attributes{"environment_order": []int{1}}, at("environment_order")},
		{"a key without a name", "POST", is(keysPath), attributes{}, at("name")},
		{"a key with a long name", "PUT", aKey, attributes{"name": long}, at("name")},
		{"a key with a role nobody knows", "POST", is(keysPath), attributes{"name": "k", "role": "KING"}, at("role")},
		{"a key with an empty scope", "POST", is(keysPath), attributes{"name": "k", "scopes": attributes{"environments": []string{}}}, at("scopes/environments")},
		{"a key with scopes that are a list", "POST", is(keysPath), attributes{"name": "k", "scopes": []string{"staging"}}, at("scopes")},
		{"a key with a scope that is a string", "PUT", aKey, attributes{"name": "k", "scopes": attributes{"environments": "staging"}}, at("scopes/environments")},
		{"a key for an environment nobody knows", "PUT", aKey, attributes{"name": "k", "scopes": attributes{"environments": []string{"staging", "nowhere"}}}, at("scopes/environments")},
		{"a key with a scope nobody knows", "POST", is(keysPath), attributes{"name": "k", "scopes": attributes{"environment": []string{"staging"}}}, at("scopes/environment")},
		{"a key with a scope whose name needs escaping", "POST", is(keysPath), attributes{"name": "k", "scopes": attributes{"a/b~c": 1}}, at("scopes/a~1b~0c")},
		{"a key that has expired", "POST", is(keysPath), attributes{"name": "k", "expires_at": "2001-01-01T00:00:00Z"}, at("expires_at")},
		{"a key that expires some day", "POST", is(keysPath), attributes{"name": "k", "expires_at": "some day"}, at("expires_at")},
		{"a key that expires on a day there is not", "POST", is(keysPath), attributes{"name": "k", "expires_at": "2031-02-29T00:00:00Z"}, at("expires_at")},
		{"a key that expires at a number", "PUT", aKey, attributes{"name": "k", "expires_at": 1893456000}, at("expires_at")},
		{"a key that is all wrong", "POST", is(keysPath), attributes{"name": "", "role": 1, "scopes": attributes{"x": 1, "environments": []string{}}, "expires_at": true},
			at("name", "role", "scopes/x", "scopes/environments", "expires_at")},
		{"an environment without a name", "PUT", anEnvironment, attributes{"managed": true}, at("name")},
		{"a service with a long name", "PUT", aService, attributes{"name": long}, at("name")},
		{"a service with an empty name", "PUT", aService, attributes{"name": ""}, at("name")},
		{"a service without an id", "POST", is(servicesPath), attributes{}, []problem{invalid("/data/id")}},
		{"a context type with attributes that are a list", "PUT", aContextType, attributes{"attributes": []string{"plan"}}, at("attributes")},
		{"a context type with large attributes", "PUT", aContextType, attributes{"attributes": attributes{"a": large}}, at("attributes")},
		{"a context with a long name", "PUT", aContext, attributes{"name": long}, at("name")},
		{"a context with a name that is a number", "PUT", aContext, attributes{"name": 5}, at("name")},
		{"large settings", "PUT", is(settingsPath), attributes{"a": strings.Repeat(large, 5)}, []problem{invalid("/data/attributes")}},
	}
	owner := newOwner(t, "pro")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			owner.in(t).send(c.method, c.path(owner.in(t)), envelope("", "", c.attributes)).refused(400, c.problems...)
		})
	}
	t.Run("a service whose id has control characters", func(t *testing.T) {
		t.Parallel()
		owner.in(t).post(servicesPath, envelope("", "a\nb", attributes{})).refused(400, invalid("/data/id"))
	})
	t.Run("bare settings have no envelope to point into", func(t *testing.T) {
		t.Parallel()
		bare := with("Content-Type", "application/json")
		owner.in(t).put(settingsPath, `{"environment_order":7}`, bare).refused(400, invalid("/environment_order"))
		owner.in(t).put(settingsPath, `[]`, bare).refused(400, invalid(""))
	})
}
