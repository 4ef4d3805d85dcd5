package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestEnvironment_OfNewAccount(t *testing.T) {
	t.Parallel()
	first := start(t, storetest.New(t, "sqlite"))
	for _, owner := range []client{first, first.account("free")} {
		got := map[string][]any{}
		for _, each := range owner.get(environmentsPath).want(200).page().Data {
			got[each.ID] = []any{each.Attributes["name"], each.Attributes["color"], each.Attributes["classification"], each.Attributes["managed"]}
		}
		want := map[string][]any{"production": {"Production", nil, "STANDARD", true}, "staging": {"Staging", nil, "STANDARD", false}}
		if difference := cmp.Diff(want, got); difference != "" {
			t.Error(difference)
		}
		requireOrders(t, map[string][]string{"account": owner.order(settingsPath), "user": owner.order(ownSettingsPath)},
			map[string][]string{"account": {"staging", "production"}, "user": {"staging", "production"}})
	}
}

func TestEnvironment_CreatedStandardAndManaged(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	personal, _ := owner.plantUser(accounts.Member)
	personal.put(ownSettingsPath, envelope("", "", attributes{"environment_order": []string{"production"}})).want(200)
	want := []string{"staging", "production"}
	for _, body := range []attributes{
		{"name": "N"}, {"name": "N", "managed": false, "classification": "AD_HOC"}, {"name": "N", "managed": nil, "classification": nil},
		{"name": "N", "classification": "ad_hoc", "color": "#A1b2C3"},
	} {
		t.Run(fmt.Sprint(body), func(t *testing.T) {
			id := unique("Environment.new_")
			got := owner.in(t).post(environmentsPath, envelope("environment", id, body)).want(201)
			if got.data().ID != id || got.text("classification") != "STANDARD" || got.attribute("managed") != true || got.attribute("color") != body["color"] {
				t.Errorf("sent %v, got %s", body, got.body)
			}
			if got.text("created_at") != got.text("updated_at") {
				t.Errorf("created and updated at different times: %s", got.body)
			}
			want = append(want, id)
		})
	}
	requireOrders(t, map[string][]string{"account": owner.order(settingsPath), "personal": personal.order(ownSettingsPath)},
		map[string][]string{"account": want, "personal": {"production"}})
}

func TestEnvironment_Replace(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name       string
		attributes attributes
		want       []any // name, color, classification, managed
	}{
		{"what is omitted of the two axes stays", attributes{"name": "M"}, []any{"M", nil, "STANDARD", true}},
		{"null axes stay as well", attributes{"name": "M", "managed": nil, "classification": nil, "color": nil}, []any{"M", nil, "STANDARD", true}},
		{"an omitted color is null", attributes{"name": "M", "managed": true, "classification": "STANDARD"}, []any{"M", nil, "STANDARD", true}},
		{"a color is kept as it is written", attributes{"name": "M", "color": "#AbC"}, []any{"M", "#AbC", "STANDARD", true}},
		{"a classification in lower case", attributes{"name": "M", "color": "#000000", "classification": "ad_hoc"}, []any{"M", "#000000", "AD_HOC", true}},
		{"a classification in mixed case", attributes{"name": "M", "classification": "Ad_Hoc"}, []any{"M", nil, "AD_HOC", true}},
		{"both axes at once", attributes{"name": "M", "classification": "AD_HOC", "managed": false}, []any{"M", nil, "AD_HOC", false}},
		{"read-only attributes are ignored", attributes{"name": "M", "created_at": nil, "id": "x", "key": 5}, []any{"M", nil, "STANDARD", true}},
		{"the longest name", attributes{"name": strings.Repeat("漢", 255)}, []any{strings.Repeat("漢", 255), nil, "STANDARD", true}},
	}
	first := newOwner(t, "pro")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			owner, id := first.in(t), unique("environment")
			made := owner.post(environmentsPath, envelope("", id, attributes{"name": "N", "color": "#123456"})).want(201)
			path := environmentsPath + "/" + id
			put := owner.put(path, envelope("environment", id, c.attributes)).want(200)
			for _, got := range []answer{put, owner.get(path).want(200)} {
				if difference := cmp.Diff(c.want, []any{got.text("name"), got.attribute("color"), got.text("classification"), got.attribute("managed")}); difference != "" {
					t.Errorf("%s: want (-), got (+):\n%s", got.what, difference)
				}
				if got.text("created_at") != made.text("created_at") || sortableTime(got.text("updated_at")) <= sortableTime(made.text("updated_at")) {
					t.Errorf("%s: the times are wrong: made %s, now %s", got.what, made.body, got.body)
				}
			}
		})
	}
	t.Run("one that does not exist", func(t *testing.T) {
		t.Parallel()
		first.in(t).put(environmentsPath+"/nowhere", envelope("", "", attributes{"name": "N"})).refused(404, problem{code: "not_found"})
		first.in(t).get(environmentsPath+"/nowhere").refused(404, problem{code: "not_found"})
		first.in(t).get(environmentsPath+"/Staging").refused(404, problem{code: "not_found"})
	})
}

