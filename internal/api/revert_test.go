package api_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/changes"
)

// revert undoes a change by its path, or the path of the action.
func (c client) revert(change string, options ...option) answer {
	c.t.Helper()
	path, query, _ := strings.Cut(change, "?")
	path = strings.TrimSuffix(path, "/actions/revert") + "/actions/revert"
	if query != "" {
		path += "?" + query
	}
	return c.post(path, "", options...)
}

// revertLast undoes the newest change of a resource.
func (c client) revertLast(resource string, options ...option) answer {
	c.t.Helper()
	return c.revert(c.lastOf(resource), options...)
}

// changePath returns the path of the change with a number.
func changePath(seq int) string { return changesPath + "/" + strconv.Itoa(seq) }

// definition returns the configured attributes of the resource at a path; nil if there is none.
func (c client) definition(path string) map[string]any {
	c.t.Helper()
	got := c.get(path)
	if got.status == 404 {
		return nil
	}
	return defined(got.want(200).data().Attributes)
}

// defined returns the attributes without times and without values that depend on other resources.
func defined(attributes map[string]any) map[string]any {
	rest := maps.Clone(attributes)
	for _, name := range []string{"created_at", "updated_at", "version", "next_run_at", "last_run", "skipped_at", "health", "resolved", "sources", "effective_levels",
		"last_seen", "last_evaluated"} {
		delete(rest, name)
	}
	return rest
}

// requireDefinition compares the resource at a path with its earlier state.
func (c client) requireDefinition(what, path string, want map[string]any) {
	c.t.Helper()
	if difference := cmp.Diff(want, c.definition(path)); difference != "" {
		c.t.Errorf("%s: want (-), got (+):\n%s", what, difference)
	}
}

func TestRevert_EveryWrite(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, first client) {
		for route, write := range recordedWrites() {
			t.Run(route, func(t *testing.T) {
				t.Parallel()
				owner := first.in(t).account("pro")
				method, _, _ := strings.Cut(route, " ")
				path := write.prepare(owner)
				resourcePath, grants := path, grantsPower(write.kind)
				switch {
				case grants:
					resourcePath = keysPath + "/" + unique("none")
				case write.action == "created":
					resourcePath += "/made"
				}
				before := owner.definition(resourcePath)
				owner.send(method, path, write.body)
				change := owner.latest()
				if grants || route == "DELETE /api/v1/contexts/{id}" {
					owner.revert(changesPath+"/"+change.ID).refused(409, problem{code: "not_revertible"})
					return
				}
				after := owner.definition(resourcePath)
				strictly := with("Prefer", "handling=strict")
				tried := owner.revert(changesPath+"/"+change.ID+"?dry_run=true", strictly).want(200).data()
				owner.requireDefinition("a dry run", resourcePath, after)
				reverted := owner.revert(changesPath+"/"+change.ID, strictly).want(200)
				if tried.ID != reverted.data().ID || tried.Attributes["action"] != reverted.attribute("action") {
					t.Errorf("the dry run announced %v, and this came: %s", tried, reverted.body)
				}
				owner.requireDefinition("reverted", resourcePath, before)
				requireReverts(t, reverted, change)
				again := owner.revert(changesPath + "/" + reverted.data().ID).want(200)
				owner.requireDefinition("the revert reverted", resourcePath, after)
				requireReverts(t, again, reverted.data())
			})
		}
	})
}

// grantsPower reports whether a kind grants access or has secrets that the history does not keep. Changes of such kinds
// are never reverted.
func grantsPower(kind string) bool {
	return slices.Contains([]string{"api_key", "user", "invitation", "link", "session", "webhook"}, kind)
}

// requireReverts checks that a change is recorded as the revert of another.
func requireReverts(t *testing.T, got answer, reverted resource) {
	t.Helper()
	change := got.data()
	if change.Type != "change" || strconv.FormatFloat(change.Attributes["reverts"].(float64), 'f', -1, 64) != reverted.ID ||
		change.Attributes["kind"] != reverted.Attributes["kind"] || change.Attributes["key"] != reverted.Attributes["key"] {
		t.Errorf("got %s", got.body)
	}
	requireDiff(t, change.Attributes)
}

