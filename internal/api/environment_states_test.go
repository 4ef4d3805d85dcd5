package api_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/accounts"
)

// transition is one row of the table of environment states.
type transition struct {
	name string
	run  func(t *testing.T, owner client)
}

// runTransitions runs every row as the owner of a new account.
func runTransitions(t *testing.T, plan string, rows []transition) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.run(t, newOwner(t, plan))
		})
	}
}

// transitions are the rows of the table, named after their From, Trigger,
// Condition and To.
var transitions = []transition{
	{"managed false, PUT managed true, slot free and ADMIN or OWNER: managed true", func(t *testing.T, owner client) {
		for _, role := range []string{"ADMIN", "OWNER"} {
			id := unique("environment")
			owner.discover("environment", id)
			got := owner.withRole(role).put(environmentsPath+"/"+id, envelope("", "", attributes{"name": "N", "managed": true})).want(200)
			if got.attribute("managed") != true || got.attribute("classification") != "AD_HOC" {
				t.Errorf("got %s, want it managed and otherwise as it was", got.body)
			}
			owner.delete(environmentsPath + "/" + id).want(204) // the slot is free again
		}
	}},
	{"managed false, PUT managed true by others: refused", func(t *testing.T, owner client) {
		for _, role := range []string{"VIEWER", "MEMBER"} {
			owner.withRole(role).put(environmentsPath+"/staging", envelope("", "", attributes{"name": "N", "managed": true})).
				refused(403, problem{code: "forbidden"})
		}
		if owner.get(environmentsPath+"/staging").attribute("managed") != false {
			t.Error("the refused promotion happened")
		}
	}},
	{"managed false, PUT managed true, at cap: managed false and 402", func(t *testing.T, owner client) {
		owner.makeEnvironment(unique("environment")) // the second of two
		owner.put(environmentsPath+"/staging", envelope("", "", attributes{"name": "Renamed", "managed": true, "classification": "AD_HOC"})).
			refused(402, problem{code: "entitlement_limit_reached", meta: map[string]any{
				"limit_key": "platform.managed_environments", "current": 2.0, "maximum": 2.0, "plan": "free", "product": "platform",
			}})
		got := owner.get(environmentsPath + "/staging").want(200)
		if got.attribute("managed") != false || got.text("name") != "Staging" || got.text("classification") != "STANDARD" {
			t.Errorf("the refused PUT left something: %s", got.body)
		}
		if order := owner.order(settingsPath); !slices.Contains(order, "staging") {
			t.Errorf("the refused PUT moved it out of the order: %v", order)
		}
	}},
	{"managed true, PUT managed false, not production: managed false and the slot is free", func(t *testing.T, owner client) {
		path := owner.makeEnvironment(unique("environment"))
		owner.post(environmentsPath, envelope("", "third", attributes{"name": "T"})).want(402)
		got := owner.put(path, envelope("", "", attributes{"name": "N", "managed": false})).want(200)
		if got.attribute("managed") != false || got.attribute("classification") != "STANDARD" {
			t.Errorf("got %s, want it unmanaged and otherwise as it was", got.body)
		}
		owner.post(environmentsPath, envelope("", "third", attributes{"name": "T"})).want(201)
	}},
	{"managed true, PUT managed false, production: unchanged and rejected", func(t *testing.T, owner client) {
		before := owner.get(environmentsPath + "/production").want(200)
		owner.put(environmentsPath+"/production", envelope("", "", attributes{"name": "Renamed", "managed": false})).
			refused(409, problem{code: "environment_protected", source: "pointer /data/attributes/managed"})
		if after := owner.get(environmentsPath + "/production").want(200); string(after.body) != string(before.body) {
			t.Errorf("the refused PUT left something: %s", after.body)
		}
	}},
	{"AD_HOC, PUT classification STANDARD: STANDARD and in all orders", adHocToStandard},
	{"STANDARD, PUT classification AD_HOC: AD_HOC and out of the account's order only", standardToAdHoc},
	{"the quota check runs only on the way from false to true", func(_ *testing.T, owner client) {
		path := owner.makeEnvironment(unique("environment")) // the second of two: at the cap
		for _, body := range []attributes{
			{"name": "N", "managed": true}, {"name": "M"}, {"name": "N", "managed": nil}, {"name": "N", "managed": true, "classification": "AD_HOC"},
		} {
			owner.put(path, envelope("", "", body)).want(200)
		}
		owner.put(environmentsPath+"/staging", envelope("", "", attributes{"name": "S", "managed": false})).want(200)
	}},
}

