package accounts_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func ada() accounts.Identity {
	return accounts.Identity{Issuer: "https://login.example.com", Subject: "1", Email: "Ada@example.com", EmailVerified: true, Name: "Ada", Values: []string{"g"}}
}

func reasonOf(err error) any {
	for _, refusal := range fault.All(err) {
		return refusal.Meta["reason"]
	}
	return nil
}

// TestIdentity_ManyAtOnce: somebody who signs in with many tabs becomes one user.
func TestIdentity_ManyAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newHouse(t, database)
		h.Identities = accounts.IdentityRules{Roles: map[string]accounts.Role{"g": accounts.Member}}
		var mu sync.Mutex
		users, running := map[string]int{}, sync.WaitGroup{}
		for range 8 {
			running.Go(func() {
				session, err := h.SignInWithIdentity(t.Context(), ada(), "test")
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				users[session.User]++
			})
		}
		if running.Wait(); len(users) != 1 {
			t.Errorf("they became %v", users)
		}
	})
}

func TestIdentity_Refused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.New(t, "sqlite"))
	h.Identities = accounts.IdentityRules{Roles: map[string]accounts.Role{"g": accounts.Member}, Domains: []string{"example.com"}}
	for want, change := range map[string]func(*accounts.Identity){
		accounts.ReasonUnverified: func(i *accounts.Identity) { i.EmailVerified = false },
		accounts.ReasonDomain:     func(i *accounts.Identity) { i.Email = "ada@example.com.evil.org" },
		accounts.ReasonEmail:      func(i *accounts.Identity) { i.Email = "ada" },
		accounts.ReasonNoRole:     func(i *accounts.Identity) { i.Values = nil },
		accounts.ReasonConflict:   func(i *accounts.Identity) { i.Subject = strings.Repeat("x", 256) },
	} {
		identity := ada()
		change(&identity)
		if _, err := h.SignInWithIdentity(t.Context(), identity, ""); reasonOf(err) != want || !fault.Is(err, fault.Forbidden) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestIdentity_OddName: what a provider says must fit where a name goes.
func TestIdentity_OddName(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.New(t, "sqlite"))
	h.Identities = accounts.IdentityRules{Roles: map[string]accounts.Role{accounts.Anybody: accounts.Viewer}}
	for i, name := range []string{"", " \x00\n ", strings.Repeat("ä", 500), "Ada\x07", "A\u202eda\u2066", "\u009b"} {
		identity := ada()
		identity.Subject, identity.Name = string(rune('a'+i)), name
		identity.Email = identity.Subject + "@example.com"
		session, err := h.SignInWithIdentity(t.Context(), identity, "")
		if err != nil {
			t.Fatal(err)
		}
		user, err := h.User(t.Context(), h.owner, session.User)
		if err != nil || user.Name == "" || strings.ContainsAny(user.Name, "\x00\x07\n\u202e\u2066\u009b") || len([]rune(user.Name)) > 255 {
			t.Errorf("%q became %q, %v", name, user.Name, err)
		}
	}
}

// TestIdentity_EndsSetup: an OWNER who signs in with a provider makes the set-up link
// stop working, as one with a password does.
func TestIdentity_EndsSetup(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.New(t, "sqlite"))
	h.Identities = accounts.IdentityRules{Roles: map[string]accounts.Role{"g": accounts.Owner}}
	link := func() error {
		return h.db.Write(t.Context(), h.tenant.Owner.Account, func(tx *store.Tx) error {
			_, err := accounts.MakeSetupLink(t.Context(), tx, h.tenant.Owner.Account)
			return err
		})
	}
	if err := link(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.SignInWithIdentity(t.Context(), ada(), ""); err != nil {
		t.Fatal(err)
	}
	if err := link(); !fault.Is(err, fault.AlreadyExists) {
		t.Errorf("got %v", err)
	}
}
