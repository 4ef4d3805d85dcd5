package api_test

import (
	"testing"
)

// TestErrors_AllProblemsAtOnce: problems of the envelope, and problems that only the database
// knows, are reported together.
func TestErrors_AllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	problems := func(attributes ...string) []problem {
		var made []problem
		for _, each := range attributes {
			made = append(made, invalid("/data/attributes/"+each))
		}
		return made
	}
	frozen := attributes{"staging": attributes{"level": "INFO"}, "nowhere": attributes{"level": "LOUD"}}
	cases := []struct {
		name, method, path, body string
		problems                 []problem
	}{
		{"a flag of nothing", "POST", flagsPath, `{"data":{"type":"flag","attributes":{}}}`, append(problems("type", "default"), invalid("/data/id"))},
		{"a job of another type", "POST", jobsPath, `{"data":{"type":"flag"}}`, []problem{invalid("/data/type"), invalid("/data/attributes"), invalid("/data/id")}},
		{"a flag without attributes", "PUT", flagsPath + "/flag", `{"data":{"id":"zz"}}`, []problem{invalid("/data/id"), invalid("/data/attributes")}},
		{"a logger", "PUT", loggersPath + "/logger", envelope("logger", "zz", attributes{"level": "X", "group": "nobody", "environments": frozen}),
			append(problems("level", "group", "environments/nowhere/level"), invalid("/data/id"), unmanaged("staging"), unmanaged("nowhere"))},
		{"a new logger", "PUT", loggersPath + "/another", envelope("", "", attributes{"name": "", "group_id": "nobody", "environments": frozen}),
			append(problems("name", "group_id", "environments/nowhere/level"), unmanaged("staging"), unmanaged("nowhere"))},
		{"a logger that is released", "PUT", loggersPath + "/logger", envelope("", "", attributes{"name": "", "managed": false, "group": "nobody"}), problems("name")},
		{"a new group", "POST", groupsPath, envelope("", "", attributes{"level": "X", "level_ttl_seconds": 1e300, "environments": frozen}),
			append(problems("level", "level_ttl_seconds", "environments/nowhere/level"), invalid("/data/id"), unmanaged("staging"), unmanaged("nowhere"))},
		{"a group", "PUT", groupsPath + "/group", envelope("", "", attributes{"level": "INFO", "level_expires_at": "2001-01-01T00:00:00Z", "name": "", "environments": frozen}),
			append(problems("level_expires_at", "name", "environments/nowhere/level"), unmanaged("staging"), unmanaged("nowhere"))},
		{"a new flag", "POST", flagsPath, envelope("flag", "-", attributes{"default": true, "environments": attributes{"staging": attributes{"default": 1}}}),
			append(problems("type"), invalid("/data/id"), unmanaged("staging"))},
		{"a flag", "PUT", flagsPath + "/flag", envelope("", "", attributes{"type": "NUMERIC", "default": 1, "name": "", "environments": attributes{"nowhere": attributes{}}}),
			append(problems("name", "environments/frozen/default"), unmanaged("nowhere"))},
		{"a flag that is right by itself", "PUT", flagsPath + "/flag", envelope("", "", attributes{"type": "NUMERIC", "default": 1, "environments": attributes{"nowhere": attributes{}}}),
			append(problems("environments/frozen/default"), unmanaged("nowhere"))},
		{"a discovered flag", "PUT", flagsPath + "/seen", envelope("", "", attributes{"type": "X", "default": true, "environments": attributes{"nowhere": attributes{}}}),
			append(problems("type"), unmanaged("nowhere"), problem{code: "flag_unmanaged", source: "pointer /data/attributes/environments"})},
		{"a new config", "POST", configsPath, envelope("", "", attributes{"name": "", "parent": "nobody", "environments": attributes{"staging": attributes{"a": 1}}}),
			append(problems("name", "parent"), invalid("/data/id"), unmanaged("staging"))},
		{"a new config below common, which is not there", "POST", configsPath, envelope("", "c", attributes{"name": "", "environments": attributes{"production": attributes{"a": 1}}}),
			problems("name", "environments/production/a")},
		{"a config", "PUT", configsPath + "/config", envelope("", "", attributes{"name": "", "environments": attributes{"staging": attributes{"a": 1}, "production": attributes{"b": 1, "a": "x"}},
			"items": attributes{"a": attributes{"value": 1}}}), append(problems("name", "environments/production/a", "environments/production/b"), unmanaged("staging"))},
		{"a config of wrong items", "PUT", configsPath + "/config", envelope("", "", attributes{"parent": "nobody", "environments": attributes{"staging": attributes{"a": 1}},
			"items": attributes{"a": attributes{"value": 1, "type": "X"}}}), append(problems("parent", "items/a/type"), unmanaged("staging"))},
	}
	owner := newOwner(t, "pro")
	owner.setLogger("logger", attributes{"level": "WARN"})
	owner.makeGroup("group", attributes{"level": "WARN"})
	owner.makeEnvironment("frozen")
	owner.makeFlag("flag", attributes{"type": "BOOLEAN", "default": true, "environments": attributes{"frozen": attributes{"default": false}}})
	owner.put(environmentsPath+"/frozen", envelope("", "", attributes{"name": "frozen", "managed": false})).want(200)
	owner.declare(attributes{"id": "seen", "type": "BOOLEAN", "default": true}).want(200)
	owner.post(configsPath, envelope("config", "config", attributes{"parent": nil, "items": items(attributes{"a": 1})})).want(201)
	before := owner.latest().ID
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := owner.in(t).send(c.method, c.path, c.body, offContract)
			got.what += ", " + c.name
			got.refused(400, c.problems...)
		})
	}
	if after := owner.latest().ID; after != before {
		t.Errorf("what was refused changed something: %s after %s", after, before)
	}
}
