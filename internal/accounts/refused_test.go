package accounts_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
)

const attacker = "192.0.2.66:4711"

// guess sends different wrong keys from an address. It returns how many were looked up alone, and how many were checked
// together with others.
func (g *gate) guess(t *testing.T, count int, peer string) (alone, together int) {
	t.Helper()
	lookups, checks := g.lookups, g.checks
	for range count {
		g.guesses++ // a repeated wrong key would be refused from memory
		if _, err := g.Authenticate(t.Context(), fmt.Sprint("wrong ", g.guesses), peer); !fault.Is(err, fault.Unauthorized) {
			t.Fatalf("a wrong key got %v", err)
		}
	}
	return g.lookups - lookups, g.checks - checks
}

func TestRefusals_ManyWrongKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.put("fresh", nil)
		g.passes(t, "key", true)
		for range 10 { // a round of 1000 keys per second
			g.guess(t, 1000, attacker)
			<-time.After(time.Second)
		}
		if g.lookups > 400 {
			t.Errorf("10,000 wrong keys cost %d lookups", g.lookups)
		}
		g.guess(t, 1000, attacker)
		pass := func(token, peer string, want bool) {
			t.Helper()
			if _, err := g.Authenticate(t.Context(), token, peer); (err == nil) != want {
				t.Errorf("%s from %s got %v", token, peer, err)
			}
		}
		pass("key", attacker, true)
		g.Forget("key") // the next request looks the key up again
		pass("key", attacker, true)
		g.live = false
		pass("key", attacker, true)
		g.live = true
		pass("fresh", "192.0.2.67:4711", true)
		g.put("new", nil)
		g.Expect("new")
		pass("new", attacker, true)
		for i := range 100 { // of services that use this node for the first time
			g.put(fmt.Sprint("another ", i), nil)
			pass(fmt.Sprint("another ", i), attacker, true)
			g.guess(t, 10, attacker)
		}
	})
}

func TestRefusals_SameWrongKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.cost(t, 1, func() {
			for range 1000 {
				g.passes(t, "late", false)
			}
		})
		g.cost(t, 2, func() {
			<-time.After(5 * time.Second)
			g.passes(t, "late", false)
			g.put("late", nil)
			g.Hear(changes.Change{Kind: accounts.KindKey, Key: "late"})
			g.passes(t, "late", true)
		})
		g.put("unheard", nil)
		g.live = false // the feed would not report new keys
		g.passes(t, "unheard", true)
	})
}

// TestRefusals_ManyRightKeys: many services share the address of their proxy.
func TestRefusals_ManyRightKeys(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.guess(t, 100, attacker)
	for i := range 2000 {
		name := fmt.Sprint("right ", i)
		g.put(name, nil)
		if _, err := g.Authenticate(t.Context(), name, attacker); err != nil {
			t.Fatalf("the right key %d got %v", i, err)
		}
	}
	g.set(nil, errors.New("down"))
	for i := range 500 {
		if _, err := g.Authenticate(t.Context(), fmt.Sprint("unread ", i), attacker); fault.Is(err, fault.RateLimited) {
			t.Fatal("an outage counts as a wrong key")
		}
	}
}

func TestRefusals_AddressesOfOneSender(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		peers [2]string
		same  bool
	}{
		"two ports":                 {[2]string{"192.0.2.1:1", "192.0.2.1:2"}, true},
		"two addresses":             {[2]string{"192.0.2.1:1", "192.0.2.2:1"}, false},
		"IPv4 as IPv6":              {[2]string{"192.0.2.1:1", "[::ffff:192.0.2.1]:1"}, true},
		"one IPv6 network":          {[2]string{"[2001:db8::1]:1", "[2001:db8::ffff:2]:1"}, true},
		"two IPv6 networks":         {[2]string{"[2001:db8::1]:1", "[2001:db8:0:1::1]:1"}, false},
		"an interface of this host": {[2]string{"[fe80::1%eth0]:1", "[fe80::1]:1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate()
				g.guess(t, 201, c.peers[0])
				if _, together := g.guess(t, 1, c.peers[1]); (together == 1) != c.same {
					t.Errorf("%s: checked with others %d times", name, together)
				}
			})
		})
	}
}

func TestRefusals_Concurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() {
				for j := range 200 {
					_, _ = g.Authenticate(t.Context(), fmt.Sprint("wrong ", i, j), attacker)
					if _, err := g.Authenticate(t.Context(), "key", attacker); err != nil {
						t.Errorf("the right key got %v", err)
					}
				}
			})
		}
		group.Wait()
		if g.lookups > 250 {
			t.Errorf("3200 wrong keys cost %d lookups", g.lookups)
		}
	})
}

// TestRefusals_ManyAddresses: a sender with many addresses does not lift the
// limits of others.
func TestRefusals_ManyAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.guess(t, 201, attacker)
		for i := range 20_000 {
			g.guess(t, 1, fmt.Sprintf("10.%d.%d.1:1", i/200, i%200))
		}
		if alone, together := g.guess(t, 1, attacker); together != 1 {
			t.Errorf("checked with others %d times, looked up alone %d times", together, alone)
		}
	})
}
