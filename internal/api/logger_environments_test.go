package api_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

// demote makes an environment frozen.
func (c client) demote(environment string) {
	c.t.Helper()
	c.put(environmentsPath+"/"+environment, envelope("", "", attributes{"name": environment, "managed": false})).want(200)
}

func TestLevelsOfUnmanagedEnvironmentsAreFrozen(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		owner := start(t, database)
		owner.makeEnvironment("qa")
		both := func(qa, production string) attributes {
			return attributes{"environments": attributes{"qa": attributes{"level": qa}, "production": attributes{"level": production}}}
		}
		for _, path := range []string{owner.setLogger("l", both("DEBUG", "WARN")), owner.makeGroup("g", both("DEBUG", "WARN"))} {
			owner.put(path, envelope("", "", both("DEBUG", "WARN"))).want(200)
			owner.put(path, envelope("", "", attributes{"environments": attributes{"staging": attributes{"level": "INFO"}, "nowhere": attributes{"level": "INFO"}}})).
				refused(400, unmanaged("nowhere"), unmanaged("staging"))
		}
		owner.demote("qa")
		for _, path := range []string{loggersPath + "/l", groupsPath + "/g"} {
			for _, fine := range []attributes{both("debug", "ERROR"), levelIn("production", "FATAL"), {}} {
				got := owner.put(path, envelope("", "", fine)).want(200)
				if got.environment("qa")["level"] != "DEBUG" || got.resolvedIn("qa")[0] != "DEBUG" {
					t.Errorf("%s: the frozen level is gone: %s", path, got.body)
				}
			}
			owner.put(path, envelope("", "", both("TRACE", "WARN"))).refused(400, unmanaged("qa"))
			frozen := attributes{"environments": attributes{"qa": attributes{"level": "DEBUG", "ttl_seconds": 60}}}
			owner.put(path, envelope("", "", frozen)).refused(400, unmanaged("qa"))
		}
		// It has nothing else set, and is not released by itself; released on purpose, it has nothing.
		requireLogger(t, owner.put(loggersPath+"/l", envelope("", "", attributes{})), true, nil, nil, 1)
		requireLogger(t, owner.put(loggersPath+"/l", envelope("", "", attributes{"managed": false})), false, nil, nil, 0)
	})
}

