package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestFlagDiscovery_FirstDeclarationWins(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	got := owner.declare(
		attributes{"id": "found", "type": "numeric", "default": 1, "service": "shop", "environment": "staging"},
		attributes{"id": "found", "type": "STRING", "default": "x", "service": "blog"},
		attributes{"id": "found", "type": "NUMERIC", "default": 2, "service": "shop", "environment": "staging"},
	).outcome()
	if got.Registered != 2 || got.Meta != nil {
		t.Errorf("got %+v, want two distinct declarations", got)
	}
	found := owner.get(flagsPath + "/found").want(200)
	if found.attribute("type") != "NUMERIC" || found.attribute("default") != 1.0 || found.attribute("last_seen") == nil {
		t.Errorf("got %s", found.body)
	}
	sources := map[string]any{}
	for _, each := range owner.get(flagsPath + "/found/sources").want(200).page().Data {
		a := each.Attributes
		sources[fmt.Sprint(a["flag"], " ", a["service"], " ", a["environment"])] = []any{a["declared_type"], a["declared_default"]}
	}
	want := map[string]any{"found shop staging": []any{"NUMERIC", 2.0}, "found blog unknown": []any{"STRING", "x"}}
	if difference := cmp.Diff(want, sources); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
	if change := owner.latest().Attributes; change["action"] != "discovered" || change["kind"] != "flag" || change["key"] != "*" {
		t.Errorf("the history says %v", change)
	}
}

func TestFlagDiscovery_RefreshLeavesNoChange(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.discoverFlag("found")
	before, seq := owner.get(path).want(200), owner.seq()
	source := owner.get(sourcesPath).page().Data[0].Attributes

	owner.discoverFlag("found")
	owner.declare(attributes{"id": "found", "type": "STRING", "default": "x", "service": "other"}).want(200)
	var refreshed map[string]any
	eventually(t, patience, "the source is refreshed", func() bool {
		refreshed = owner.get(sourcesPath + "?filter[service]=unknown").page().Data[0].Attributes
		return refreshed["last_seen"] != source["last_seen"]
	})
	after := owner.get(path).want(200)
	if owner.seq() != seq || after.header.Get("Etag") != before.header.Get("Etag") || after.attribute("updated_at") != before.attribute("updated_at") {
		t.Errorf("a refresh changed the flag:\n%s\n%s", before.body, after.body)
	}
	if sortableTime(after.text("last_seen")) <= sortableTime(before.text("last_seen")) {
		t.Errorf("last_seen went from %s to %s", before.text("last_seen"), after.text("last_seen"))
	}
	if refreshed["first_observed"] != source["first_observed"] {
		t.Errorf("from %v to %v", source, refreshed)
	}
	owner.get(path, with("If-None-Match", before.header.Get("Etag"))).want(200) // for last_seen is new
}

func TestFlagDiscovery_RejectedItems(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	got := owner.post(flagsPath+"/bulk", `{"flags":[{"id":"a","type":"BOOLEAN","default":true},7,{"id":"b","type":"ENUM","default":1},`+
		`{"id":"c","type":"STRING","default":5},{"id":"/","type":"STRING","default":""},{"type":"STRING","default":""},{"id":"d","type":"STRING"},`+
		`{"id":"e","type":"JSON"},{"id":"f","type":"NUMERIC","default":null},{"id":"g","type":"BOOLEAN","default":true,"service":""},`+
		`{"id":"h","type":"BOOLEAN","default":true,"environment":"a\nb"},{"id":5,"type":"JSON"},{"id":"i","type":"JSON","default":{"a":1},"service":null}]}`, offContract).outcome()
	if difference := cmp.Diff([]int{1, 2, 3, 4, 5, 6, 8, 9, 10, 11}, got.rejected()); difference != "" || got.Registered != 3 {
		t.Errorf("registered %d; rejected: want (-), got (+):\n%s", got.Registered, difference)
	}
	if ids := strings.Join(owner.get(flagsPath).ids(), " "); ids != "a e i" {
		t.Errorf("got %s", ids)
	}
	for _, body := range []string{`{}`, `{"flags":null}`, `{"flags":{}}`} {
		t.Run(body, func(t *testing.T) { owner.in(t).post(flagsPath+"/bulk", body).want(400) })
	}
}

