package api_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// requireRepetition sends a PUT that changes nothing: no number is used, so there is no event, and the resource stays as it
// is, its time and tag included.
func (c client) requireRepetition(path, body string) {
	c.t.Helper()
	before, seq := c.get(path).want(200), c.seq()
	repeated := c.put(path, body).want(200)
	if now := c.seq(); now != seq {
		c.t.Errorf("PUT %s left %d changes: %v", path, now-seq, c.latest().Attributes)
	}
	after := c.get(path).want(200)
	if difference := cmp.Diff(before.data().Attributes["updated_at"], after.data().Attributes["updated_at"]); difference != "" {
		c.t.Errorf("PUT %s moved the time:\n%s", path, difference)
	}
	for what, got := range map[string]answer{"the PUT": repeated, "a GET": after} {
		if got.header.Get("Etag") != before.header.Get("Etag") {
			c.t.Errorf("%s: after %s the tag is %s, it was %s", path, what, got.header.Get("Etag"), before.header.Get("Etag"))
		}
	}
	if difference := cmp.Diff(defined(before.data().Attributes), defined(repeated.data().Attributes)); difference != "" {
		c.t.Errorf("PUT %s answers another resource:\n%s", path, difference)
	}
}

// A write that changes nothing records no change, on every route except the jobs'.
func TestChanges_RepeatedWriteIsNone(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, first client) {
		for route, write := range recordedWrites() {
			if !strings.HasPrefix(route, "PUT ") {
				continue
			}
			t.Run(route, func(t *testing.T) {
				t.Parallel()
				owner := first.in(t).account("pro")
				path := write.prepare(owner)
				owner.put(path, write.body).want(200)
				if write.kind == "job" { // whose version counts writes
					seq := owner.seq()
					owner.put(path, write.body).want(200)
					if owner.seq() != seq+1 || owner.latest().Attributes["action"] != "updated" {
						t.Errorf("%d changes", owner.seq()-seq)
					}
					return
				}
				owner.requireRepetition(path, write.body)
				shown := owner.get(path).want(200)
				owner.requireRepetition(path, string(shown.body)) // as scripts send back the attributes that they read
				owner.put(path, write.body, with("If-Match", shown.header.Get("Etag"))).want(200)
				owner.put(path, write.body, with("If-Match", `"other"`)).refused(412, problem{code: "version_mismatch"})
			})
		}
	})
}

// Everything that a resource can have is compared.
func TestChanges_RepeatedWriteOfEverything(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(_ *testing.T, owner client) {
		owner.makeEnvironment("testing")
		rules := []attributes{{"description": "d", "logic": attributes{"==": []any{attributes{"var": "user.key"}, "a"}}, "value": 1.5}}
		flag := owner.makeFlag(unique("flag"), nil)
		group := owner.makeGroup(unique("group"), attributes{"level": "WARN"})
		for path, wanted := range map[string]attributes{
			flag: {"name": "N", "description": nil, "type": "NUMERIC", "default": 1, "values": []attributes{{"name": "one", "value": 1}, {"name": "more", "value": 1.5}},
				"environments": attributes{"testing": attributes{"enabled": true, "default": 1.5, "rules": rules}, "production": attributes{"enabled": false}}},
			group: {"name": "N", "level": "INFO", "environments": attributes{"testing": attributes{"level": "DEBUG"}}},
			owner.setLogger(unique("logger"), attributes{"level": "WARN"}): {"name": "N", "level": "DEBUG", "group": strings.TrimPrefix(group, groupsPath+"/"),
				"environments": attributes{"testing": attributes{"level": "TRACE"}}},
			owner.makeConfig(unique("config"), nil): {"name": "N", "description": "d", "items": attributes{
				"s": attributes{"value": "x", "type": "STRING", "description": "of s"}, "n": attributes{"value": 1.0, "type": "NUMBER"},
				"j": attributes{"value": attributes{"b": []any{1, attributes{"a": nil}}, "a": "<&>"}, "type": "JSON"}},
				"environments": attributes{"testing": attributes{"s": "y"}}},
			aKey(owner):          {"name": "N", "role": "MEMBER", "scopes": attributes{"environments": []string{"testing", "production"}}, "expires_at": "2099-01-02T03:04:05.678901Z"},
			anEnvironment(owner): {"name": "N", "color": "#123456", "classification": "STANDARD", "managed": true},
			ownSettingsPath:      {"environment_order": []string{"testing"}, "nested": attributes{"b": 1, "a": []any{}}, "updated_at": 1},
		} {
			t.Run(path, func(t *testing.T) {
				owner := owner.in(t)
				body := envelope("", "", wanted)
				owner.put(path, body).want(200)
				owner.requireRepetition(path, body)
				owner.requireRepetition(path, string(owner.get(path).want(200).body))
			})
		}
	})
}

// What the history does not show, or takes for a time, is compared too.
func TestChanges_HiddenDifferences(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	changed := func(path, body string) {
		t.Helper()
		seq := owner.seq()
		if owner.put(path, body).want(200); owner.seq() == seq {
			t.Errorf("PUT %s %s is no change", path, body)
		}
	}
	changed(settingsPath, envelope("", "", attributes{"environment_order": []string{"production"}}))
	changed(ownSettingsPath, envelope("", "", attributes{"environment_order": []string{"production"}})) // the account's until then: now the user's own
	changed(ownSettingsPath, envelope("", "", attributes{}))                                            // which looks the same again
	changed(ownSettingsPath, envelope("", "", attributes{"updated_at": 1}))
	changed(ownSettingsPath, envelope("", "", attributes{"updated_at": 2}))
	logger := owner.setLogger(unique("logger"), attributes{"level": "WARN"})
	temporary := envelope("", "", attributes{"level": "DEBUG", "level_ttl_seconds": 600})
	changed(logger, temporary)
	changed(logger, temporary) // which ends later
	owner.requireRepetition(logger, envelope("", "", attributes{"level": "DEBUG"}))
	changed(logger, envelope("", "", attributes{"level": "DEBUG", "level_expires_at": nil}))
	discovered := owner.discoverLogger(unique("logger"), "INFO")
	changed(discovered, envelope("", "", attributes{"level": "INFO"})) // which promotes it
}

// A revert is recorded although it may change nothing.
func TestRevert_ToSameState(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag(unique("flag"), nil)
	named := func(name string) string { return envelope("", "", boolean(false, attributes{"name": name})) }
	owner.put(path, named("First")).want(200)
	owner.put(path, named("Second")).want(200)
	second := owner.seq()
	owner.put(path, named("First")).want(200)
	reverted := owner.revert(changePath(second) + "?force=true").want(200)
	if reverted.attribute("reverts") != float64(second) || !bytes.Contains(owner.get(path).body, []byte(`"First"`)) {
		t.Errorf("got %s", reverted.body)
	}
}

// A dry run of a write that changes nothing answers as one that does.
func TestDryRun_Repetition(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path, seq := owner.makeFlag(unique("flag"), nil), owner.seq()
	got := owner.put(path+"?dry_run=true", string(owner.get(path).body)).want(200)
	if owner.seq() != seq || !got.contains(`"dry_run":true`) {
		t.Errorf("got %s", got.body)
	}
}