func TestAKeyForAnEnvironmentWritesItsLevelsOnly(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		owner := start(t, database)
		owner.makeEnvironment("qa")
		scoped := owner.as(owner.makeKey(attributes{"role": "ADMIN", "scopes": attributes{"environments": []string{"qa"}}}).secret)
		forbidden := problem{code: "forbidden"}
		for _, path := range []string{owner.setLogger("l", attributes{"level": "INFO", "environments": attributes{"production": attributes{"level": "WARN"}}}),
			owner.makeGroup("g", attributes{"level": "INFO", "environments": attributes{"production": attributes{"level": "WARN"}}})} {
			wanted := func(base, production, qa any) string {
				return envelope("", "", attributes{"level": base, "environments": attributes{"production": attributes{"level": production}, "qa": attributes{"level": qa}}})
			}
			scoped.put(path, wanted("INFO", "WARN", "TRACE")).want(200)
			scoped.put(path, wanted("INFO", "WARN", nil)).want(200)
			scoped.put(path, wanted("DEBUG", "WARN", "TRACE")).refused(403, forbidden)
			scoped.put(path, wanted("INFO", "ERROR", "TRACE")).refused(403, forbidden)
			scoped.put(path, wanted("INFO", nil, "TRACE")).refused(403, forbidden)
			scoped.delete(path).refused(403, forbidden)
			if got := owner.get(path); got.environment("qa") != nil || got.environment("production")["level"] != "WARN" {
				t.Errorf("got %s", got.body)
			}
		}
		scoped.put(loggersPath+"/new", envelope("", "", levelIn("qa", "TRACE"))).refused(403, forbidden)
		scoped.put(owner.discoverLogger("found", "INFO"), envelope("", "", attributes{"level": "INFO", "environments": attributes{"qa": attributes{"level": "TRACE"}}})).refused(403, forbidden)
		path := owner.setLogger("own", levelIn("qa", "TRACE"))
		requireLogger(t, scoped.put(path, envelope("", "", attributes{})), false, nil, nil, 0)
		if got := scoped.observe(attributes{"id": "a", "environment": "qa"}, attributes{"id": "b", "environment": "production"}).outcome(); got.Registered != 1 || len(got.rejected()) != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestAnEnvironmentKnowsItsLevels(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		owner := start(t, database)
		path := owner.makeEnvironment("qa")
		owner.setLogger("only", levelIn("qa", "TRACE"))
		owner.setLogger("more", attributes{"level": "INFO", "environments": attributes{"qa": attributes{"level": "TRACE"}, "production": attributes{"level": "WARN"}}})
		owner.makeGroup("g", levelIn("qa", "TRACE"))
		if got := owner.get(path + "/usage").want(200); got.attribute("logger_overrides") != 3.0 {
			t.Errorf("got %s", got.body)
		}
		seq := owner.seq()
		owner.delete(path + "?cascade=true").want(204)
		want := [][3]any{{"log_group", "g", "cascaded"}, {"logger", "more", "cascaded"}, {"logger", "only", "cascaded"}, {"logger", "*", "cascaded"}, {"environment", "qa", "deleted"}}
		if diff := cmp.Diff(want, owner.newsOf(seq)); diff != "" {
			t.Error(diff)
		}
		requireLogger(t, owner.get(loggersPath+"/only"), false, nil, nil, 0)
		requireLogger(t, owner.get(loggersPath+"/more"), true, "INFO", nil, 1)
		if got := owner.get(groupsPath + "/g"); got.environment("qa") != nil {
			t.Errorf("got %s", got.body)
		}
		// Without cascade the levels stay, frozen.
		owner.makeEnvironment("qa2")
		owner.setLogger("kept", levelIn("qa2", "TRACE"))
		owner.delete(environmentsPath + "/qa2").want(204)
		requireLogger(t, owner.put(loggersPath+"/kept", envelope("", "", levelIn("qa2", "TRACE"))), true, nil, nil, 1)
	})
}

// The whole way on a running node: set for a second, gone by itself, told once.
func TestALevelExpiresOnARunningNode(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		owner := start(t, database)
		owner.makeEnvironment("qa")
		path := owner.setLogger("l", attributes{"level": "INFO", "environments": attributes{"qa": attributes{"level": "TRACE", "ttl_seconds": 1}}})
		expires := owner.get(path).environment("qa")["expires_at"].(string)
		owner.put(path, envelope("", "", attributes{"level": "INFO", "environments": attributes{"qa": attributes{"level": "TRACE"}}})).want(200)
		if kept := owner.get(path).environment("qa")["expires_at"]; kept != expires {
			t.Errorf("a write that knows nothing of expiries made %v of %s", kept, expires)
		}
		owner.demote("qa") // a frozen level expires too
		seq := owner.seq()
		eventually(t, 10*time.Second, "the override is gone", func() bool { return owner.get(path).environment("qa") == nil })
		if diff := cmp.Diff([][3]any{{"logger", "l", "expired"}}, owner.newsOf(seq)); diff != "" {
			t.Error(diff)
		}
		change := owner.latest().Attributes
		due, _ := time.Parse(time.RFC3339Nano, expires)
		at, _ := time.Parse(time.RFC3339Nano, change["created_at"].(string))
		if late := at.Sub(due); late < 0 || late > time.Second {
			t.Errorf("it was %s late", late)
		}
		if actor := change["actor"].(map[string]any); actor["type"] != "system" {
			t.Errorf("got %v", actor)
		}
	})
}
