package accounts_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestSettings_MarshalJSON(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		settings accounts.Settings
		want     string
	}{
		"nothing":            {accounts.Settings{}, `{"environment_order":[]}`},
		"an empty object":    {accounts.Settings{Other: json.RawMessage(`{}`)}, `{"environment_order":[]}`},
		"a spacious object":  {accounts.Settings{Other: json.RawMessage(`{ }`)}, `{"environment_order":[]}`},
		"an order":           {accounts.Settings{Order: []string{"b", "a"}, Other: json.RawMessage(`{}`)}, `{"environment_order":["b","a"]}`},
		"other members":      {accounts.Settings{Other: json.RawMessage(`{"z":1.0,"a":{"x":[]}}`)}, `{"environment_order":[],"z":1.0,"a":{"x":[]}}`},
		"an empty name":      {accounts.Settings{Other: json.RawMessage(`{"":0}`)}, `{"environment_order":[],"":0}`},
		"order and a member": {accounts.Settings{Order: []string{"é\"<"}, Other: json.RawMessage(`{"a":null}`)}, `{"environment_order":["é\"<"],"a":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(each.settings)
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if err := json.Unmarshal([]byte(each.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		})
	}
}

func order(environments ...string) accounts.SettingsDraft {
	return accounts.SettingsDraft{Order: optional.Of(environments), Other: json.RawMessage(`{}`)}
}

func TestReplaceSettings_Order(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		for name, each := range map[string]struct{ sent, want []string }{
			"as sent":         {[]string{"production", "staging"}, []string{"production", "staging"}},
			"one left out":    {[]string{"staging"}, []string{"staging"}},
			"none":            {nil, []string{}},
			"repeated":        {[]string{"staging", "production", "staging"}, []string{"staging", "production"}},
			"unknown":         {[]string{"nowhere", "staging", ""}, []string{"staging"}},
			"in another case": {[]string{"Staging"}, []string{}},
		} {
			t.Run(name, func(t *testing.T) {
				replaced, err := h.ReplaceAccountSettings(t.Context(), h.owner, order(each.sent...), nil)
				if err != nil {
					t.Fatal(err)
				}
				stored, err := h.AccountSettings(t.Context(), h.owner)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(each.want, stored.Order) + cmp.Diff(stored, replaced); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			})
		}
	})
}

func TestUserSettings_FollowsTheAccount(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	see := func(want ...string) {
		t.Helper()
		settings, err := h.UserSettings(t.Context(), h.owner)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, settings.Order); diff != "" {
			t.Errorf("the user sees another order (-want +got):\n%s", diff)
		}
	}
	account := func(environments ...string) {
		t.Helper()
		if _, err := h.ReplaceAccountSettings(t.Context(), h.owner, order(environments...), nil); err != nil {
			t.Fatal(err)
		}
	}
	user := func(draft accounts.SettingsDraft, want ...string) {
		t.Helper()
		settings, err := h.ReplaceUserSettings(t.Context(), h.owner, draft, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, settings.Order); diff != "" {
			t.Errorf("the answer has another order (-want +got):\n%s", diff)
		}
	}
	see("staging", "production")
	account("production")
	see("production")
	user(order("staging"), "staging")
	account("production", "staging")
	see("staging")
	user(accounts.SettingsDraft{Other: json.RawMessage(`{"theme":"dark"}`)}, "production", "staging")
	see("production", "staging")
	user(accounts.SettingsDraft{Order: optional.Null[[]string](), Other: json.RawMessage(`{}`)}, "production", "staging")
}

func TestReplaceSettings_OtherMembers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		other := json.RawMessage(`{"b":1.0,"a":{"ü":[null,1e3]},"s":"\u0000"}`)
		draft := accounts.SettingsDraft{Other: other}
		if _, err := h.ReplaceAccountSettings(t.Context(), h.owner, draft, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := h.ReplaceUserSettings(t.Context(), h.owner, draft, nil); err != nil {
			t.Fatal(err)
		}
		account, err := h.AccountSettings(t.Context(), h.owner)
		if err != nil || string(account.Other) != string(other) {
			t.Errorf("the account's are %s, %v", account.Other, err)
		}
		user, err := h.UserSettings(t.Context(), h.owner)
		if err != nil || string(user.Other) != string(other) {
			t.Errorf("the user's are %s, %v", user.Other, err)
		}
	})
}

func TestReplaceSettings_Rules(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	large := accounts.SettingsDraft{Other: json.RawMessage(`{"a":"` + strings.Repeat("x", 256<<10) + `"}`)}
	read := accounts.SettingsDraft{Other: json.RawMessage(`{}`)}
	read.Problems.Attribute("environment_order", "must be an array of strings")
	for name, draft := range map[string]accounts.SettingsDraft{"too large": large, "what reading found": read} {
		t.Run(name, func(t *testing.T) {
			_, account := h.ReplaceAccountSettings(t.Context(), h.owner, draft, nil)
			_, user := h.ReplaceUserSettings(t.Context(), h.owner, draft, nil)
			for _, err := range []error{account, user} {
				if !fault.Is(err, fault.Validation) {
					t.Errorf("%s got %v", name, err)
				}
			}
		})
	}
	stale := func(accounts.Settings) bool { return false }
	_, account := h.ReplaceAccountSettings(t.Context(), h.owner, order(), stale)
	_, user := h.ReplaceUserSettings(t.Context(), h.owner, order(), stale)
	for _, err := range []error{account, user} {
		if !fault.Is(err, fault.VersionMismatch) {
			t.Errorf("got %v", err)
		}
	}
}

func TestSettings_OfAccountAndUser(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	stranger := storetest.NewTenant(t, h.db, "pro").Owner
	colleague := accounts.User{ID: "colleague", Account: h.owner.Account, Email: "c", Role: accounts.Member}
	if err := h.db.Write(t.Context(), h.owner.Account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertUser(ctx, colleague) }); err != nil {
		t.Fatal(err)
	}
	draft := order("staging")
	draft.Other = json.RawMessage(`{"mine":true}`)
	if _, err := h.ReplaceUserSettings(t.Context(), h.owner, draft, nil); err != nil {
		t.Fatal(err)
	}
	for name, caller := range map[string]accounts.Caller{
		"a stranger":  stranger,
		"a colleague": {Account: h.owner.Account, UserID: colleague.ID},
	} {
		t.Run(name, func(t *testing.T) {
			settings, err := h.UserSettings(t.Context(), caller)
			if err != nil || string(settings.Other) != `{}` || len(settings.Order) != 2 {
				t.Errorf("%s sees %+v, %v", name, settings, err)
			}
		})
	}
	mixed := accounts.Caller{Account: stranger.Account, UserID: h.owner.UserID}
	if _, err := h.UserSettings(t.Context(), mixed); !fault.Is(err, fault.NotFound) {
		t.Errorf("a user of another account is found: %v", err)
	}
}
