package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
)

// directory is an in-memory store of keys. A test can make its lookups wait or fail.
// The real store is tested with databases.
type directory struct {
	accounts.Directory // nil: the methods for sessions are not called

	mu       sync.Mutex
	keys     map[string]accounts.Key
	versions accounts.Versions
	lookups  int
	checks   int
	hold     chan struct{} // if set, a lookup waits for it after reading
	err      error
}

func (d *directory) KeyByHash(_ context.Context, hash string) (accounts.Key, accounts.Versions, error) {
	d.mu.Lock()
	d.lookups++
	key, known := d.keys[hash]
	versions, hold, err := d.versions, d.hold, d.err
	d.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if err == nil && !known {
		err = fault.New(fault.NotFound, "no such key")
	}
	return key, versions, err
}

func (d *directory) Existing(_ context.Context, hashes []string) (map[string]bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checks++
	existing := map[string]bool{}
	for _, hash := range hashes {
		if _, known := d.keys[hash]; known {
			existing[hash] = true
		}
	}
	return existing, d.err
}

func (d *directory) KeyByID(ctx context.Context, account, id string) (accounts.Key, accounts.Versions, error) {
	if account != "account" { // a key's token and id are its name
		return accounts.Key{}, accounts.Versions{}, fault.New(fault.NotFound, "no such key")
	}
	return d.KeyByHash(ctx, accounts.ParseSecret(id).Hash())
}

func (d *directory) Versions(context.Context, string) (accounts.Versions, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.versions, d.err
}

// record counts a change of this kind as the account's last change.
func (d *directory) record(kind string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.versions.Changes++
	if accounts.DecidesAccess(kind) {
		d.versions.Access = d.versions.Changes
	}
}

// put stores a key whose token and id are name. It does not record a change.
func (d *directory) put(name string, change func(*accounts.Key)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := accounts.Key{ID: name, Account: "account", Hash: accounts.ParseSecret(name).Hash(), Name: name, Role: accounts.Member, Status: accounts.Active}
	if change != nil {
		change(&key)
	}
	d.keys[key.Hash] = key
}

func (d *directory) set(hold chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hold, d.err = hold, err
}

// gate is an authenticator with its directory and its observed calls.
type gate struct {
	*accounts.Authenticator
	*directory
	live   bool
	counts map[string]int
	began  time.Time
	uses   []string // with the seconds since the start

	guesses int // how many wrong keys were sent
}

func newGate() *gate {
	g := &gate{directory: &directory{keys: map[string]accounts.Key{}}, live: true, counts: map[string]int{}, began: time.Now()}
	var mu sync.Mutex
	g.Authenticator = &accounts.Authenticator{
		Directory: g.directory, Live: func() bool { return g.live }, Now: time.Now,
		Count: func(result string) {
			mu.Lock()
			defer mu.Unlock()
			g.counts[result]++
		},
		Used: func(account, keyID string, at time.Time) {
			mu.Lock()
			defer mu.Unlock()
			g.uses = append(g.uses, fmt.Sprintf("%s of %s at %v", keyID, account, at.Sub(g.began)))
		},
	}
	g.put("key", nil)
	return g
}

// passes checks whether a token is accepted.
func (g *gate) passes(t *testing.T, token string, want bool) {
	t.Helper()
	caller, err := g.Authenticate(t.Context(), token, "192.0.2.1:1000")
	if (err == nil) != want || err != nil && !fault.Is(err, fault.Unauthorized) {
		t.Errorf("%s got %v", token, err)
	}
	if err == nil && caller.KeyID != token {
		t.Errorf("%s passes for %s", token, caller.KeyID)
	}
}

// cost checks how many lookups do causes.
func (g *gate) cost(t *testing.T, want int, do func()) {
	t.Helper()
	before := g.lookups
	do()
	if got := g.lookups - before; got != want {
		t.Errorf("it took %d lookups, want %d", got, want)
	}
}

func TestAuthenticator_RemembersKeys(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.cost(t, 1, func() {
		for range 100 {
			g.passes(t, "key", true)
		}
	})
	if want := map[string]int{"miss": 1, "hit": 99}; !maps.Equal(g.counts, want) {
		t.Errorf("counted %v", g.counts)
	}
}

