package accounts_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

var secretPattern = regexp.MustCompile(`^sk_api_[A-Za-z0-9_-]{43}$`)

func TestNewSecret(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	seen := map[string]bool{}
	for range 20 {
		key := h.key(t, accounts.Member)
		if !secretPattern.MatchString(key.Plaintext) || seen[key.Plaintext] {
			t.Errorf("%q", key.Plaintext)
		}
		seen[key.Plaintext] = true
		sum := sha256.Sum256([]byte(key.Plaintext))
		if key.Hash != hex.EncodeToString(sum[:]) || key.Hash != accounts.ParseSecret(key.Plaintext).Hash() {
			t.Errorf("%q has the hash %q", key.Plaintext, key.Hash)
		}
	}
}

func TestCreateKey_SecretIsNotStored(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	made := h.key(t, accounts.Admin)
	stored, err := h.Key(t.Context(), h.owner, made.ID)
	if err != nil || stored.Plaintext != "" {
		t.Errorf("it was stored: %q, %v", stored.Plaintext, err)
	}
	if _, err := h.RevokeKey(t.Context(), h.owner, made.ID); err != nil {
		t.Fatal(err)
	}
	history, err := h.db.After(t.Context(), h.owner.Account, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(struct {
		Key     accounts.Key
		History []changes.Change
	}{made, history})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{made.Plaintext, made.Hash, h.tenant.Key.Plaintext, h.tenant.Key.Hash} {
		if strings.Contains(string(text), secret) {
			t.Errorf("a document or the history has %q", secret)
		}
	}
}

func TestKey_Works(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, each := range map[string]struct {
		key  accounts.Key
		want bool
	}{
		"active":               {accounts.Key{Status: accounts.Active}, true},
		"expires later":        {accounts.Key{Status: accounts.Active, ExpiresAt: new(now.Add(time.Microsecond))}, true},
		"expires now":          {accounts.Key{Status: accounts.Active, ExpiresAt: &now}, false},
		"revoked":              {accounts.Key{Status: accounts.Revoked}, false},
		"revoked, no expiry":   {accounts.Key{Status: accounts.Revoked, ExpiresAt: new(now.Add(time.Hour))}, false},
		"a status of nobody's": {accounts.Key{Status: "active"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := each.key.Works(now); got != each.want {
				t.Errorf("%s works: %v", name, got)
			}
		})
	}
}

func TestCreateKey_Rules(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	named := func(change func(*accounts.KeyDraft)) accounts.KeyDraft {
		draft := accounts.KeyDraft{Name: optional.Of("n")}
		if change != nil {
			change(&draft)
		}
		return draft
	}
	scoped := func(environments ...string) func(*accounts.KeyDraft) {
		return func(draft *accounts.KeyDraft) {
			draft.Scopes = optional.Of(accounts.Scopes{Environments: environments})
		}
	}
	expires := func(at time.Time) func(*accounts.KeyDraft) {
		return func(draft *accounts.KeyDraft) { draft.ExpiresAt = optional.Of(at) }
	}
	role := func(text string) func(*accounts.KeyDraft) {
		return func(draft *accounts.KeyDraft) { draft.Role = optional.Of(text) }
	}
	var read accounts.KeyDraft
	read.Problems.Attribute("name", "must be a string")
	for name, each := range map[string]struct {
		draft accounts.KeyDraft
		want  []refusal
	}{
		"a name is enough":             {named(nil), nil},
		"no name":                      {accounts.KeyDraft{}, []refusal{invalid("name")}},
		"a null name":                  {accounts.KeyDraft{Name: optional.Null[string]()}, []refusal{invalid("name")}},
		"an empty name":                {accounts.KeyDraft{Name: optional.Of("")}, []refusal{invalid("name")}},
		"a name of 255 characters":     {accounts.KeyDraft{Name: optional.Of(strings.Repeat("é", 255))}, nil},
		"a name of 256 characters":     {accounts.KeyDraft{Name: optional.Of(strings.Repeat("e", 256))}, []refusal{invalid("name")}},
		"a role in any case":           {named(role("viewer")), nil},
		"an unknown role":              {named(role("root")), []refusal{invalid("role")}},
		"a null role":                  {named(func(d *accounts.KeyDraft) { d.Role = optional.Null[string]() }), nil},
		"environments":                 {named(scoped("production", "staging")), nil},
		"no environments":              {named(scoped()), nil},
		"an empty list":                {named(scoped([]string{}...)), []refusal{invalid("scopes/environments")}},
		"an unknown environment":       {named(scoped("production", "nowhere")), []refusal{invalid("scopes/environments")}},
		"null scopes":                  {named(func(d *accounts.KeyDraft) { d.Scopes = optional.Null[accounts.Scopes]() }), nil},
		"an expiry":                    {named(expires(time.Now().Add(time.Hour))), nil},
		"an expiry in the past":        {named(expires(time.Now().Add(-time.Microsecond))), []refusal{invalid("expires_at")}},
		"a null expiry":                {named(func(d *accounts.KeyDraft) { d.ExpiresAt = optional.Null[time.Time]() }), nil},
		"what reading found":           {read, []refusal{invalid("name")}},
		"everything that is wrong":     {accounts.KeyDraft{Role: optional.Of("x"), Scopes: optional.Of(accounts.Scopes{Environments: []string{"x"}}), ExpiresAt: optional.Of(time.Time{})}, []refusal{invalid("name"), invalid("role"), invalid("scopes/environments"), invalid("expires_at")}},
		"an environment that is wrong": {named(scoped("Production")), []refusal{invalid("scopes/environments")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := h.CreateKey(t.Context(), h.owner, each.draft)
			if diff := cmp.Diff(each.want, refusals(err), cmp.AllowUnexported(refusal{})); diff != "" {
				t.Fatalf("the refusals differ (-want +got):\n%s", diff)
			}
			if err == nil && (key.Status != accounts.Active || key.CreatedBy != h.owner.UserID || key.Account != h.owner.Account) {
				t.Errorf("made %+v", key)
			}
		})
	}
}

func TestCreateKey_NearestEnvironment(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	scopes := optional.Of(accounts.Scopes{Environments: []string{"production", "prodution", "elsewhere"}})
	_, err := h.CreateKey(t.Context(), h.owner, accounts.KeyDraft{Name: optional.Of("n"), Scopes: scopes})
	want := "scopes/environments must name environments of this account; these do not exist: prodution, elsewhere. Did you mean production?"
	if refusals := fault.All(err); len(refusals) != 1 || refusals[0].Detail != want {
		t.Errorf("got %v", err)
	}
}

func TestCreateKey_DefaultRole(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	key, err := h.CreateKey(t.Context(), h.owner, accounts.KeyDraft{Name: optional.Of("n")})
	if err != nil || key.Role != accounts.Member || key.Scopes.Environments != nil || key.ExpiresAt != nil {
		t.Errorf("made %+v, %v", key, err)
	}
}

func TestCreateKey_NoStrongerThanCaller(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	for i, giver := range accounts.Roles() {
		t.Run(string(giver), func(t *testing.T) {
			caller := h.caller(t, giver)
			for j, given := range accounts.Roles() {
				_, err := h.CreateKey(t.Context(), caller, accounts.KeyDraft{Name: optional.Of("n"), Role: optional.Of(string(given))})
				if (err == nil) != (i >= j) || err != nil && !fault.Is(err, fault.Forbidden) {
					t.Errorf("%s gives %s: %v", giver, given, err)
				}
			}
		})
	}
}

func TestReplaceKey_StrongerKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	for i, actor := range accounts.Roles() {
		t.Run(string(actor), func(t *testing.T) {
			caller := h.caller(t, actor)
			for j, touched := range accounts.Roles() {
				key := h.key(t, touched)
				draft := accounts.KeyDraft{Name: optional.Of("renamed")}
				_, replaced := h.ReplaceKey(t.Context(), caller, key.ID, draft, nil)
				_, revoked := h.RevokeKey(t.Context(), caller, key.ID)
				deleted := h.DeleteKey(t.Context(), caller, key.ID, nil)
				for name, err := range map[string]error{"replaces": replaced, "revokes": revoked, "deletes": deleted} {
					if (err == nil) != (i >= j) || err != nil && !fault.Is(err, fault.Forbidden) {
						t.Errorf("%s %s %s: %v", actor, name, touched, err)
					}
				}
			}
		})
	}
}