func TestReplace_RoundTrip(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, path := range []string{
		accountPath, settingsPath, ownSettingsPath, environmentsPath + "/production", aService(owner), aContextType(owner), aContext(owner), aKey(owner),
	} {
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			read := owner.get(path).want(200)
			written := owner.put(path, string(read.body)).want(200)
			before, after := read.data(), written.data()
			delete(before.Attributes, "updated_at")
			delete(after.Attributes, "updated_at")
			if difference := cmp.Diff(before, after); difference != "" {
				t.Errorf("a round trip changed something:\n%s", difference)
			}
		})
	}
}

func TestEnvironment_Delete(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	personal, _ := owner.plantUser(accounts.Member)
	for _, query := range []string{"", "?cascade=false", "?cascade=true"} {
		t.Run(fmt.Sprintf("%q", query), func(t *testing.T) {
			owner := owner.in(t)
			personal := personal.in(t)
			id := unique("environment")
			path := owner.makeEnvironment(id)
			personal.put(ownSettingsPath, envelope("", "", attributes{"environment_order": []string{id, "staging"}})).want(200)
			if got := owner.delete(path + query).want(204); len(got.body) != 0 || got.header.Get("Content-Type") != "" {
				t.Errorf("a deletion answered with a body: %q", got.body)
			}
			for _, method := range []string{http.MethodGet, http.MethodDelete} {
				owner.send(method, path, "").refused(404, problem{code: "not_found"})
			}
			owner.get(path+"/usage").refused(404, problem{code: "not_found"})
			requireOrders(t, map[string][]string{"account": owner.order(settingsPath), "personal": personal.order(ownSettingsPath)},
				map[string][]string{"account": {"staging", "production"}, "personal": {"staging"}})
			owner.makeEnvironment(id) // the key is free again
			owner.delete(path).want(204)
		})
	}
	owner.delete(environmentsPath+"/production?cascade=true").refused(409, problem{code: "environment_protected"})
	owner.get(environmentsPath + "/production").want(200)
}

func TestEnvironment_UsageOfEmpty(t *testing.T) {
	t.Parallel()
	got := newOwner(t, "pro").get(environmentsPath + "/staging/usage").want(200).data()
	want := resource{ID: "staging", Type: "environment_usage", Attributes: map[string]any{
		"flag_rules": 0.0, "flag_env_defaults": 0.0, "config_overrides": 0.0, "logger_overrides": 0.0,
	}}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}
}

// TestEnvironment_RacingPromotions: 32 callers on several nodes compete
// for the last slots of the plan.
func TestEnvironment_RacingPromotions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		first := start(t, database)
		key := first.node.Account(t, "Racing", "jobs=standard") // 5 slots, 1 in use
		nodes := []client{first.as(key)}
		if database.Kind == "postgres" {
			nodes = append(nodes, start(t, database).as(key))
		}
		const racers = 32
		for i := range racers {
			nodes[0].discover("environment", "racer-"+string(rune('a'+i%26))+string(rune('a'+i/26)))
		}
		racing := nodes[0].get(environmentsPath + "?filter[classification]=AD_HOC").want(200).ids()
		statuses := make([]int, racers)
		var group sync.WaitGroup
		for i, id := range racing {
			group.Go(func() {
				statuses[i] = nodes[i%len(nodes)].put(environmentsPath+"/"+id, envelope("", "", attributes{"name": id, "managed": true})).status
			})
		}
		group.Wait()
		counts := map[int]int{}
		for _, status := range statuses {
			counts[status]++
		}
		if difference := cmp.Diff(map[int]int{200: 4, 402: racers - 4}, counts); difference != "" {
			t.Error(difference)
		}
		if managed := nodes[0].get(environmentsPath + "?filter[managed]=true").ids(); len(managed) != 5 {
			t.Errorf("%v are managed, want 5", managed)
		}
	})
}

func TestEnvironment_ChangedPlan(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "free")
	owner.makeEnvironment("second")
	more := envelope("", "third", attributes{"name": "T"})
	owner.post(environmentsPath, more).want(402)
	account := owner.accountKey()
	operate(t, owner.node, func(operator *app.Operator) error {
		_, err := operator.SetPlan(t.Context(), account, "logging=pro")
		return err
	})
	owner.post(environmentsPath, more).want(201)
	want := map[string]any{"jobs": "free", "flags": "free", "logging": "pro", "config": "free"}
	if difference := cmp.Diff(want, owner.get(accountPath).want(200).attribute("plans")); difference != "" {
		t.Error(difference)
	}
}

// operate does what the command line would, beside the running node.
func operate(t testing.TB, node *apptest.Node, do func(*app.Operator) error) {
	t.Helper()
	operator, err := app.OpenOperator(t.Context(), node.Settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close()
	if err := do(operator); err != nil {
		t.Fatal(err)
	}
}

// later returns a time that has not come yet, as clients write it.
func later(after time.Duration) string { return time.Now().Add(after).UTC().Format(time.RFC3339Nano) }
