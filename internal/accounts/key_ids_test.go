package accounts_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

// passesByID checks whether the id of a key is accepted.
func (g *gate) passesByID(t *testing.T, account, id string, want bool) {
	t.Helper()
	caller, err := g.AuthenticateKey(t.Context(), account, id)
	if (err == nil) != want || err != nil && !fault.Is(err, fault.Unauthorized) {
		t.Errorf("%s got %v", id, err)
	}
	if err == nil && caller.KeyID != id {
		t.Errorf("%s passes for %s", id, caller.KeyID)
	}
}

func TestAuthenticateKey_RemembersKeys(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.cost(t, 1, func() {
		for range 3 {
			g.passesByID(t, "account", "key", true)
			g.passes(t, "key", true) // the plaintext of the same key
		}
	})
	if want := map[string]int{"miss": 1, "hit": 5}; !maps.Equal(g.counts, want) {
		t.Errorf("counted %v", g.counts)
	}
	if len(g.uses) != 1 {
		t.Errorf("the use was noted %d times", len(g.uses))
	}
}

func TestAuthenticateKey_Refuses(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.put("revoked", func(key *accounts.Key) { key.Status = accounts.Revoked })
	g.put("expired", func(key *accounts.Key) { key.ExpiresAt = new(time.Now().Add(-time.Hour)) })
	for _, id := range []string{"revoked", "expired", "unknown"} {
		g.passesByID(t, "account", id, false)
	}
	g.passesByID(t, "another", "key", false)
	if g.counts["refused"] != 4 {
		t.Errorf("counted %v", g.counts)
	}
}

func TestAuthenticateKey_RevokedAfterUse(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.passesByID(t, "account", "key", true)
	g.record("flag")
	g.cost(t, 0, func() { g.passesByID(t, "account", "key", true) })
	g.put("key", func(key *accounts.Key) { key.Status = accounts.Revoked })
	g.record(accounts.KindKey)
	g.cost(t, 1, func() {
		for range 3 {
			g.passesByID(t, "account", "key", false)
		}
	})
	g.put("key", nil)
	g.set(nil, errors.New("no database"))
	if _, err := g.AuthenticateKey(t.Context(), "account", "key"); err == nil || fault.Is(err, fault.Unauthorized) {
		t.Errorf("without a database got %v", err)
	}
}