func TestAuthenticator_UnknownKey(t *testing.T) {
	t.Parallel()
	g := newGate()
	tokens := []string{"", "nothing", "key ", "Key"}
	g.cost(t, len(tokens), func() {
		for _, token := range tokens {
			g.passes(t, token, false)
		}
	})
	g.put("nothing", nil) // the key is created after it was refused
	g.Hear(changes.Change{Kind: accounts.KindKey, Key: "nothing"})
	g.passes(t, "nothing", true)
	if want := map[string]int{"refused": 4, "miss": 1}; !maps.Equal(g.counts, want) {
		t.Errorf("counted %v", g.counts)
	}
}

func TestAuthenticator_RevokedOrExpiredKey(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.put("revoked", func(key *accounts.Key) { key.Status = accounts.Revoked })
	g.put("expired", func(key *accounts.Key) { key.ExpiresAt = new(time.Now().Add(-time.Hour)) })
	for _, token := range []string{"revoked", "expired"} {
		for range 2 {
			g.passes(t, token, false)
		}
	}
	if g.counts["refused"] != 4 {
		t.Errorf("counted %v", g.counts)
	}
}

func TestAuthenticator_ChangedKeyIsLookedUp(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		tell    func(*gate)
		lookups int
	}{
		"it is forgotten":           {func(g *gate) { g.Forget("key") }, 1},
		"its change is heard":       {func(g *gate) { g.Hear(changes.Change{Kind: accounts.KindKey, Key: "key", Seq: 1}) }, 1},
		"another key changes":       {func(g *gate) { g.Hear(changes.Change{Kind: accounts.KindKey, Key: "other"}) }, 0},
		"something else of its id":  {func(g *gate) { g.Hear(changes.Change{Kind: "environment", Key: "key"}) }, 0},
		"it is forgotten for twice": {func(g *gate) { g.Forget("key"); g.Forget("key") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate()
			g.passes(t, "key", true)
			each.tell(g)
			g.cost(t, each.lookups, func() { g.passes(t, "key", true) })
		})
	}
}

func TestAuthenticator_ForgetAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.put("other", nil)
		for _, token := range []string{"key", "other"} {
			g.passes(t, token, true)
		}
		hold, done := make(chan struct{}), make(chan struct{})
		g.put("third", nil)
		g.set(hold, nil)
		go func() {
			defer close(done)
			g.passes(t, "third", true)
		}()
		synctest.Wait() // until the lookup is under way
		g.ForgetAll()
		close(hold)
		<-done
		g.set(nil, nil)
		g.cost(t, 3, func() {
			for _, token := range []string{"key", "other", "third"} {
				g.passes(t, token, true)
			}
		})
	})
}

func TestAuthenticator_Revocation(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.passes(t, "key", true)
	g.put("key", func(key *accounts.Key) { key.Status = accounts.Revoked })
	g.Forget("key")
	g.passes(t, "key", false)
	g.cost(t, 0, func() { g.passes(t, "key", false) })
}

// A lookup may read a key just before its revocation and return after Hear received the
// revocation.
func TestAuthenticator_LookupOverlapsChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		hold := make(chan struct{})
		g.set(hold, nil)
		done := make(chan struct{})
		go func() {
			defer close(done)
			g.passes(t, "key", true)
		}()
		synctest.Wait() // until the lookup has read the key and waits
		g.put("key", func(key *accounts.Key) { key.Status = accounts.Revoked })
		g.Forget("key")
		close(hold)
		<-done
		g.set(nil, nil)
		g.cost(t, 1, func() { g.passes(t, "key", false) })
	})
}

// Another node may have changed the key a moment ago, before the feed reports it.
func TestAuthenticator_AccessVersionDecides(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.passes(t, "key", true)
	g.record("flag")
	g.cost(t, 0, func() { g.passes(t, "key", true) })
	g.record(accounts.KindKey) // a change of another key
	g.cost(t, 1, func() {
		for range 3 {
			g.passes(t, "key", true)
		}
	})
	g.put("key", func(key *accounts.Key) { key.Status = accounts.Revoked })
	g.record(accounts.KindKey)
	g.cost(t, 1, func() {
		for range 3 {
			g.passes(t, "key", false)
		}
	})
}

