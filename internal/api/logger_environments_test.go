package api_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// demote makes an environment frozen.
func (c client) demote(environment string) {
	c.t.Helper()
	c.put(environmentsPath+"/"+environment, envelope("", "", attributes{"name": environment, "managed": false})).want(200)
}

func TestLogger_UnmanagedEnvironment(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeEnvironment("qa")
	both := func(qa, production string) attributes {
		return attributes{"environments": attributes{"qa": attributes{"level": qa}, "production": attributes{"level": production}}}
	}
	for _, path := range []string{owner.setLogger("l", both("DEBUG", "WARN")), owner.makeGroup("g", both("DEBUG", "WARN"))} {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			owner.put(path, envelope("", "", both("DEBUG", "WARN"))).want(200)
			owner.put(path, envelope("", "", attributes{"environments": attributes{"staging": attributes{"level": "INFO"}, "nowhere": attributes{"level": "INFO"}}})).
				refused(400, unmanaged("nowhere"), unmanaged("staging"))
		})
	}
	owner.demote("qa")
	for _, path := range []string{loggersPath + "/l", groupsPath + "/g"} {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			for _, fine := range []attributes{both("debug", "ERROR"), levelIn("production", "FATAL"), {}} {
				got := owner.put(path, envelope("", "", fine)).want(200)
				if got.environment("qa")["level"] != "DEBUG" || got.resolvedIn("qa")[0] != "DEBUG" {
					t.Errorf("the frozen level is gone: %s", got.body)
				}
			}
			owner.put(path, envelope("", "", both("TRACE", "WARN"))).refused(400, unmanaged("qa"))
			frozen := attributes{"environments": attributes{"qa": attributes{"level": "DEBUG", "ttl_seconds": 60}}}
			owner.put(path, envelope("", "", frozen)).refused(400, unmanaged("qa"))
		})
	}
	// It has nothing else set, and is not released by itself; released on purpose, it has nothing.
	requireLogger(t, owner.put(loggersPath+"/l", envelope("", "", attributes{})), true, nil, nil, 1)
	requireLogger(t, owner.put(loggersPath+"/l", envelope("", "", attributes{"managed": false})), false, nil, nil, 0)
}

func TestLogger_ScopedKey(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeEnvironment("qa")
	scoped := owner.as(owner.makeKey(attributes{"role": "ADMIN", "scopes": attributes{"environments": []string{"qa"}}}).secret)
	forbidden := problem{code: "forbidden"}
	for _, path := range []string{owner.setLogger("l", attributes{"level": "INFO", "environments": attributes{"production": attributes{"level": "WARN"}}}),
		owner.makeGroup("g", attributes{"level": "INFO", "environments": attributes{"production": attributes{"level": "WARN"}}})} {
		t.Run(path, func(t *testing.T) {
			scoped := scoped.in(t)
			wanted := func(base, production, qa any) string {
				return envelope("", "", attributes{"level": base, "environments": attributes{"production": attributes{"level": production}, "qa": attributes{"level": qa}}})
			}
			scoped.put(path, wanted("INFO", "WARN", "TRACE")).want(200)
			scoped.put(path, wanted("INFO", "WARN", nil)).want(200)
			scoped.put(path, wanted("DEBUG", "WARN", "TRACE")).refused(403, forbidden)
			scoped.put(path, wanted("INFO", "ERROR", "TRACE")).refused(403, forbidden)
			scoped.put(path, wanted("INFO", nil, "TRACE")).refused(403, forbidden)
			scoped.delete(path).refused(403, forbidden)
			if got := owner.in(t).get(path); got.environment("qa") != nil || got.environment("production")["level"] != "WARN" {
				t.Errorf("got %s", got.body)
			}
		})
	}
	scoped.put(loggersPath+"/new", envelope("", "", levelIn("qa", "TRACE"))).refused(403, forbidden)
	scoped.put(owner.discoverLogger("found", "INFO"), envelope("", "", attributes{"level": "INFO", "environments": attributes{"qa": attributes{"level": "TRACE"}}})).refused(403, forbidden)
	path := owner.setLogger("own", levelIn("qa", "TRACE"))
	requireLogger(t, scoped.put(path, envelope("", "", attributes{})), false, nil, nil, 0)
	if got := scoped.observe(attributes{"id": "a", "environment": "qa"}, attributes{"id": "b", "environment": "production"}).outcome(); got.Registered != 1 || len(got.rejected()) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestLogger_DeletedEnvironment(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
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
	if diff := cmp.Diff(want, owner.changesAfter(seq)); diff != "" {
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
}

// On a running node, a level that was set for some seconds ends by itself, with one event. A busy
// machine may be late, but not every time.
func TestLogger_LevelExpires(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	late := time.Hour
	for ttl := 1; late > time.Second && ttl <= 32; ttl *= 2 {
		late = min(late, owner.frozenLevelExpires(ttl))
	}
	if late > time.Second {
		t.Errorf("it was %s late", late)
	}
}

// frozenLevelExpires sets a level for some seconds, freezes it, and returns how
// late it is removed; an hour when it was due before it was frozen.
func (c client) frozenLevelExpires(seconds int) (late time.Duration) {
	c.t.Helper()
	environment, key := unique("qa"), unique("l")
	c.makeEnvironment(environment)
	set := func(override attributes) answer {
		return c.put(loggersPath+"/"+key, envelope("logger", key, attributes{"level": "INFO", "environments": attributes{environment: override}})).want(200)
	}
	expires := set(attributes{"level": "TRACE", "ttl_seconds": seconds}).environment(environment)["expires_at"].(string)
	due, err := time.Parse(time.RFC3339Nano, expires)
	if err != nil {
		c.t.Fatal(err)
	}
	kept := set(attributes{"level": "TRACE"}).environment(environment)["expires_at"]
	inTime := time.Now().Before(due)
	if inTime && kept != expires {
		c.t.Errorf("a write that knows nothing of expiries made %v of %s", kept, expires)
	}
	c.demote(environment) // a frozen level expires too
	seq := c.seq()
	if inTime = inTime && time.Now().Before(due); !inTime {
		return time.Hour
	}
	eventually(c.t, patience, "the override is gone", func() bool { return c.get(loggersPath+"/"+key).environment(environment) == nil })
	if diff := cmp.Diff([][3]any{{"logger", key, "expired"}}, c.changesAfter(seq)); diff != "" {
		c.t.Error(diff)
	}
	change := c.latest().Attributes
	if actor := change["actor"].(map[string]any); actor["type"] != "system" {
		c.t.Errorf("got %v", actor)
	}
	at, err := time.Parse(time.RFC3339Nano, change["created_at"].(string))
	if late = at.Sub(due); err != nil || late < 0 {
		c.t.Errorf("it was %s late, %v", late, err)
	}
	return late
}
