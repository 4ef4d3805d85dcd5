package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLogger_Spellings(t *testing.T) {
	t.Parallel()
	onBoth(t, "free", func(t *testing.T, owner client) {
		owner.put(loggersPath+"/Com%2FExample%3AShop", envelope("logger", "COM.example/SHOP", attributes{"level": "INFO"})).want(200)
		for _, spelling := range []string{"com.example.shop", "COM:EXAMPLE:SHOP", "com/example/shop"} {
			t.Run(spelling, func(t *testing.T) {
				owner := owner.in(t)
				got := owner.get(loggersPath + "/" + url.PathEscape(spelling)).want(200)
				if got.data().ID != "com.example.shop" || got.text("name") != "com.example.shop" {
					t.Errorf("got %s", got.body)
				}
				owner.get(loggersPath + "/" + url.PathEscape(spelling) + "/sources").want(200)
			})
		}
		owner.put(loggersPath+"/a", envelope("logger", "b", attributes{})).refused(400, invalid("/data/id"))
		owner.put(loggersPath+"/a", envelope("flag", "a", attributes{})).refused(400, invalid("/data/type"))
		if got := owner.observe(attributes{"id": "Com/Example/Shop"}, attributes{"id": "com.example.SHOP"}).outcome(); got.Registered != 1 {
			t.Errorf("got %+v", got)
		}
		owner.delete(loggersPath + "/COM.EXAMPLE.SHOP").want(204)
		owner.get(loggersPath + "/com.example.shop").want(404)
		long := strings.Repeat("Ä", 255)
		owner.put(loggersPath+"/"+url.PathEscape(long), envelope("", "", attributes{"level": "INFO"})).want(200)
		owner.put(loggersPath+"/"+url.PathEscape(long+"x"), envelope("", "", attributes{})).refused(400, invalid("/data/id"))
		widest := strings.Repeat("\U0001F6A6", 255) // four bytes each: no index may refuse it
		if got := owner.observe(attributes{"id": widest, "service": widest, "environment": widest}).outcome(); got.Registered != 1 {
			t.Errorf("got %+v", got)
		}
		owner.makeGroup(strings.Repeat("日", 255), attributes{})
		owner.setLogger("member", attributes{"group": strings.Repeat("日", 255)})
	})
}

func TestLogger_Replace(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "free")
	owner.makeGroup("sql", attributes{})
	path := owner.setLogger("l", attributes{"name": "Named", "level": "INFO", "group_id": "sql", "environments": attributes{"production": attributes{"level": "TRACE"}}})
	requireLogger(t, owner.get(path), true, "INFO", "sql", 1)
	got := owner.put(path, envelope("", "", attributes{"level": "warn"}))
	requireLogger(t, got, true, "WARN", nil, 0)
	if got.text("name") != "l" {
		t.Errorf("got %s", got.body)
	}
	for body, places := range map[string][]string{
		`{"level":"LOUD"}`:                                           {"level"},
		`{"level":5,"managed":"yes","name":""}`:                      {"level", "managed", "name"},
		`{"group":"a","group_id":"b"}`:                               {"group", "group_id"},
		`{"group":"nowhere"}`:                                        {"group"},
		`{"group_id":"nowhere"}`:                                     {"group_id"},
		`{"group":""}`:                                               {"group"},
		`{"environments":[]}`:                                        {"environments"},
		`{"environments":{"production":"INFO"}}`:                     {"environments/production"},
		`{"environments":{"production":{"level":"x"}}}`:              {"environments/production/level"},
		`{"level":"INFO","level_ttl_seconds":0}`:                     {"level_ttl_seconds"},
		`{"level":"INFO","level_expires_at":"2001-01-01T00:00:00Z"}`: {"level_expires_at"},
		`{"level":"INFO","level_expires_at":"soon"}`:                 {"level_expires_at"},
		`{"level_expires_at":"2101-01-01T00:00:00Z"}`:                {"level_expires_at"},
	} {
		t.Run(body, func(t *testing.T) {
			var problems []problem
			for _, place := range places {
				problems = append(problems, invalid("/data/attributes/"+place))
			}
			owner.in(t).put(path, `{"data":{"attributes":`+body+`}}`, offContract).refused(400, problems...)
		})
	}
	owner.put(path, envelope("", "", attributes{"level": "INFO", "level_expires_at": "2001-01-01T00:00:00Z", "group": "nowhere",
		"environments": attributes{"nowhere": attributes{"level": "INFO"}}})).refused(400, invalid("/data/attributes/level_expires_at"),
		problem{code: "environment_unmanaged", source: "pointer /data/attributes/environments/nowhere", meta: map[string]any{"environment": "nowhere"}},
		invalid("/data/attributes/group"))
	requireLogger(t, owner.get(path), true, "WARN", nil, 0)
}