func TestRevert_AnswersWithTheRecordedChange(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	key := owner.makeKey(attributes{"role": "OWNER", "name": "the actor"})
	aFlag(owner)
	for _, body := range []string{"", "{}"} {
		change := owner.latest()
		if change.Attributes["reverts"] != nil && body == "" {
			t.Errorf("%v reverts something", change)
		}
		got := owner.as(key.secret).post(changesPath+"/"+change.ID+"/actions/revert", body).want(200)
		stored := owner.get(changesPath + "/" + got.data().ID).want(200)
		if string(stored.body) != string(got.body) || stored.header.Get("Etag") != got.header.Get("Etag") {
			t.Errorf("recorded is %s, the answer was %s", stored.body, got.body)
		}
		if got.attribute("actor").(map[string]any)["id"] != key.id || owner.latest().ID != got.data().ID {
			t.Errorf("got %s", got.body)
		}
	}
	owner.post(owner.lastOf("environment:staging")+"/actions/revert", `[]`, offContract).want(400)
	owner.post(owner.lastOf("environment:staging")+"/actions/revert?force=perhaps", "", offContract).refused(400, wrongParameter("force"))
	for _, id := range []string{"0", "01", "999999", "x"} {
		t.Run(id, func(t *testing.T) {
			owner.in(t).post(changesPath+"/"+id+"/actions/revert", "").refused(404, problem{code: "not_found"})
		})
	}
}

func TestRevert_ChangedSince(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeEnvironment("watched")
	base := owner.seq() // the creation
	rename := func(name string) {
		owner.put(path, envelope("", "", attributes{"name": name})).want(200)
	}
	refused := func(what string, seq int, later ...any) {
		t.Helper()
		owner.revert(changePath(base+seq)).refused(409, problem{code: "changed_since", meta: attributes{"later": later}})
		if t.Failed() {
			t.Fatal(what)
		}
	}
	number := func(seq int) any { return float64(base + seq) }
	rename("one") // 1
	owner.makeEnvironment("other")
	rename("three") // 3
	refused("two changes after the creation", 0, number(1), number(3))
	refused("one change after the first", 1, number(3))
	owner.revert(changePath(base + 3)).want(200) // 4
	refused("it was reverted before", 3, number(4))
	refused("the change and its revert do not count", 0, number(1))
	owner.revert(changePath(base + 4)).want(200) // 5: three again
	refused("the revert of the revert is the change again", 1, number(3))
	refused("as above", 0, number(1), number(3))
	owner.revert(changePath(base + 5)).want(200)                // 6: one
	owner.revert(changePath(base + 1)).want(200)                // 7: watched
	owner.revert(changePath(base+3) + "?force=false").want(409) // one is no longer there
	owner.revert(changePath(base+3) + "?force=true").want(200)  // 8: one
	if got := owner.get(path).text("name"); got != "one" {
		t.Errorf("it is called %s", got)
	}
	refused("it is as the first change left it", 0, number(1))
	owner.revert(changePath(base + 1)).want(200)
	owner.revert(changePath(base)).want(200)
	owner.get(path).want(404)
}

// TestRevert_ChangedSinceAdvice: the ways out that a refusal names work, and the others do not.
func TestRevert_ChangedSinceAdvice(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		refused := func(change, advice string) {
			t.Helper()
			if got := owner.revert(change).want(409); !got.contains(`"changed_since"`) || !got.contains(advice) {
				t.Errorf("got %s, want %s", got.body, advice)
			}
		}
		declare := func(key string) {
			owner.declare(attributes{"id": key, "type": "BOOLEAN", "default": true}).want(200)
		}
		// Everything after it can be reverted.
		path := owner.makeFlag("plain", nil)
		created := owner.lastOf("flag:plain")
		owner.put(path, envelope("", "", boolean(true, nil))).want(200)
		updated := owner.lastOf("flag:plain")
		refused(created, " was changed after this change, by change "+strings.TrimPrefix(updated, changesPath+"/")+". Revert those first, newest first, or send force=true to lose them.")
		owner.revert(updated).want(200)
		owner.revert(created).want(200)

		// It is gone.
		path = owner.makeFlag("gone", nil)
		created = owner.lastOf("flag:gone")
		owner.delete(path).want(204)
		refused(created, "It was deleted meanwhile, so there is nothing to revert.")
		owner.revert(created + "?force=true").want(404)

		// A report came after it.
		deleted := owner.lastOf("flag:gone")
		declare("gone")
		reported := changePath(owner.seq())
		refused(deleted, "Change "+strings.TrimPrefix(reported, changesPath+"/")+" cannot be reverted. Send force=true to lose the changes after it.")
		owner.revert(reported).refused(409, problem{code: "not_revertible"})
		owner.revert(deleted + "?force=true").want(200)

		// It would no longer be managed.
		declare("found")
		path = flagsPath + "/found"
		owner.put(path, envelope("", "", boolean(true, attributes{"name": "Renamed"}))).want(200)
		renamed := owner.lastOf("flag:found")
		owner.put(path, envelope("", "", boolean(true, attributes{"name": "Again"}))).want(200)
		refused(renamed, "Revert those first")
		owner.put(path, envelope("", "", boolean(true, attributes{"managed": true}))).want(200)
		for _, change := range []string{renamed, renamed + "?force=true", owner.lastOf("flag:found")} {
			got := owner.revert(change)
			if got.refused(409, problem{code: "flag_demotion_unsupported"}); !got.contains("a managed flag cannot become discovered again. Delete it instead.") {
				t.Errorf("%s: got %s", change, got.body)
			}
		}

		// Only a report makes it again.
		report := func() { owner.discover("user", "ada") }
		report()
		path = contextsPath + "/user%3Aada"
		owner.put(path, envelope("", "", attributes{"name": "Ada"})).want(200)
		renamed = owner.lastOf("context:user:ada")
		owner.delete(path).want(204)
		owner.revert(renamed).refused(409, problem{code: "not_revertible"})
		report()
		refused(renamed, " cannot be reverted. Send force=true")
		owner.revert(renamed + "?force=true").want(200)
	})
}