func TestFlagDiscovery_ScopedKey(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	scoped := owner.as(owner.makeKey(attributes{"role": "VIEWER", "scopes": attributes{"environments": []string{"staging"}}}).secret)
	got := scoped.declare(attributes{"id": "a", "type": "JSON", "environment": "staging"}, attributes{"id": "b", "type": "JSON", "environment": "production"}).outcome()
	if got.Registered != 1 || len(got.rejected()) != 1 || got.rejected()[0] != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestFlagSources_Filters(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.declare(attributes{"id": "a", "type": "JSON", "service": "shop", "environment": "qa"}, attributes{"id": "a", "type": "JSON", "service": "blog", "environment": "qa"},
			attributes{"id": "b", "type": "JSON", "service": "shop", "environment": "production"}).want(200)
		for path, want := range map[string]int{
			sourcesPath: 3, sourcesPath + "?filter[service]=shop": 2, sourcesPath + "?service=shop&environment=qa": 1, sourcesPath + "?filter[environment]=qa": 2,
			flagsPath + "/a/sources": 2, flagsPath + "/a/sources?service=blog": 1, flagsPath + "/b/sources?filter[environment]=qa": 0,
		} {
			t.Run(path, func(t *testing.T) {
				if got := owner.in(t).get(path).want(200).ids(); len(got) != want {
					t.Errorf("got %d sources, want %d", len(got), want)
				}
			})
		}
		owner.get(flagsPath+"/nowhere/sources").refused(404, problem{code: "not_found"})
	})
}

func TestFlagDiscovery_RowLimit(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	items := make([]attributes, 10_001)
	for i := range items {
		items[i] = attributes{"id": fmt.Sprintf("flag-%05d", i), "type": "BOOLEAN", "default": false}
	}
	owner.declare(items...).refused(400, invalid("/flags"))
	if got := owner.declare(items[9_900:10_000]...).outcome(); got.Registered != 100 {
		t.Errorf("got %+v", got)
	}
	owner.addTotal("flags", 9_900)
	owner.post(flagsPath, envelope("", "one-more", boolean(false, nil))).
		refused(409, problem{code: "row_limit_reached", meta: map[string]any{"limit_key": "flags.flag_rows", "maximum": 10_000.0}})
	if got := owner.declare(items[9_999], items[10_000]).outcome(); got.Registered != 1 {
		t.Errorf("past the cap: got %+v, want the known one only", got)
	}
	owner.delete(flagsPath + "/flag-09900").want(204)
	owner.makeFlag("one-more", nil)
	if got := owner.get(flagsPath + "?filter[search]=FLAG-0999&page[size]=3&meta[total]=true").want(200); got.page().Meta.Pagination["total"] != 10 {
		t.Errorf("got %s", got.body)
	}
}

func TestFlag_LastEvaluated(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	tag := ""
	t.Run("a node notes it and stops", func(t *testing.T) { //nolint:paralleltest // what follows waits for its end
		owner := start(t, database)
		tag = owner.get(owner.makeFlag("used", nil)).want(200).header.Get("Etag")
		owner.measure(metric("flags.evaluations", 3, attributes{"dimensions": attributes{"flag": "used"}})).want(202)
		owner.measure(metric("flags.evaluations", 3, attributes{"dimensions": attributes{"flag": "nowhere"}})).want(202)
	})
	got := start(t, database).get(flagsPath + "/used").want(200)
	if got.attribute("last_evaluated") == nil || got.header.Get("Etag") != tag {
		t.Errorf("got the tag %s after %s with %s", got.header.Get("Etag"), tag, got.body)
	}
}

// TestFlag_Stale: the account's settings decide, and neither the tag nor the history of a flag knows.
func TestFlag_Stale(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		old := time.Now().UTC().Truncate(time.Microsecond).AddDate(0, 0, -20)
		account := owner.get(accountPath).want(200).data().ID
		plant(owner, func(ctx context.Context, tx *store.Tx) error {
			return tx.SaveFlag(ctx, flags.Flag{Account: account, Key: "old", Name: "Old", Type: flageval.String, Default: json.RawMessage(`"x"`), Managed: true,
				Environments: map[string]flags.Environment{}, CreatedAt: old, UpdatedAt: old}, nil)
		})
		owner.makeFlag("new", nil)
		finds := func(query, want string) {
			t.Helper()
			if got := strings.Join(owner.get(flagsPath+query).want(200).ids(), " "); got != want {
				t.Errorf("%s: got %q, want %q", query, got, want)
			}
		}
		finds("?filter[stale]=true", "")
		finds("?stale=false", "new old")
		before := owner.get(flagsPath + "/old").want(200)
		owner.put(settingsPath, envelope("", "", attributes{"stale_flags": attributes{"unevaluated_days": 7}})).want(200)
		finds("?filter[stale]=true", "old")
		finds("?filter[stale]=false", "new")
		finds("?filter[stale]=true&filter[search]=new", "")
		after := owner.get(flagsPath + "/old").want(200)
		want := attributes{"since": old.Format(time.RFC3339Nano), "reason": "not_declared"}
		if diff := cmp.Diff(want, after.attribute("stale")); diff != "" || strings.Contains(string(before.body), "stale") {
			t.Errorf("before %s (-want +got):\n%s", before.body, diff)
		}
		if after.header.Get("Etag") != before.header.Get("Etag") {
			t.Error("the tag has changed")
		}
		owner.get(flagsPath+"?filter[stale]=yes").refused(400, wrongParameter("filter[stale]"))
		owner.put(settingsPath, envelope("", "", attributes{"stale_flags": attributes{"unevaluated_days": 0}})).
			refused(400, invalid("/data/attributes/stale_flags/unevaluated_days"))
	})
}
