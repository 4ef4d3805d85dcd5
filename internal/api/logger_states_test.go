package api_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// loggerTransitions are the rows of the table of a logger's managed state,
// named after their From, Trigger, Condition and To.
var loggerTransitions = []transition{
	{"discovered, PUT setting level, group or environments: managed", func(t *testing.T, owner client) {
		owner.makeGroup("sql", attributes{})
		for name, wanted := range map[string]attributes{
			"level": {"level": "debug"}, "group": {"group": "sql"}, "group_id": {"group_id": "sql"},
			"environments": levelIn("production", "TRACE"), "managed": {"managed": true, "level": "INFO"},
		} {
			path := owner.discoverLogger("found."+name, "INFO")
			got := owner.withRole("MEMBER").put(path, envelope("", "", wanted)).want(200)
			if got.attribute("managed") != true {
				t.Errorf("%s: got %s", name, got.body)
			}
		}
	}},
	{"discovered, PUT with managed false: stays discovered, with nothing set", func(t *testing.T, owner client) {
		path := owner.discoverLogger("found", "INFO")
		wanted := levelIn("production", "TRACE")
		wanted["managed"], wanted["level"] = false, "DEBUG"
		requireLogger(t, owner.put(path, envelope("", "", wanted)), false, nil, nil, 0)
	}},
	{"discovered, PUT at the cap: 402, stays discovered", func(t *testing.T, owner client) {
		for i := range 15 {
			owner.setLogger(fmt.Sprintf("slot%d", i), attributes{"level": "INFO"})
		}
		refused := problem{code: "entitlement_limit_reached",
			meta: map[string]any{"limit_key": "logging.managed_loggers", "current": 15.0, "maximum": 15.0, "plan": "free"}}
		path := owner.discoverLogger("found", "INFO")
		owner.put(path, envelope("", "", attributes{"level": "DEBUG"})).refused(402, refused)
		requireLogger(t, owner.get(path), false, "INFO", nil, 0)
		owner.put(loggersPath+"/new", envelope("", "", attributes{"level": "DEBUG"})).refused(402, refused)
		owner.get(loggersPath + "/new").want(404)
		owner.put(loggersPath+"/slot0", envelope("", "", attributes{"level": "WARN"})).want(200) // takes no slot
		owner.put(loggersPath+"/slot0", envelope("", "", attributes{"managed": false})).want(200)
		owner.put(path, envelope("", "", attributes{"level": "DEBUG"})).want(200)
		owner.delete(loggersPath + "/slot1").want(204)
		owner.put(loggersPath+"/new", envelope("", "", attributes{"level": "DEBUG"})).want(200)
	}},
	{"discovered, first promotion: one-time cascade to unmanaged descendants", func(t *testing.T, owner client) {
		owner.observe(attributes{"id": "a", "level": "INFO"}, attributes{"id": "a.b", "level": "WARN"}, attributes{"id": "a/b:C", "level": "ERROR"},
			attributes{"id": "a.none"}, attributes{"id": "ab", "level": "WARN"}, attributes{"id": "a-b", "level": "WARN"}, attributes{"id": "a.kept", "level": "WARN"}).want(200)
		owner.setLogger("a.kept", attributes{"level": "FATAL"})
		seq := owner.seq()
		owner.setLogger("a", attributes{"level": "DEBUG"})
		if diff := cmp.Diff([][3]any{{"logger", "a", "updated"}, {"logger", "*", "cascaded"}}, owner.changesAfter(seq)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]any{"keys": []any{"a.b", "a.b.c"}, "cause": "logger:a"}, owner.latest().Attributes["after"]); diff != "" {
			t.Error(diff)
		}
		for key, want := range map[string]any{"a.b": nil, "a.b.c": nil, "a.none": nil, "ab": "WARN", "a-b": "WARN", "a.kept": "FATAL"} {
			if got := owner.get(loggersPath + "/" + key).want(200); got.attribute("level") != want {
				t.Errorf("%s: got %s", key, got.body)
			}
		}
		if got := owner.get(loggersPath + "/a.b.c").resolvedIn("staging"); got != [3]any{"DEBUG", "ancestor", "a"} {
			t.Errorf("got %v", got)
		}
		// Never again: not after a release, and not after the logger was deleted and found again.
		owner.discoverLogger("a.late", "WARN")
		for _, again := range []func(){
			func() {
				owner.setLogger("a", attributes{"managed": false})
				owner.setLogger("a", attributes{"level": "DEBUG"})
			},
			func() { owner.delete(loggersPath + "/a").want(204); owner.setLogger("a", attributes{"level": "DEBUG"}) },
			func() {
				owner.delete(loggersPath + "/a").want(204)
				owner.discoverLogger("a", "INFO")
				owner.setLogger("a", attributes{"level": "DEBUG"})
			},
		} {
			again()
			if got := owner.get(loggersPath + "/a.late").want(200); got.attribute("level") != "WARN" {
				t.Errorf("a second cascade: %s", got.body)
			}
		}
	}},
	{"discovered, first promotion that touches no other: no bulk change", func(t *testing.T, owner client) {
		owner.observe(attributes{"id": "a.b"}).want(200)
		seq := owner.seq()
		owner.setLogger("a", attributes{"level": "DEBUG"})
		if diff := cmp.Diff([][3]any{{"logger", "a", "created"}}, owner.changesAfter(seq)); diff != "" {
			t.Error(diff)
		}
	}},
	{"managed, PUT with managed false: discovered, everything cleared, slot freed", func(t *testing.T, owner client) {
		owner.makeGroup("sql", attributes{})
		wanted := levelIn("production", "TRACE")
		wanted["level"], wanted["group"] = "INFO", "sql"
		path := owner.setLogger("made", wanted)
		requireLogger(t, owner.get(path), true, "INFO", "sql", 1)
		wanted["managed"] = false
		requireLogger(t, owner.put(path, envelope("", "", wanted)), false, nil, nil, 0)
	}},
	{"managed, a save that leaves nothing set: discovered by itself, without a cascade", func(t *testing.T, owner client) {
		for _, wanted := range []attributes{{}, {"managed": true}, {"managed": nil, "level": nil, "group": nil, "environments": nil},
			{"environments": attributes{}}, {"environments": attributes{"production": attributes{"level": nil}}}, {"environments": attributes{"production": nil}}} {
			path := owner.setLogger("made", attributes{"level": "INFO"})
			owner.discoverLogger("made.below", "WARN")
			requireLogger(t, owner.put(path, envelope("", "", wanted)), false, nil, nil, 0)
			if got := owner.get(loggersPath + "/made.below"); got.attribute("level") != "WARN" {
				t.Errorf("a release cascaded: %s", got.body)
			}
		}
	}},
	{"none, PUT: created", func(t *testing.T, owner client) {
		owner.discoverLogger("new.below", "WARN")
		requireLogger(t, owner.put(loggersPath+"/New", envelope("logger", "NEW", attributes{"level": "INFO"})), true, "INFO", nil, 0)
		if got := owner.get(loggersPath + "/new.below"); got.attribute("level") != nil {
			t.Errorf("a creating PUT that promotes did not cascade: %s", got.body)
		}
		requireLogger(t, owner.put(loggersPath+"/empty", envelope("", "", attributes{})), false, nil, nil, 0)
		if got := owner.get(loggersPath + "/empty"); got.text("name") != "empty" {
			t.Errorf("got %s", got.body)
		}
	}},
	{"none, bulk discovery: discovered", func(t *testing.T, owner client) {
		owner.observe(attributes{"id": "Com/Example:Shop", "level": "warn", "service": "shop", "environment": "production", "managed": true}).want(200)
		got := owner.get(loggersPath + "/com.example.shop")
		requireLogger(t, got, false, "WARN", nil, 0)
		owner.observe(attributes{"id": "com.example.shop", "level": "ERROR", "service": "other"}).want(200)
		requireLogger(t, owner.get(loggersPath+"/com.example.shop"), false, "WARN", nil, 0)
	}},
	{"any, DELETE: soft delete, and the next discovery makes a discovered one", func(t *testing.T, owner client) {
		owner.setLogger("made", attributes{"name": "Old", "level": "INFO"})
		owner.discoverLogger("found", "INFO")
		for _, key := range []string{"made", "found"} {
			path := loggersPath + "/" + key
			owner.observe(attributes{"id": key, "service": "old"}).want(200)
			owner.delete(path).want(204)
			for _, gone := range []answer{owner.get(path), owner.delete(path), owner.get(path + "/sources")} {
				gone.refused(404, problem{code: "not_found"})
			}
			owner.observe(attributes{"id": key, "level": "FATAL", "service": "new"}).want(200)
			requireLogger(t, owner.get(path), false, "FATAL", nil, 0)
			if got := owner.get(path + "/sources").want(200).page().Data; len(got) != 1 || got[0].Attributes["service"] != "new" {
				t.Errorf("got the sources %v, want those of the second life only", got)
			}
		}
	}},
}

func TestLogger_Transitions(t *testing.T) {
	t.Parallel()
	runTransitions(t, "free", loggerTransitions)
}