func TestReplaceKey_KeepsWhatGrantsPower(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	expiry := time.Now().UTC().Add(time.Hour).Truncate(time.Microsecond)
	key, err := h.CreateKey(t.Context(), h.owner, accounts.KeyDraft{Name: optional.Of("n"), Role: optional.Of("ADMIN"),
		Scopes: optional.Of(accounts.Scopes{Environments: []string{"staging"}}), ExpiresAt: optional.Of(expiry)})
	if err != nil {
		t.Fatal(err)
	}
	replace := func(draft accounts.KeyDraft) accounts.Key {
		t.Helper()
		if _, err := h.ReplaceKey(t.Context(), h.owner, key.ID, draft, nil); err != nil {
			t.Fatal(err)
		}
		stored, err := h.Key(t.Context(), h.owner, key.ID)
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	renamed := replace(accounts.KeyDraft{Name: optional.Of("renamed")})
	if renamed.Name != "renamed" || renamed.Role != accounts.Admin || len(renamed.Scopes.Environments) != 1 || !renamed.ExpiresAt.Equal(expiry) {
		t.Errorf("a rename made it %+v", renamed)
	}
	widened := replace(accounts.KeyDraft{Name: optional.Of("n"), Role: optional.Of("owner"),
		Scopes: optional.Null[accounts.Scopes](), ExpiresAt: optional.Null[time.Time]()})
	if widened.Role != accounts.Owner || widened.Scopes.Environments != nil || widened.ExpiresAt != nil {
		t.Errorf("nulls made it %+v", widened)
	}
	if widened.Hash != key.Hash || widened.CreatedAt != key.CreatedAt || !widened.UpdatedAt.After(key.UpdatedAt) {
		t.Errorf("another member changed: %+v", widened)
	}
}

func TestRevokeKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	key := h.key(t, accounts.Member)
	version := func() int64 {
		t.Helper()
		version, err := h.db.Version(t.Context(), h.owner.Account)
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	first, err := h.RevokeKey(t.Context(), h.owner, key.ID)
	if err != nil || first.Status != accounts.Revoked {
		t.Fatalf("got %+v, %v", first, err)
	}
	change, err := h.db.History().Change(t.Context(), h.owner.Account, version())
	if err != nil || change.Action != changes.Revoked || change.Kind != accounts.KindKey || change.Key != key.ID {
		t.Errorf("recorded %+v, %v", change, err)
	}
	before := version()
	again, err := h.RevokeKey(t.Context(), h.owner, key.ID)
	if err != nil || !again.UpdatedAt.Equal(first.UpdatedAt) || version() != before {
		t.Errorf("the second time %+v, %v", again, err)
	}
	renamed, err := h.ReplaceKey(t.Context(), h.owner, key.ID, accounts.KeyDraft{Name: optional.Of("n")}, nil)
	if err != nil || renamed.Status != accounts.Revoked {
		t.Errorf("a rename made the revoked key work: %+v, %v", renamed, err)
	}
}

func TestKeys_OtherAccounts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		stranger := storetest.NewTenant(t, h.db, "pro").Owner
		key := h.key(t, accounts.Member)
		_, got := h.Key(t.Context(), stranger, key.ID)
		_, replaced := h.ReplaceKey(t.Context(), stranger, key.ID, accounts.KeyDraft{Name: optional.Of("n")}, nil)
		_, revoked := h.RevokeKey(t.Context(), stranger, key.ID)
		deleted := h.DeleteKey(t.Context(), stranger, key.ID, nil)
		for name, err := range map[string]error{"get": got, "replace": replaced, "revoke": revoked, "delete": deleted} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s got %v", name, err)
			}
		}
		list, err := h.Keys(t.Context(), stranger, accounts.KeyFilter{}, page.First())
		if err != nil || len(list.Items) != 1 || list.Items[0].ID != stranger.KeyID {
			t.Errorf("listed %+v, %v", list.Items, err)
		}
	})
}

func TestKeys_VersionMismatch(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	key := h.key(t, accounts.Member)
	stale := func(accounts.Key) bool { return false }
	_, replaced := h.ReplaceKey(t.Context(), h.owner, key.ID, accounts.KeyDraft{Name: optional.Of("n")}, stale)
	for _, err := range []error{replaced, h.DeleteKey(t.Context(), h.owner, key.ID, stale)} {
		if !fault.Is(err, fault.VersionMismatch) {
			t.Errorf("got %v", err)
		}
	}
	if stored, err := h.Key(t.Context(), h.owner, key.ID); err != nil || stored.Name != key.Name {
		t.Errorf("it became %+v, %v", stored, err)
	}
}