func TestEnvironment_Transitions(t *testing.T) {
	t.Parallel()
	runTransitions(t, "free", transitions)
}

// adHocToStandard: the environment is added to the order of the account and of
// every user whose own order lacks it.
func adHocToStandard(t *testing.T, owner client) {
	owner.discover("environment", "preview")
	personal, _ := owner.plantUser(accounts.Member)
	personal.put(ownSettingsPath, envelope("", "", attributes{"environment_order": []string{"production"}, "theme": "dark"})).want(200)
	keen, _ := owner.plantUser(accounts.Member)
	keen.put(ownSettingsPath, envelope("", "", attributes{"environment_order": []string{"preview", "staging"}})).want(200)
	follower, _ := owner.plantUser(accounts.Viewer)
	requireOrders(t, map[string][]string{"before": owner.order(settingsPath)}, map[string][]string{"before": {"staging", "production"}})

	owner.put(environmentsPath+"/preview", envelope("", "", attributes{"name": "P", "classification": "STANDARD"})).want(200)
	want := map[string][]string{
		"account": {"staging", "production", "preview"}, "personal": {"production", "preview"},
		"keen": {"preview", "staging"}, "follower": {"staging", "production", "preview"},
	}
	orders := func() map[string][]string {
		return map[string][]string{
			"account": owner.order(settingsPath), "personal": personal.order(ownSettingsPath),
			"keen": keen.order(ownSettingsPath), "follower": follower.order(ownSettingsPath),
		}
	}
	requireOrders(t, orders(), want)
	if personal.get(ownSettingsPath).attribute("theme") != "dark" {
		t.Error("other settings of a user were lost")
	}
	// Saying it again changes nothing; it has no effect on the quota.
	owner.put(environmentsPath+"/preview", envelope("", "", attributes{"name": "P", "classification": "standard"})).want(200)
	requireOrders(t, orders(), want)
	if owner.get(environmentsPath+"/preview").attribute("managed") != false {
		t.Error("a classification changed the other axis")
	}
	owner.makeEnvironment(unique("environment"))
}

// standardToAdHoc: the environment is removed from the account-level order
// only; users who personalized keep it, others do not see it any more.
func standardToAdHoc(t *testing.T, owner client) {
	personal, _ := owner.plantUser(accounts.Member)
	personal.put(ownSettingsPath, envelope("", "", attributes{"environment_order": []string{"staging", "production"}})).want(200)
	follower, _ := owner.plantUser(accounts.Member)

	got := owner.put(environmentsPath+"/staging", envelope("", "", attributes{"name": "S", "classification": "AD_HOC"})).want(200)
	if got.attribute("classification") != "AD_HOC" || got.attribute("managed") != false {
		t.Errorf("got %s", got.body)
	}
	newcomer, _ := owner.plantUser(accounts.Member)
	requireOrders(t, map[string][]string{
		"account": owner.order(settingsPath), "personal": personal.order(ownSettingsPath),
		"follower": follower.order(ownSettingsPath), "newcomer": newcomer.order(ownSettingsPath),
	}, map[string][]string{
		"account": {"production"}, "personal": {"staging", "production"}, "follower": {"production"}, "newcomer": {"production"},
	})
	// production may become AD_HOC as well.
	owner.put(environmentsPath+"/production", envelope("", "", attributes{"name": "P", "classification": "AD_HOC"})).want(200)
	requireOrders(t, map[string][]string{"account": owner.order(settingsPath)}, map[string][]string{"account": {}})
}

func requireOrders(t *testing.T, got, want map[string][]string) {
	t.Helper()
	if difference := cmp.Diff(want, got); difference != "" {
		text, _ := json.Marshal(got)
		t.Errorf("orders: want (-), got (+):\n%s%s", difference, text)
	}
}
