package api_test

import (
	"testing"
)

// flagTransitions are the rows of the table of a flag's managed state, named
// after their From, Trigger and To.
var flagTransitions = []transition{
	{"none, bulk discovery: discovered", func(t *testing.T, owner client) {
		got := owner.get(owner.discoverFlag("found")).want(200)
		if got.attribute("managed") != false || len(got.attribute("environments").(map[string]any)) != 0 || got.text("name") != "Found" {
			t.Errorf("got %s", got.body)
		}
	}},
	{"none, POST: managed", func(t *testing.T, owner client) {
		for _, managed := range []attributes{nil, {"managed": true}, {"managed": nil}} {
			if got := owner.get(owner.makeFlag(unique("made"), managed)).want(200); got.attribute("managed") != true {
				t.Errorf("got %s", got.body)
			}
		}
	}},
	{"none, POST managed false: refused", func(_ *testing.T, owner client) {
		owner.post(flagsPath, envelope("", "made", boolean(false, attributes{"managed": false}))).refused(400, invalid("/data/attributes/managed"))
		owner.get(flagsPath + "/made").want(404)
	}},
	{"none, POST of a key in use: refused", func(_ *testing.T, owner client) {
		owner.discoverFlag("used")
		owner.post(flagsPath, envelope("", "used", boolean(false, nil))).refused(409, problem{code: "already_exists", source: "pointer /data/id"})
	}},
	{"none, PUT: not found", func(_ *testing.T, owner client) {
		owner.put(flagsPath+"/missing", envelope("", "", boolean(false, attributes{"managed": true}))).refused(404, problem{code: "not_found"})
	}},
	{"discovered, PUT managed true by MEMBER: managed, with environments at once", func(t *testing.T, owner client) {
		path := owner.discoverFlag("found")
		configured := boolean(true, inEnvironment("production", attributes{"enabled": false}))
		configured["managed"] = true
		got := owner.withRole("MEMBER").put(path, envelope("", "", configured)).want(200)
		if got.attribute("managed") != true || got.environment("production")["enabled"] != false {
			t.Errorf("got %s", got.body)
		}
	}},
	{"discovered, PUT without managed: stays discovered", func(t *testing.T, owner client) {
		path := owner.discoverFlag("found")
		for _, more := range []attributes{nil, {"managed": false}, {"environments": attributes{}}, {"environments": nil}, {"description": "x"}} {
			if got := owner.put(path, envelope("", "", boolean(true, more))).want(200); got.attribute("managed") != false {
				t.Errorf("got %s", got.body)
			}
		}
		owner.put(path, string(owner.get(path).want(200).body)).want(200)
	}},
	{"discovered, PUT with environments but not managed: refused", func(t *testing.T, owner client) {
		path := owner.discoverFlag("found")
		for _, more := range []attributes{{}, {"managed": false}} {
			more["environments"] = attributes{"production": attributes{"enabled": false}}
			owner.put(path, envelope("", "", boolean(false, more))).
				refused(400, problem{code: "flag_unmanaged", source: "pointer /data/attributes/environments"})
		}
		if got := owner.get(path); got.attribute("default") != false {
			t.Errorf("a refused write left something: %s", got.body)
		}
	}},
	{"managed, PUT managed false: refused and unchanged", func(t *testing.T, owner client) {
		path := owner.makeFlag("made", nil)
		before := owner.get(path).want(200)
		owner.put(path, envelope("", "", boolean(true, attributes{"managed": false}))).
			refused(409, problem{code: "flag_demotion_unsupported", source: "pointer /data/attributes/managed"})
		if after := owner.get(path); string(after.body) != string(before.body) {
			t.Errorf("a refused write left something: %s", after.body)
		}
	}},
	{"managed, PUT without managed or bulk discovery: stays managed", func(t *testing.T, owner client) {
		path := owner.makeFlag("made", nil)
		owner.put(path, envelope("", "", boolean(true, nil))).want(200)
		owner.declare(attributes{"id": "made", "type": "STRING", "default": "x"}).want(200)
		if got := owner.get(path); got.attribute("managed") != true || got.attribute("type") != "BOOLEAN" || got.attribute("default") != true {
			t.Errorf("got %s", got.body)
		}
	}},
	{"any, DELETE: removed, and the next discovery makes a discovered one", func(t *testing.T, owner client) {
		owner.makeFlag("made", attributes{"name": "Old", "description": "Old", "environments": attributes{"production": attributes{"enabled": false}}})
		owner.discoverFlag("found")
		for _, key := range []string{"made", "found"} {
			owner.delete(flagsPath + "/" + key).want(204)
			for _, gone := range []answer{owner.get(flagsPath + "/" + key), owner.delete(flagsPath + "/" + key), owner.get(flagsPath + "/" + key + "/sources"),
				owner.put(flagsPath+"/"+key, envelope("", "", boolean(false, nil))), owner.evaluated(key, "production", nil)} {
				gone.refused(404, problem{code: "not_found"})
			}
			owner.declare(attributes{"id": key, "type": "STRING", "default": "new"}).want(200)
			got := owner.get(flagsPath + "/" + key).want(200)
			if got.attribute("managed") != false || got.attribute("type") != "STRING" || got.attribute("default") != "new" ||
				len(got.attribute("environments").(map[string]any)) != 0 || got.attribute("description") != nil || got.text("name") == "Old" {
				t.Errorf("got %s", got.body)
			}
		}
		if ids := owner.get(sourcesPath).ids(); len(ids) != 2 {
			t.Errorf("got the sources %v, want those of the second life only", ids)
		}
	}},
}

func TestFlag_Transitions(t *testing.T) {
	t.Parallel()
	runTransitions(t, "free", flagTransitions)
}