func TestRevert_Force(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag("f", attributes{"description": "old"})
	created := owner.lastOf("flag:f")
	owner.put(path, envelope("", "", boolean(true, nil))).want(200)
	updated, old := owner.lastOf("flag:f"), owner.definition(path)
	owner.delete(path).want(204)
	owner.revert(updated).refused(409, problem{code: "changed_since", meta: attributes{"later": []any{float64(owner.seq())}}})
	owner.revert(created+"?force=true").refused(404, problem{code: "not_found"}) // it is gone already
	if got := owner.revert(updated + "?force=true").want(200); got.attribute("action") != "created" {
		t.Errorf("got %s", got.body)
	}
	if got := owner.get(path).text("description"); got != "old" {
		t.Errorf("got %s, not as before %v", got, old)
	}
	owner.revert(created + "?force=true").want(200)
	owner.get(path).want(404)
	// A report that makes it again is a later change too.
	deleted := owner.lastOf("flag:f")
	owner.declare(attributes{"id": "g", "type": "STRING", "default": "x"}).want(200)
	owner.declare(attributes{"id": "f", "type": "STRING", "default": "x"}).want(200)
	owner.revert(deleted).refused(409, problem{code: "changed_since", meta: attributes{"later": []any{float64(owner.seq())}}})
	owner.revert(deleted + "?force=true").want(200)
	if got := owner.get(path); got.attribute("type") != "BOOLEAN" || got.attribute("managed") != true {
		t.Errorf("got %s", got.body)
	}
}

func TestRevert_NotRevertible(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.revert(changePath(1)).refused(409, problem{code: "not_revertible"}) // the creation of the account
	owner.revert(changePath(2)).refused(409, problem{code: "not_revertible"}) // and of its key
	owner.revert(owner.lastOf("environment:production")).refused(409, problem{code: "environment_protected"})
	owner.declare(attributes{"id": "f", "type": "STRING", "default": "x"}).want(200)
	if change := owner.latest(); change.Attributes["key"] != changes.AllKeys {
		t.Fatalf("got %v", change)
	}
	owner.revert(changePath(owner.seq())).refused(409, problem{code: "not_revertible"})
	owner.get(configsPath).want(200)
	owner.revertLast("config:common").refused(409, problem{code: "config_protected"})
}

// If the rules refuse a revert, the error has no pointer, because there is no body.
func TestRevert_SameRules(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "free")
	owner.makeConfig("parent", nil)
	owner.makeConfig("child", attributes{"parent": "parent"})
	owner.delete(configsPath + "/child").want(204)
	owner.revertLast("config:parent").want(200)
	owner.revertLast("config:child").refused(400, problem{code: "validation_error"})
	owner.revertLast("config:parent").want(200)
	owner.revertLast("config:child").want(200)
	owner.revertLast("config:parent").refused(409, problem{code: "config_in_use"})
}