func TestLogger_Resolved(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "free")
	owner.makeGroup("sql", attributes{"level": "ERROR", "environments": attributes{"production": attributes{"level": "FATAL"}}})
	owner.setLogger("a", attributes{"level": "WARN", "environments": attributes{"production": attributes{"level": "TRACE"}}})
	owner.setLogger("a.b.grouped", attributes{"group": "sql"})
	owner.observe(attributes{"id": "a.b.c.d"}, attributes{"id": "other"}, attributes{"id": "a.b.grouped.below"}, attributes{"id": "reported", "level": "DEBUG"}).want(200)
	for key, want := range map[string][2][3]any{
		"a":                 {{"TRACE", "environment", "a"}, {"WARN", "base", "a"}},
		"a.b.c.d":           {{"TRACE", "ancestor", "a"}, {"WARN", "ancestor", "a"}},
		"a.b.grouped":       {{"FATAL", "group", "sql"}, {"ERROR", "group", "sql"}},
		"a.b.grouped.below": {{"FATAL", "ancestor", "a.b.grouped"}, {"ERROR", "ancestor", "a.b.grouped"}},
		"other":             {{"INFO", "default", nil}, {"INFO", "default", nil}},
		"reported":          {{"DEBUG", "base", "reported"}, {"DEBUG", "base", "reported"}},
	} {
		t.Run(key, func(t *testing.T) {
			owner := owner.in(t)
			got := owner.get(loggersPath + "/" + key).want(200)
			if diff := cmp.Diff(want, [2][3]any{got.resolvedIn("production"), got.resolvedIn("staging")}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", key, diff)
			}
			// The same in a list that has neither the logger's ancestors nor other loggers, and
			// leaves out the unmanaged environment.
			listed := owner.get(loggersPath + "?page[size]=1&filter[search]=" + key).want(200).page().Data[0]
			managed := map[string]any{"production": got.attribute("resolved").(map[string]any)["production"]}
			if diff := cmp.Diff(any(managed), listed.Attributes["resolved"]); listed.ID == key && diff != "" {
				t.Errorf("%s in a list (-want +got):\n%s", key, diff)
			}
		})
	}
	group := owner.get(groupsPath + "/sql")
	if diff := cmp.Diff([2][3]any{{"FATAL", "environment", "sql"}, {"ERROR", "base", "sql"}}, [2][3]any{group.resolvedIn("production"), group.resolvedIn("staging")}); diff != "" {
		t.Error(diff)
	}
	// What an ancestor becomes is seen at once, and is no change of the descendant.
	tag := owner.get(loggersPath + "/a.b.c.d").header.Get("Etag")
	owner.setLogger("a", attributes{"level": "SILENT"})
	after := owner.get(loggersPath + "/a.b.c.d")
	if after.resolvedIn("production") != [3]any{"SILENT", "ancestor", "a"} || after.header.Get("Etag") != tag {
		t.Errorf("got %s", after.body)
	}
}

func TestLogger_Sources(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "free")
	var items []attributes
	for i := range 25 {
		items = append(items, attributes{"id": "l", "service": fmt.Sprintf("s%02d", i), "environment": "production", "level": "WARN"})
	}
	items = append(items, attributes{"id": "l", "service": "x", "environment": "production", "level": "DEBUG"},
		attributes{"id": "l", "service": "y", "environment": "production", "level": "INFO", "resolved_level": "silent"}, attributes{"id": "l"})
	if got := owner.observe(items...).outcome(); got.Registered != 28 {
		t.Errorf("got %+v", got)
	}
	got := owner.get(loggersPath + "/l").want(200)
	want := map[string]any{"production": []any{"DEBUG", "WARN", "SILENT"}, "unknown": []any{"INFO"}}
	if diff := cmp.Diff(want, got.attribute("effective_levels")); diff != "" {
		t.Error(diff)
	}
	if sources := got.attribute("sources").([]any); len(sources) != 20 {
		t.Errorf("got %d sources", len(sources))
	}
	tag, seq := got.header.Get("Etag"), owner.seq()
	owner.observe(attributes{"id": "l", "service": "new", "level": "TRACE"}).want(200)
	if after := owner.get(loggersPath + "/l"); after.header.Get("Etag") != tag || owner.seq() != seq || string(after.body) == string(got.body) {
		t.Error("what is observed is part of the definition, or is not shown")
	}
	empty := owner.get(owner.setLogger("never.seen", attributes{"level": "INFO"}))
	if !empty.contains(`"sources":[]`) || !empty.contains(`"effective_levels":{}`) || !empty.contains(`"environments":{}`) {
		t.Errorf("got %s", empty.body)
	}
}

