package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

func requireSame(t testing.TB, got, want any) {
	t.Helper()
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
}

func TestConfig_Lifecycle(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	made := owner.post(configsPath, envelope("config", "checkout", attributes{"items": attributes{
		"timeout": attributes{"value": 1.5, "type": "number", "description": "Seconds"}, "name": item("x"),
	}, "environments": attributes{"production": attributes{"timeout": 2, "name": nil}, "staging": attributes{}}})).want(201)
	created := made.data().Attributes
	delete(created, "created_at")
	delete(created, "updated_at")
	requireSame(t, created, attributes{
		"name": "checkout", "description": nil, "parent": "common",
		"items": attributes{
			"timeout": attributes{"value": 1.5, "type": "NUMBER", "description": "Seconds"},
			"name":    attributes{"value": "x", "type": "STRING", "description": nil},
		},
		"environments": attributes{"production": attributes{"timeout": 2.0}},
	})
	owner.post(configsPath, envelope("config", "checkout", attributes{})).refused(409, problem{code: "already_exists", source: "pointer /data/id"})
	requireSame(t, owner.get(configsPath).want(200).ids(), []string{"checkout", "common"})

	replaced := owner.put(configsPath+"/checkout", envelope("config", "checkout", attributes{
		"name": "Checkout", "description": "Buying", "parent": nil, "items": items(attributes{"a": true}), "unknown": 1,
	}), with("If-Match", made.header.Get("Etag"))).want(200)
	requireSame(t, []any{replaced.attribute("parent"), replaced.attribute("environments"), replaced.attribute("name")}, []any{nil, attributes{}, "Checkout"})
	requireSame(t, owner.get(configsPath+"?filter[parent]=common").want(200).ids(), []string{})
	requireSame(t, owner.get(configsPath+"?filter[parent]=").want(200).ids(), []string{"checkout", "common"})
	requireSame(t, owner.get(configsPath+"?parent=common&filter[search]=CHECK").want(200).ids(), []string{})
	owner.put(configsPath+"/checkout", envelope("config", "", attributes{"name": "x"}), with("If-Match", made.header.Get("Etag"))).
		refused(412, problem{code: "version_mismatch"})
	owner.put(configsPath+"/nothing", envelope("", "", attributes{})).refused(404, problem{code: "not_found"})
	owner.put(configsPath+"/checkout", envelope("config", "other", attributes{})).refused(400, invalid("/data/id"))

	owner.makeConfig("child", attributes{"parent": "checkout"})
	owner.delete(configsPath+"/checkout").refused(409, problem{code: "config_in_use"})
	owner.delete(configsPath+"/common").refused(409, problem{code: "config_protected"})
	owner.delete(configsPath + "/child").want(204)
	owner.delete(configsPath + "/checkout").want(204)
	owner.get(configsPath+"/checkout").refused(404, problem{code: "not_found"})
	owner.delete(configsPath+"/checkout").refused(404, problem{code: "not_found"})
}