func TestRevert_Roles(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	member, admin := owner.withRole("MEMBER"), owner.withRole("ADMIN")
	scoped := owner.as(owner.makeKey(attributes{"scopes": attributes{"environments": []string{"production"}}}).secret)
	owner.makeEnvironment("made")
	member.revertLast("environment:made").refused(403, problem{code: "forbidden"})
	admin.revertLast("environment:made").want(200)
	path := owner.makeFlag("f", nil)
	scoped.revertLast("flag:f").refused(403, problem{code: "forbidden"}) // it would delete the flag
	for environment, status := range map[string]int{"production": 200, "qa": 403} {
		t.Run(environment, func(t *testing.T) {
			owner := owner.in(t)
			if environment == "qa" {
				owner.makeEnvironment("qa")
			}
			owner.put(path, envelope("", "", boolean(false, attributes{"environments": attributes{environment: attributes{"default": true}}}))).want(200)
			scoped.in(t).revertLast("flag:f").want(status)
			member.in(t).revertLast("flag:f")
		})
	}
	owner.put(path, envelope("", "", boolean(true, nil))).want(200)
	scoped.revertLast("flag:f").refused(403, problem{code: "forbidden"})
	other, user := owner.plantUser(accounts.Admin)
	other.put(ownSettingsPath, envelope("", "", attributes{"theme": "dark"})).want(200)
	owner.revertLast("user_settings:"+user.ID).refused(403, problem{code: "forbidden"})
	other.revertLast("user_settings:" + user.ID).want(200)
}

func TestRevert_EnvironmentsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "free")
	owner.discover("environment", "preview")
	preview := owner.definition(environmentsPath + "/preview")
	owner.put(environmentsPath+"/staging", envelope("", "", attributes{"name": "Staging", "managed": true})).want(200) // the last slot
	owner.delete(environmentsPath + "/preview").want(204)
	owner.revertLast("environment:preview").want(200)
	owner.requireDefinition("an unmanaged environment takes no slot", environmentsPath+"/preview", preview)
	if order := owner.order(settingsPath); !slices.Equal(order, []string{"staging", "production"}) {
		t.Errorf("the order is %v", order)
	}
	owner.delete(environmentsPath + "/staging").want(204)
	owner.put(environmentsPath+"/preview", envelope("", "", attributes{"name": "preview", "managed": true})).want(200)
	owner.revertLast("environment:staging").refused(402, problem{code: "entitlement_limit_reached",
		meta: attributes{"limit_key": "platform.managed_environments", "current": 2.0, "maximum": 2.0, "plan": "free", "product": "platform"}})
	owner.revertLast("environment:preview").want(200)
	owner.revertLast("environment:staging").want(200)
	if order := owner.order(settingsPath); !slices.Equal(order, []string{"production", "staging"}) {
		t.Errorf("the order is %v", order)
	}
}

// The values that a cascade deleted are restored by reverting the changes of each resource.
func TestRevert_Cascades(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeEnvironment("qa")
	owner.makeGroup("g", attributes{"level": "WARN"})
	paths := []string{
		owner.makeFlag("f", attributes{"environments": attributes{"qa": attributes{"default": true}}}),
		owner.setLogger("l", levelIn("qa", "DEBUG")), owner.setLogger("member", attributes{"group": "g"}),
		owner.makeConfig("c", attributes{"items": attributes{"a": attributes{"value": 1}}, "environments": attributes{"qa": attributes{"a": 2}}}),
		environmentsPath + "/qa", groupsPath + "/g",
	}
	var before []map[string]any
	for _, path := range paths {
		before = append(before, owner.definition(path))
	}
	first := owner.seq() + 1
	for kind, path := range map[string]string{"environment": environmentsPath + "/qa?cascade=true", "log_group": groupsPath + "/g"} {
		number := owner.delete(path).want(204).header.Get("Signalbox-Change")
		change := owner.get(changesPath + "/" + number).want(200)
		if change.attribute("kind") != kind || change.attribute("action") != "deleted" {
			t.Errorf("the deletion of the %s is the change %s: %s", kind, number, change.body)
		}
	}
	refused := 0
	for seq := owner.seq(); seq >= first; seq-- {
		if owner.revert(changePath(seq)).status == 409 {
			refused++ // changes that only name the others
		}
	}
	for i, path := range paths {
		owner.requireDefinition(path, path, before[i])
	}
	if refused != 4 {
		t.Errorf("%d were refused", refused)
	}
}