func TestLoggers_Filters(t *testing.T) {
	t.Parallel()
	onBoth(t, "free", func(t *testing.T, owner client) {
		owner.makeGroup("sql", attributes{})
		owner.setLogger("a", attributes{"group": "sql", "name": "Accounts"})
		before := url.QueryEscape("[" + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) + ",*)")
		owner.observe(attributes{"id": "a", "service": "shop"}, attributes{"id": "b", "service": "shop"}, attributes{"id": "b", "service": "blog"}).want(200)
		owner.setLogger("c", attributes{})
		for query, want := range map[string]string{
			"filter[managed]=true": "a", "managed=false": "b c", "filter[service]=shop": "a b", "service=blog": "b", "filter[group]=sql": "a", "filter[group]=SQL": "",
			"filter[last_seen]=" + before: "a b", "last_seen=" + url.QueryEscape("[2101-01-01T00:00:00Z,*)"): "", "filter[search]=ACC": "a",
			"filter[service]=shop&filter[managed]=false&filter[last_seen]=" + before: "b",
		} {
			t.Run(query, func(t *testing.T) {
				if got := strings.Join(owner.in(t).get(loggersPath+"?"+query).want(200).ids(), " "); got != want {
					t.Errorf("?%s: got %q, want %q", query, got, want)
				}
			})
		}
		owner.get(loggersPath+"?filter[last_seen]=yesterday", offContract).refused(400, wrongParameter("filter[last_seen]"))
		owner.get(loggersPath+"?managed=perhaps").refused(400, wrongParameter("managed"))
	})
}

func TestLogGroup_Lifecycle(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "free")
	path := owner.makeGroup("SQL", attributes{"level": "warn", "parent_id": nil})
	got := owner.get(path).want(200)
	if got.text("name") != "SQL" || got.attribute("level") != "WARN" || got.attribute("parent_id") != nil {
		t.Errorf("got %s", got.body)
	}
	owner.get(groupsPath + "/sql").want(404)
	owner.put(groupsPath+"/sql", envelope("", "", attributes{})).refused(404, problem{code: "not_found"})
	taken := problem{code: "already_exists", source: "pointer /data/id"}
	owner.post(groupsPath, envelope("", "SQL", attributes{})).refused(409, taken)
	owner.setLogger("logger", attributes{})
	owner.post(groupsPath, envelope("", "logger", attributes{})).refused(409, taken)
	owner.makeGroup("group", attributes{})
	owner.put(loggersPath+"/Group", envelope("", "", attributes{"level": "INFO"})).refused(409, problem{code: "already_exists"})
	owner.get(loggersPath + "/group").want(404)
	if got := owner.observe(attributes{"id": "group"}, attributes{"id": "fine"}).outcome(); got.Registered != 1 || !slices.Equal(got.rejected(), []int{0}) {
		t.Errorf("got %+v", got)
	}
	nested := problem{code: "group_nesting_unsupported", source: "pointer /data/attributes/parent_id"}
	owner.post(groupsPath, envelope("", "nested", attributes{"parent_id": "SQL"}), offContract).refused(400, nested)
	owner.put(path, envelope("", "", attributes{"parent_id": "group"}), offContract).refused(400, nested)
	owner.post(groupsPath, envelope("", "", attributes{}), offContract).refused(400, invalid("/data/id"))
	owner.post(groupsPath, envelope("", "a\nb", attributes{"level": "LOUD"}), offContract).refused(400, invalid("/data/id"), invalid("/data/attributes/level"))
	owner.makeGroup("third", attributes{})
	owner.post(groupsPath, envelope("", "fourth", attributes{})).refused(402, problem{code: "entitlement_limit_reached",
		meta: map[string]any{"limit_key": "logging.groups", "current": 3.0, "maximum": 3.0, "plan": "free"}})
	got = owner.put(path, envelope("", "", attributes{"name": "Databases", "environments": attributes{"production": attributes{"level": "TRACE"}}})).want(200)
	if got.text("name") != "Databases" || got.attribute("level") != nil || got.environment("production")["level"] != "TRACE" {
		t.Errorf("got %s", got.body)
	}
	owner.delete(path).want(204)
	owner.makeGroup("SQL", attributes{}) // the slot and the key are free again
}

func TestLogGroup_DeleteDetachesMembers(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "free")
	path := owner.makeGroup("sql", attributes{"level": "WARN"})
	owner.setLogger("only.grouped", attributes{"group": "sql"})
	owner.setLogger("more", attributes{"group": "sql", "level": "INFO"})
	seq := owner.seq()
	owner.delete(path).want(204)
	requireLogger(t, owner.get(loggersPath+"/only.grouped"), false, nil, nil, 0)
	requireLogger(t, owner.get(loggersPath+"/more"), true, "INFO", nil, 0)
	want := [][3]any{{"logger", "more", "cascaded"}, {"logger", "only.grouped", "cascaded"}, {"log_group", "sql", "deleted"}, {"logger", "*", "cascaded"}}
	if diff := cmp.Diff(want, owner.changesAfter(seq)); diff != "" {
		t.Error(diff)
	}
	path, seq = owner.makeGroup("empty", attributes{}), owner.seq()
	owner.delete(path).want(204)
	if diff := cmp.Diff([][3]any{{"log_group", "empty", "deleted"}}, owner.changesAfter(seq)); diff != "" {
		t.Error(diff)
	}
}