func TestConfig_InvalidBodies(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeConfig("parent", attributes{"items": items(attributes{"port": 1, "db": attributes{}})})
	for name, each := range map[string]struct {
		attributes string
		want       []problem
	}{
		"other JSON types": {`{"name":1,"description":[],"parent":{},"items":[],"environments":"x"}`,
			[]problem{invalid("/data/attributes/name"), invalid("/data/attributes/description"), invalid("/data/attributes/parent"),
				invalid("/data/attributes/items"), invalid("/data/attributes/environments")}},
		"other JSON types of items": {`{"items":{"a":1,"b":null,"c":{},"d":{"value":1,"type":2,"description":3,"schema":4},"e/f~":{"type":"STRING"}}}`,
			[]problem{invalid("/data/attributes/items/a"), invalid("/data/attributes/items/b"), invalid("/data/attributes/items/c/value"),
				invalid("/data/attributes/items/d/type"), invalid("/data/attributes/items/d/description"), invalid("/data/attributes/items/d/schema"),
				invalid("/data/attributes/items/e~1f~0/value")}},
		"other JSON types of environments": {`{"environments":{"production":null,"staging":[1]}}`,
			[]problem{invalid("/data/attributes/environments/production"), invalid("/data/attributes/environments/staging")}},
		"no parent":               {`{"parent":"nobody"}`, []problem{invalid("/data/attributes/parent")}},
		"an empty parent":         {`{"parent":""}`, []problem{invalid("/data/attributes/parent")}},
		"types that do not agree": {`{"parent":"parent","items":{"port":{"value":"1"}}}`, []problem{invalid("/data/attributes/items/port/type")}},
		"environments that take nothing, and more": {`{"parent":"parent","environments":{"staging":{"port":1},"nowhere":{"port":1},"production":{"port":"x","none":1}}}`,
			[]problem{{code: "environment_unmanaged", source: "pointer /data/attributes/environments/staging", meta: attributes{"environment": "staging"}},
				{code: "environment_unmanaged", source: "pointer /data/attributes/environments/nowhere", meta: attributes{"environment": "nowhere"}},
				invalid("/data/attributes/environments/production/port"), invalid("/data/attributes/environments/production/none")}},
		"a schema that is none": {`{"items":{"a":{"value":{},"schema":{"properties":{"b":{"minimum":"0"}}}}}}`,
			[]problem{invalid("/data/attributes/items/a/schema/properties/b/minimum")}},
		"a value that does not fit": {`{"items":{"a":{"value":{"b":[1,"x"]},"schema":{"properties":{"b":{"items":{"type":"integer"}}}}}},"environments":{"production":{"a":{"b":[2]}}}}`,
			[]problem{invalid("/data/attributes/items/a/value/b/1")}},
		"an override that does not fit": {`{"items":{"a":{"value":{"b":[1]},"schema":{"properties":{"b":{"items":{"type":"integer"}}}}}},"environments":{"production":{"a":{"b":[2,{}]}}}}`,
			[]problem{invalid("/data/attributes/environments/production/a/b/1")}},
	} {
		t.Run(name, func(t *testing.T) {
			owner.in(t).post(configsPath, `{"data":{"id":"wrong","type":"config","attributes":`+each.attributes+`}}`).refused(400, each.want...)
			owner.in(t).get(configsPath + "/wrong").want(404)
		})
	}
	owner.post(configsPath, `{"data":{"attributes":{}}}`).refused(400, invalid("/data/id"))
	owner.post(configsPath, envelope("", "a b", attributes{})).refused(400, invalid("/data/id"))
}

func TestConfig_ChangeThatBreaksDescendant(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	base := items(attributes{"port": 1, "host": "a"})
	path := owner.makeConfig("base", attributes{"items": base})
	owner.makeConfig("child", attributes{"parent": "base", "items": attributes{}})
	owner.makeConfig("grandchild", attributes{"parent": "child", "items": attributes{},
		"environments": attributes{"production": attributes{"port": 2}}})
	for pointer, body := range map[string]attributes{
		"items/port":      {"items": items(attributes{"host": "a"})},
		"items/port/type": {"items": items(attributes{"host": "a", "port": "1"})},
	} {
		t.Run(pointer, func(t *testing.T) {
			got := owner.in(t).put(path, envelope("", "", body))
			got.refused(400, invalid("/data/attributes/"+pointer))
			if !got.contains(`\"grandchild\"`) || !got.contains(`\"port\"`) || !got.contains("production") {
				t.Errorf("it does not say what breaks: %s", got.body)
			}
		})
	}
	got := owner.put(configsPath+"/child", envelope("", "", attributes{"parent": nil}))
	got.refused(400, invalid("/data/attributes/parent"))
	owner.put(path, envelope("", "", attributes{"parent": "grandchild", "items": base})).refused(400, invalid("/data/attributes/parent"))
}