func TestRevert_LoggerExpiries(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.setLogger("l", attributes{"level": "INFO", "environments": attributes{"production": attributes{"level": "WARN"}}})
	before := owner.definition(path)
	owner.put(path, envelope("", "", attributes{"level": "INFO", "level_ttl_seconds": 600,
		"environments": attributes{"production": attributes{"level": "WARN", "ttl_seconds": 600}}})).want(200)
	limited := owner.definition(path)
	owner.revertLast("logger:l").want(200)
	owner.requireDefinition("the expiries that were added are gone", path, before)
	owner.revertLast("logger:l").want(200)
	owner.requireDefinition("and come back as they were", path, limited)

	path = owner.setLogger("short", attributes{"level": "INFO", "level_ttl_seconds": 1,
		"environments": attributes{"production": attributes{"level": "WARN"}}})
	owner.delete(path).want(204)
	expires := time.Now().Add(time.Second)
	eventually(t, patience, "the level has expired", func() bool { return time.Now().After(expires) })
	owner.revertLast("logger:short").want(200)
	requireLogger(t, owner.get(path), true, nil, nil, 1)

	path = owner.setLogger("gone", attributes{"level": "INFO", "level_ttl_seconds": 1})
	eventually(t, patience, "the level has expired", func() bool { return owner.get(path).attribute("level") == nil })
	owner.revertLast("logger:gone").refused(409, problem{code: "not_revertible"})
}

func TestRevert_DiscoveredComeBackAsSuch(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.declare(attributes{"id": "f", "type": "STRING", "default": "x"}).want(200)
	logger := owner.discoverLogger("l", "DEBUG")
	for path, resource := range map[string]string{flagsPath + "/f": "flag:f", logger: "logger:l"} {
		t.Run(resource, func(t *testing.T) {
			owner := owner.in(t)
			before := owner.definition(path)
			owner.delete(path).want(204)
			owner.revertLast(resource).want(200)
			owner.requireDefinition(resource, path, before)
		})
	}
	before := owner.definition(logger)
	owner.setLogger("l", attributes{"level": "ERROR"})
	owner.revertLast("logger:l").want(200)
	owner.requireDefinition("a promotion is undone", logger, before)
	owner.put(flagsPath+"/f", envelope("", "", attributes{"type": "STRING", "default": "x", "managed": true})).want(200)
	owner.revertLast("flag:f").refused(409, problem{code: "flag_demotion_unsupported"})
}

func TestRevert_ConfigSchemas(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	items := func(more attributes) attributes {
		item := attributes{"value": attributes{"n": 1}, "type": "JSON"}
		maps.Copy(item, more)
		return attributes{"items": attributes{"a": item}}
	}
	path := owner.makeConfig("c", items(nil))
	before := owner.definition(path)
	owner.put(path, envelope("", "", items(attributes{"schema": attributes{"type": "object"}}))).want(200)
	owner.revertLast("config:c").want(200)
	owner.requireDefinition("the schema is gone", path, before)
}

func TestRevert_JobsWithTheirSecrets(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		secret := attributes{"url": nowhere + "?token=hush-1", "body": "hush-2",
			"headers": []attributes{{"name": "Authorization", "value": "hush-3"}}}
		path := owner.makeJob("j", attributes{"configuration": secret})
		before := owner.definition(path)
		secret["headers"] = []attributes{{"name": "Authorization", "value": "other"}}
		owner.put(path, envelope("", "", job(attributes{"configuration": secret}))).want(200)
		if len(owner.get(owner.lastOf("job:j")).attribute("diff").([]any)) != 3 { // configuration_id, updated_at, version
			t.Errorf("got %s", owner.get(owner.lastOf("job:j")).body)
		}
		got := owner.revertLast("job:j").want(200)
		owner.requireDefinition("replaced", path, before)
		if got.contains("hush") || got.member("after.version") != 3.0 {
			t.Errorf("got %s", got.body)
		}
		owner.delete(path).want(204)
		deleted := owner.lastOf("job:j")
		if got = owner.revert(deleted).want(200); got.contains("hush") || got.member("after.version") != 1.0 {
			t.Errorf("got %s", got.body)
		}
		owner.requireDefinition("created again", path, before)
		owner.delete(path).want(204)
		forgetConfigurations(t, owner, "j")
		owner.revertLast("job:j").refused(409, problem{code: "not_revertible"})
		owner.get(path).want(404)
	})
}

