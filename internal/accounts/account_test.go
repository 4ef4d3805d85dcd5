package accounts_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// found creates an account with a name.
func found(t *testing.T, db *store.DB, name string) (account accounts.Account, key accounts.Key, err error) {
	t.Helper()
	err = db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		account, key, err = accounts.Found(ctx, tx, name, plans.Held{plans.Jobs: "pro"}, accounts.ParseSecret("chosen"))
		return err
	})
	return account, key, err
}

func TestFound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account, key, err := found(t, db, "Acme")
		if err != nil {
			t.Fatal(err)
		}
		if key.Plaintext != "chosen" || key.Role != accounts.Owner || key.Status != accounts.Active || key.Account != account.ID {
			t.Errorf("the key is %+v", key)
		}
		service := &accounts.Service{Store: db.Accounts()}
		owner, err := service.CurrentUser(t.Context(), key.Caller())
		if err != nil || owner.Role != accounts.Owner || owner.Email == "" || owner.ID != key.CreatedBy {
			t.Errorf("the owner is %+v, %v", owner, err)
		}
		stored, err := service.Account(t.Context(), key.Caller())
		if diff := cmp.Diff(account, stored); err != nil || diff != "" {
			t.Errorf("%v (-made +stored):\n%s", err, diff)
		}
		history, err := db.After(t.Context(), account.ID, 0, 10)
		if err != nil || len(history) != 2 || history[0].Kind != accounts.KindAccount || history[1].Kind != accounts.KindKey {
			t.Errorf("recorded %+v, %v", history, err)
		}
		for _, change := range history {
			if change.Actor != changes.Operator() || change.Action != changes.Created {
				t.Errorf("recorded %+v", change)
			}
		}
	})
}

func TestFound_KeyFromName(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)
	for name, want := range map[string]string{
		"Acme":                   "acme",
		"Acme, Inc.":             "acme-inc",
		"  spaces  ":             "spaces",
		"ÄÖÜ 3":                  "3",
		"under_score.and-hyphen": "under-score-and-hyphen",
		"9 lives":                "9-lives",
		strings.Repeat("x", 255): strings.Repeat("x", 100),
		"日本":                     "account-",
		"!":                      "account-",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			account, _, err := found(t, storetest.New(t, "sqlite").Open(t), name)
			if err != nil || !pattern.MatchString(account.Key) || !strings.HasPrefix(account.Key, want) {
				t.Errorf("%q has the key %q, %v", name, account.Key, err)
			}
			if want != "account-" && account.Key != want {
				t.Errorf("%q has the key %q", name, account.Key)
			}
		})
	}
}

func TestFound_Refusals(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		for _, name := range []string{"", strings.Repeat("x", 256)} {
			t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
				if _, _, err := found(t, db, name); !fault.Is(err, fault.Validation) {
					t.Errorf("got %v", err)
				}
			})
		}
		if _, _, err := found(t, db, "Acme"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := found(t, db, "ACME!"); !fault.Is(err, fault.AlreadyExists) {
			t.Errorf("got %v", err)
		}
	})
}

func TestReplaceAccount_Rules(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	key := func(text string) accounts.AccountDraft {
		return accounts.AccountDraft{Name: optional.Of("n"), Key: optional.Of(text)}
	}
	held := func(held plans.Held) accounts.AccountDraft {
		return accounts.AccountDraft{Name: optional.Of("n"), Plans: optional.Of(held)}
	}
	forbidden := []refusal{{fault.Forbidden, fault.Attribute("plans")}}
	for name, each := range map[string]struct {
		draft accounts.AccountDraft
		want  []refusal
	}{
		"a name":               {accounts.AccountDraft{Name: optional.Of("n")}, nil},
		"no name":              {accounts.AccountDraft{}, []refusal{invalid("name")}},
		"a long name":          {accounts.AccountDraft{Name: optional.Of(strings.Repeat("x", 256))}, []refusal{invalid("name")}},
		"a key":                {key("a.b_c-9"), nil},
		"an empty key":         {key(""), []refusal{invalid("key")}},
		"a key in upper case":  {key("Acme"), []refusal{invalid("key")}},
		"a key with a space":   {key("a b"), []refusal{invalid("key")}},
		"a key with a newline": {key("a\n"), []refusal{invalid("key")}},
		"a long key":           {key(strings.Repeat("x", 101)), []refusal{invalid("key")}},
		"both wrong":           {accounts.AccountDraft{Name: optional.Of(""), Key: optional.Of("-")}, []refusal{invalid("name"), invalid("key")}},
		"the plans it has":     {held(h.tenant.Account.Plans), nil},
		"one of its plans":     {held(plans.Held{plans.Jobs: "pro"}), nil},
		"no plans":             {held(plans.Held{}), nil},
		"another plan":         {held(plans.Held{plans.Jobs: "free"}), forbidden},
		"an unknown product":   {held(plans.Held{"tea": "pro"}), forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.ReplaceAccount(t.Context(), h.owner, each.draft, nil)
			if diff := cmp.Diff(each.want, refusals(err), cmp.AllowUnexported(refusal{})); diff != "" {
				t.Errorf("the refusals differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReplaceAccount_KeepsKeyAndPlans(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	before := h.tenant.Account
	after, err := h.ReplaceAccount(t.Context(), h.owner, accounts.AccountDraft{Name: optional.Of("New")}, nil)
	if err != nil || after.Name != "New" || after.Key != before.Key || !after.UpdatedAt.After(before.UpdatedAt) || !after.CreatedAt.Equal(before.CreatedAt) {
		t.Errorf("it became %+v, %v", after, err)
	}
	if diff := cmp.Diff(before.Plans, after.Plans); diff != "" {
		t.Errorf("other plans:\n%s", diff)
	}
	stale := func(accounts.Account) bool { return false }
	if _, err := h.ReplaceAccount(t.Context(), h.owner, accounts.AccountDraft{Name: optional.Of("n")}, stale); !fault.Is(err, fault.VersionMismatch) {
		t.Errorf("got %v", err)
	}
}

func TestReplaceAccount_KeyInUse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		other := storetest.NewTenant(t, h.db, "pro").Account
		_, err := h.ReplaceAccount(t.Context(), h.owner, accounts.AccountDraft{Name: optional.Of("n"), Key: optional.Of(other.Key)}, nil)
		want := []refusal{{fault.AlreadyExists, fault.Attribute("key")}}
		if diff := cmp.Diff(want, refusals(err), cmp.AllowUnexported(refusal{})); diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

func TestSetPlans(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	held := plans.Held{plans.Jobs: "free", plans.Flags: "standard"}
	err := h.db.Write(t.Context(), h.owner.Account, func(ctx context.Context, tx *store.Tx) error {
		_, err := accounts.SetPlans(ctx, tx, h.owner.Account, held)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	account, err := h.Account(t.Context(), h.owner)
	if diff := cmp.Diff(held, account.Plans); err != nil || diff != "" {
		t.Errorf("%v:\n%s", err, diff)
	}
}