func TestConfig_Resolved(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.put(environmentsPath+"/staging", envelope("", "", attributes{"name": "Staging", "managed": true})).want(200)
		owner.put(configsPath+"/common", envelope("", "", attributes{
			"items":        items(attributes{"log": attributes{"level": "info", "to": attributes{"file": "a", "color": true}}, "region": "eu"}),
			"environments": attributes{"production": attributes{"log": attributes{"level": "warn"}, "region": "us"}},
		})).want(200)
		owner.makeConfig("shop", attributes{
			"items":        items(attributes{"log": attributes{"to": attributes{"file": "shop"}}, "retries": 3}),
			"environments": attributes{"production": attributes{"retries": 5}, "staging": attributes{"log": attributes{"to": nil}}},
		})
		origin := func(config, source string) attributes { return attributes{"config": config, "source": source} }
		for environment, want := range map[string]attributes{
			"": {"environment": nil,
				"values":  attributes{"log": attributes{"level": "info", "to": attributes{"file": "shop", "color": true}}, "region": "eu", "retries": 3.0},
				"origins": attributes{"log": origin("shop", "base"), "region": origin("common", "base"), "retries": origin("shop", "base")}},
			"production": {"environment": "production",
				"values":  attributes{"log": attributes{"level": "warn", "to": attributes{"file": "shop", "color": true}}, "region": "us", "retries": 5.0},
				"origins": attributes{"log": origin("shop", "base"), "region": origin("common", "environment"), "retries": origin("shop", "environment")}},
			"staging": {"environment": "staging",
				"values":  attributes{"log": attributes{"level": "info", "to": nil}, "region": "eu", "retries": 3.0},
				"origins": attributes{"log": origin("shop", "environment"), "region": origin("common", "base"), "retries": origin("shop", "base")}},
		} {
			t.Run(fmt.Sprintf("%q", environment), func(t *testing.T) {
				owner := owner.in(t)
				for range 2 { // the second time the response is kept
					got := owner.resolved("shop", environment).data()
					requireSame(t, []any{got.ID, got.Type, got.Attributes}, []any{"shop", "resolved_config", want})
				}
			})
		}
		tag := owner.resolved("shop", "production").header.Get("Etag")
		owner.put(configsPath+"/common", envelope("", "", attributes{"items": items(attributes{"region": "af"})})).want(200)
		changed := owner.resolved("shop", "production")
		if changed.header.Get("Etag") == tag {
			t.Error("the tag is still the same after an ancestor changed")
		}
		requireSame(t, changed.attribute("values").(attributes)["region"], any("af"))
		for _, wrong := range []string{"nowhere", "", "Production"} {
			t.Run(fmt.Sprintf("%q", wrong), func(t *testing.T) {
				owner.in(t).get(configsPath+"/shop/resolved?environment="+wrong).refused(400, wrongParameter("environment"))
			})
		}
		owner.get(configsPath+"/nothing/resolved").refused(404, problem{code: "not_found"})
		owner.get(configsPath+"/shop/resolved?filter[x]=1").refused(400, wrongParameter("filter[x]"))
		owner.delete(environmentsPath + "/staging").want(204)
		owner.get(configsPath+"/shop/resolved?environment=staging").refused(400, wrongParameter("environment"))
	})
}

func TestConfig_FirstReadCreatesCommon(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	viewer := owner.withRole("VIEWER")
	requireSame(t, viewer.get(configsPath).want(200).ids(), []string{"common"})
	change := owner.latest().Attributes
	requireSame(t, []any{change["kind"], change["key"], change["action"], change["actor"]},
		[]any{"config", "common", "created", attributes{"type": "system", "id": "signalbox", "name": "Signalbox"}})
	seq := owner.seq()
	viewer.get(configsPath).want(200)
	viewer.get(configsPath + "/common").want(200)
	requireSame(t, owner.seq(), seq)
}

func TestConfig_PlanLimit(t *testing.T) {
	t.Parallel()
	free := newOwner(t, "free")
	for i := range 9 { // and common
		free.makeConfig(fmt.Sprint("config-", i), nil)
	}
	free.post(configsPath, envelope("config", "one-more", attributes{})).refused(402, problem{code: "entitlement_limit_reached",
		meta: attributes{"limit_key": "config.items", "current": 10.0, "maximum": 10.0, "plan": "free"}})
	free.put(configsPath+"/config-0", envelope("", "", attributes{"name": "still"})).want(200)
	free.delete(configsPath + "/config-0").want(204)
	free.makeConfig("one-more", nil)
}