// forgetConfigurations removes what retention removes in the end.
func forgetConfigurations(t *testing.T, owner client, job string) {
	t.Helper()
	if _, err := owner.node.Database.Raw(t).ExecContext(t.Context(), `DELETE FROM job_requests WHERE job_uid IN
		(SELECT uid FROM jobs WHERE key = '`+job+`' AND account_id = '`+owner.get(accountPath).data().ID+`')`); err != nil {
		t.Fatal(err)
	}
}

func TestRevert_OneOffJobsDoNotFireAgain(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeJob("once", attributes{"schedule": "now"})
	owner.fired("once", 1)
	owner.put(path, envelope("", "", job(attributes{"schedule": far}))).want(200)
	owner.put(path, envelope("", "", job(attributes{"schedule": far, "enabled": false}))).want(200)
	owner.revertLast("job:once").want(200)
	if got := owner.get(path); got.attribute("enabled") != true || got.attribute("next_run_at") == nil {
		t.Errorf("a recurring job goes on: %s", got.body)
	}
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	path = owner.makeJob("later", attributes{"schedule": later})
	owner.delete(path).want(204)
	owner.revertLast("job:later").want(200)
	if got := owner.get(path); got.attribute("enabled") != true || got.text("next_run_at") != later {
		t.Errorf("its time is still to come: %s", got.body)
	}
	path = owner.makeJob("enabled", attributes{"schedule": "now"})
	owner.fired("enabled", 1)
	owner.put(path, envelope("", "", job(attributes{"schedule": "now", "enabled": true}))).want(200)
	owner.delete(path).want(204)
	owner.revertLast("job:enabled").want(200)
	if got := owner.get(path); got.attribute("enabled") != false || got.attribute("next_run_at") != nil {
		t.Errorf("it had its time: %s", got.body)
	}
}

func TestRevert_RaceIsOneChange(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		path := owner.makeFlag("f", nil)
		owner.put(path, envelope("", "", boolean(true, nil))).want(200)
		change := owner.lastOf("flag:f")
		answers := make(chan answer, 8)
		for range cap(answers) {
			go func() {
				_, got := owner.exchange(request{method: "POST", path: change + "/actions/revert", header: map[string][]string{"Authorization": {"Bearer " + owner.key}}})
				answers <- got
			}()
		}
		counts := map[int]int{}
		for range cap(answers) {
			counts[(<-answers).status]++
		}
		if counts[200] != 1 || counts[409]+counts[412] != cap(answers)-1 {
			t.Errorf("got %v", counts)
		}
	})
}

func TestRevert_TableHasEveryKind(t *testing.T) {
	t.Parallel()
	for route, write := range recordedWrites() {
		if _, listed := api.RestorerNeeds()[write.kind]; !listed && !grantsPower(write.kind) {
			t.Errorf("changes by %s are not reverted, and nothing says why", route)
		}
	}
}

// TestRevert_NeedsWhatTheRouteNeeds: a revert requires the same rights as the route
// that makes the same write, and no write is possible that has no route.
func TestRevert_NeedsWhatTheRouteNeeds(t *testing.T) {
	t.Parallel()
	routes := api.RouteNeeds()
	for kind, shared := range api.RestorerNeeds() {
		t.Run(kind, func(t *testing.T) {
			needs := maps.Clone(shared) // kinds have the same
			patterns := map[changes.Action]string{changes.Created: "POST /api/v1/" + kind + "s", changes.Updated: "PUT /api/v1/" + kind + "s/{id}",
				changes.Deleted: "DELETE /api/v1/" + kind + "s/{id}"}
			switch kind {
			case "account", "account_settings", "user_settings":
				owner, settings, _ := strings.Cut(kind, "_")
				patterns = map[changes.Action]string{changes.Updated: strings.TrimSuffix("PUT /api/v1/"+owner+"s/current/"+settings, "/")}
			case "logger":
				patterns[changes.Created] = patterns[changes.Updated]
			}
			for action, pattern := range patterns {
				want, exists := routes[pattern]
				if got, possible := needs[action]; got != want || possible != exists {
					t.Errorf("%s %s needs %v, %v; %s needs %v, %v", kind, action, got, possible, pattern, want, exists)
				}
				delete(needs, action)
			}
			if len(needs) > 0 {
				t.Errorf("%s has no routes for %v", kind, needs)
			}
		})
	}
}