// A lookup that read the key before its revocation must not make the key work after the
// revocation.
func TestAuthenticator_LookupOverlapsVersion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		hold, done := make(chan struct{}), make(chan struct{})
		g.set(hold, nil)
		go func() {
			defer close(done)
			g.passes(t, "key", true)
		}()
		synctest.Wait() // until the lookup has read the key and waits
		g.put("key", func(key *accounts.Key) { key.Status = accounts.Revoked })
		g.record(accounts.KindKey)
		close(hold)
		<-done
		g.set(nil, nil)
		g.cost(t, 1, func() { g.passes(t, "key", false) })
	})
}

func TestAuthenticator_TellsVersion(t *testing.T) {
	t.Parallel()
	g := newGate()
	for want := range int64(3) {
		caller, err := g.Authenticate(t.Context(), "key", "192.0.2.1:1000")
		if err != nil || caller.Version != want {
			t.Errorf("got version %d and %v, want %d", caller.Version, err, want)
		}
		g.record("flag")
	}
}

func TestAuthenticator_FeedNotLive(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.passes(t, "key", true)
	g.live = false
	g.cost(t, 0, func() { g.passes(t, "key", true) }) // the version is unchanged, so there is no lookup
	g.cost(t, 5, func() {
		for range 5 {
			g.passes(t, "nothing", false)
		}
	})
	g.put("nothing", nil)
	g.passes(t, "nothing", true)
}

func TestAuthenticator_Expiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.put("key", func(key *accounts.Key) { key.ExpiresAt = new(time.Now().Add(time.Minute)) })
		g.passes(t, "key", true)
		g.cost(t, 0, func() {
			<-time.After(time.Minute - time.Nanosecond)
			g.passes(t, "key", true)
			<-time.After(time.Nanosecond)
			g.passes(t, "key", false)
		})
	})
}

func TestAuthenticator_Outage(t *testing.T) {
	t.Parallel()
	g := newGate()
	outage := fault.New(fault.Unavailable, "down")
	g.set(nil, outage)
	if _, err := g.Authenticate(t.Context(), "key", "192.0.2.1:1000"); !errors.Is(err, outage) || fault.Is(err, fault.Unauthorized) {
		t.Errorf("got %v", err)
	}
	g.set(nil, nil)
	g.passes(t, "key", true)
	g.set(nil, outage)
	if _, err := g.Authenticate(t.Context(), "key", "192.0.2.1:1000"); !errors.Is(err, outage) {
		t.Errorf("a known key got %v", err)
	}
	g.set(nil, nil)
	g.cost(t, 0, func() { g.passes(t, "key", true) })
	if g.counts["refused"] != 0 {
		t.Errorf("counted %v", g.counts)
	}
}

// everybody is a directory in which every token is a key.
type everybody struct {
	accounts.Directory // nil: the methods for sessions are not called

	lookups int
}

func (e *everybody) KeyByHash(_ context.Context, hash string) (accounts.Key, accounts.Versions, error) {
	e.lookups++
	return accounts.Key{ID: hash, Hash: hash, Status: accounts.Active}, accounts.Versions{}, nil
}

func (e *everybody) Versions(context.Context, string) (accounts.Versions, error) {
	return accounts.Versions{}, nil
}

func TestAuthenticator_BoundsItsMemory(t *testing.T) {
	t.Parallel()
	g, crowd := newGate(), &everybody{}
	g.Authenticator.Directory = crowd
	for i := range accounts.MaxRemembered + 1 {
		if _, err := g.Authenticate(t.Context(), strconv.Itoa(i), "192.0.2.1:1000"); err != nil {
			t.Fatal(err)
		}
	}
	before := crowd.lookups
	if _, err := g.Authenticate(t.Context(), "0", "192.0.2.1:1000"); err != nil || crowd.lookups != before+1 {
		t.Errorf("the first key is still remembered, %v", err)
	}
	if sessions := g.Remembered(); sessions > accounts.MaxRemembered {
		t.Errorf("it remembers %d keys", sessions)
	}
}

func TestAuthenticator_Concurrency(t *testing.T) {
	t.Parallel()
	g := newGate()
	var running sync.WaitGroup
	for i := range 16 {
		running.Go(func() {
			for j := range 200 {
				if _, err := g.Authenticate(t.Context(), "key", "192.0.2.1:1000"); err != nil {
					t.Error(err)
				}
				if (i+j)%7 == 0 {
					g.Forget("key")
				}
			}
		})
	}
	running.Wait()
}