func TestConfig_ScopedKey(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	scoped := owner.as(owner.makeKey(attributes{"role": "MEMBER", "scopes": attributes{"environments": []string{"production"}}}).secret)
	path := owner.makeConfig("shop", attributes{"items": items(attributes{"a": 1})})
	body := func(base, override any) string {
		return envelope("", "", attributes{"items": items(attributes{"a": base}), "environments": attributes{"production": attributes{"a": override}}})
	}
	scoped.put(path, body(1, 2)).want(200)
	scoped.put(path, body(2, 2)).refused(403, problem{code: "forbidden"})
	scoped.post(configsPath, envelope("config", "mine", attributes{})).refused(403, problem{code: "forbidden"})
	scoped.delete(path).refused(403, problem{code: "forbidden"})
	requireSame(t, scoped.resolved("shop", "production").attribute("values"), any(attributes{"a": 2.0}))
}

func TestConfig_UsageAndCascade(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	environment := owner.makeEnvironment("qa")
	for _, key := range []string{"a", "b"} {
		owner.makeConfig(key, attributes{"items": items(attributes{"x": 1, "y": 2}), "environments": attributes{"qa": attributes{"x": 3, "y": 4}}})
	}
	requireSame(t, owner.get(environment+"/usage").want(200).attribute("config_overrides"), any(4.0))
	seq := owner.seq()
	owner.delete(environment + "?cascade=true").want(204)
	requireSame(t, owner.seq()-seq, 4) // two configs, the one for all, the environment
	requireSame(t, owner.get(configsPath+"/a").attribute("environments"), any(attributes{}))
	kept := owner.makeEnvironment("kept")
	owner.put(configsPath+"/a", envelope("", "", attributes{"items": items(attributes{"x": 1}), "environments": attributes{"kept": attributes{"x": 2}}})).want(200)
	owner.delete(kept).want(204)
	requireSame(t, owner.get(configsPath+"/a").attribute("environments"), any(attributes{"kept": attributes{"x": 2.0}}))
}

func TestConfig_KeepsSpelling(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	const schema = `{"type":["object","null"],"minProperties":1.0,"$comment":"<a> & \u00fc"}`
	const value = `{"z":1.50,"a":12345678901234567890.1,"t":"<&>"}`
	made := owner.post(configsPath, `{"data":{"id":"exact","attributes":{"items":{"a":{"value":`+value+`,"schema":`+schema+`}},"environments":{"production":{"a":{"z":2.0}}}}}}`).want(201)
	for _, got := range []answer{made, owner.get(configsPath + "/exact").want(200)} {
		for _, text := range []string{`"schema":` + schema, `"value":` + value, `{"production":{"a":{"z":2.0}}}`} {
			if !got.contains(text) {
				t.Errorf("%s has no %s", got.body, text)
			}
		}
	}
	if got := owner.resolved("exact", "production"); !got.contains(`"values":{"a":{"z":2.0,"a":12345678901234567890.1,"t":"<&>"}}`) {
		t.Errorf("got %s", got.body)
	}
}

func TestConfig_HostileSchema(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"))
	value := json.RawMessage(strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60))
	twice := attributes{"properties": attributes{"a": attributes{"$ref": "#"}}}
	owner.post(configsPath, envelope("config", "hostile", attributes{"items": attributes{
		"a": attributes{"value": value, "schema": attributes{"allOf": []any{twice, twice}}},
	}})).refused(400, invalid("/data/attributes/items/a/schema/allOf/0/properties/a/$ref"))
	for _, reference := range []string{"https://example.com/x", "file:///etc/passwd", "http://169.254.169.254/", "other.json"} {
		t.Run(reference, func(t *testing.T) {
			owner.in(t).post(configsPath, envelope("config", "hostile", attributes{"items": attributes{
				"a": attributes{"value": 1, "type": "JSON", "schema": attributes{"$ref": reference}},
			}})).refused(400, invalid("/data/attributes/items/a/schema/$ref"))
		})
	}
}
