package api_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func unmanaged(environment string) problem {
	return problem{code: "environment_unmanaged", source: "pointer /data/attributes/environments/" + environment, meta: map[string]any{"environment": environment}}
}

func TestFlag_UnmanagedEnvironment(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag("made", nil)
	for _, environment := range []string{"staging", "nowhere"} {
		t.Run(environment, func(t *testing.T) {
			owner := owner.in(t)
			sent := boolean(true, inEnvironment(environment, attributes{}))
			owner.post(flagsPath, envelope("", "refused", sent)).refused(400, unmanaged(environment))
			owner.put(path, envelope("", "", sent)).refused(400, unmanaged(environment))
		})
	}
	both := boolean(true, attributes{"environments": attributes{"staging": attributes{}, "production": attributes{}, "nowhere": attributes{}}})
	owner.put(path, envelope("", "", both)).refused(400, unmanaged("nowhere"), unmanaged("staging"))
	if got := owner.get(path); got.attribute("default") != false {
		t.Errorf("a refused write left something: %s", got.body)
	}
	owner.get(flagsPath + "/refused").want(404)
}

// frozen makes an environment with a value for a flag and demotes it.
func frozen(owner client, key string) attributes {
	owner.makeEnvironment("qa")
	value := attributes{"enabled": true, "default": true, "rules": []attributes{{"description": "d", "logic": equals("user.key", 1), "value": false}}}
	owner.makeFlag(key, inEnvironment("qa", value))
	owner.put(environmentsPath+"/qa", envelope("", "", attributes{"name": "QA", "managed": false})).want(200)
	return value
}

func TestFlag_FrozenValues(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	value := frozen(owner, "frozen")
	path := flagsPath + "/frozen"
	before := owner.get(path).want(200).environment("qa")
	spelled := attributes{"default": true, "rules": []attributes{{"value": false, "description": "d", "logic": equals("user.key", jsonNumber("1.0"))}}}
	for _, more := range []attributes{inEnvironment("qa", value), inEnvironment("qa", spelled), nil, inEnvironment("production", attributes{"enabled": false})} {
		got := owner.put(path, envelope("", "", boolean(false, more))).want(200)
		if difference := cmp.Diff(before, got.environment("qa")); difference != "" {
			t.Errorf("want (-), got (+):\n%s", difference)
		}
	}
	if got := owner.evaluated("frozen", "qa", attributes{"user": attributes{"key": 2}}).want(200); got.attribute("value") != true {
		t.Errorf("a frozen value is not served: %s", got.body)
	}
	for _, changed := range []attributes{{"enabled": false, "default": true, "rules": value["rules"]}, {"default": true}, {"rules": value["rules"]}, {}} {
		t.Run(fmt.Sprint(changed), func(t *testing.T) {
			owner.in(t).put(path, envelope("", "", boolean(false, inEnvironment("qa", changed)))).refused(400, unmanaged("qa"))
		})
	}
	owner.makeFlag("other", nil)
	owner.put(flagsPath+"/other", envelope("", "", boolean(false, inEnvironment("qa", value)))).refused(400, unmanaged("qa"))
	// A new type must fit the values of frozen environments.
	owner.put(path, envelope("", "", flag("STRING", "x", nil))).refused(400, invalid("/data/attributes/environments/qa/default"),
		invalid("/data/attributes/environments/qa/rules/0/value"))
	owner.put(environmentsPath+"/qa", envelope("", "", attributes{"name": "QA", "managed": true})).want(200)
	if got := owner.put(path, envelope("", "", boolean(false, nil))).want(200); got.environment("qa") != nil {
		t.Errorf("thawed and left out, it is still there: %s", got.body)
	}
}

func TestFlag_DeletedEnvironment(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	configured := attributes{"environments": attributes{
		"qa":         attributes{"default": true, "rules": append(serving(equals("user.key", "a"), true), serving(equals("user.key", "b"), true)...)},
		"production": attributes{"default": true, "rules": serving(equals("tenant.key", "a"), true)},
	}}
	counts := func(rules, defaults float64) {
		t.Helper()
		got := owner.get(environmentsPath + "/qa/usage").want(200)
		if got.attribute("flag_rules") != rules || got.attribute("flag_env_defaults") != defaults {
			t.Errorf("got %s, want %v rules and %v defaults", got.body, rules, defaults)
		}
	}
	owner.makeEnvironment("qa")
	counts(0, 0)
	path := owner.makeFlag("configured", configured)
	owner.makeFlag("other", inEnvironment("qa", attributes{"enabled": false}))
	counts(2, 1)
	owner.delete(environmentsPath + "/qa").want(204)
	if got := owner.get(path).want(200); got.environment("qa") == nil {
		t.Errorf("without cascade the value is gone: %s", got.body)
	}
	owner.makeEnvironment("qa")
	counts(2, 1)
	tag := owner.get(path).header.Get("Etag")
	owner.delete(environmentsPath + "/qa?cascade=true").want(204)
	for _, key := range []string{"configured", "other"} {
		t.Run(key, func(t *testing.T) {
			if got := owner.in(t).get(flagsPath + "/" + key).want(200); got.environment("qa") != nil {
				t.Errorf("with cascade the value is there: %s", got.body)
			}
		})
	}
	got := owner.get(path)
	if got.environment("production") == nil || got.header.Get("Etag") == tag {
		t.Errorf("got %s", got.body)
	}
	if ids := owner.get(flagsPath + "?references_context_type=user").ids(); len(ids) != 0 {
		t.Errorf("stripped rules are still found: %v", ids)
	}
}

func TestFlag_ScopedKey(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeEnvironment("qa")
	off, on := attributes{"enabled": false}, attributes{"enabled": true}
	path := owner.makeFlag("scoped", attributes{"description": "D", "environments": attributes{"production": on, "qa": on}})
	for _, role := range []string{"MEMBER", "ADMIN"} {
		t.Run(role, func(t *testing.T) {
			owner := owner.in(t)
			scoped := owner.as(owner.makeKey(attributes{"role": role, "scopes": attributes{"environments": []string{"qa"}}}).secret)
			sent := func(base bool, production, qa any, more attributes) string {
				wanted := boolean(base, attributes{"description": "D", "environments": attributes{}})
				for key, value := range map[string]any{"production": production, "qa": qa} {
					if value != nil {
						wanted["environments"].(attributes)[key] = value
					}
				}
				maps.Copy(wanted, more)
				return envelope("", "", wanted)
			}
			for what, body := range map[string]string{
				"the default": sent(true, on, on, nil), "the name": sent(false, on, off, attributes{"name": "N"}),
				"the description":     sent(false, on, off, attributes{"description": "E"}),
				"the labels":          sent(false, on, off, attributes{"values": []any{labeled("On", true), labeled("Off", false)}}),
				"another environment": sent(false, off, off, nil), "an environment that is left out": sent(false, nil, on, nil),
			} {
				t.Run(what, func(t *testing.T) {
					if got := scoped.in(t).put(path, body); got.status != 403 {
						t.Errorf("%s changes %s: got %d: %s", role, what, got.status, got.body)
					}
				})
			}
			for _, body := range []string{sent(false, on, off, nil), sent(false, on, nil, nil), sent(false, on, on, attributes{"managed": true}), sent(false, on, on, nil)} {
				scoped.put(path, body).want(200)
			}
			scoped.delete(path).refused(403, problem{code: "forbidden"})
			scoped.put(owner.discoverFlag(unique("found")), envelope("", "", boolean(false, attributes{"managed": true}))).refused(403, problem{code: "forbidden"})
		})
	}
}
