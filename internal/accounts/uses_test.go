package accounts_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/accounts"
)

// during runs a test on a running gate in a bubble.
func during(t *testing.T, test func(t *testing.T, g *gate)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.Start(t.Context())
		test(t, g)
		g.Stop(t.Context())
	})
}

// use lets a key be used every second for a while.
func (g *gate) use(t *testing.T, token string, seconds int) {
	t.Helper()
	for range seconds {
		g.passes(t, token, true)
		<-time.After(time.Second)
		synctest.Wait()
	}
}

func (g *gate) expect(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, g.written(g.began)); diff != "" {
		t.Errorf("the noted uses differ (-want +got):\n%s", diff)
	}
}

func TestAUseIsWrittenWithinASecond(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, g *gate) {
		g.expect(t)
		g.passes(t, "key", true)
		g.expect(t) // a request costs no write
		<-time.After(time.Second)
		synctest.Wait()
		g.expect(t, "key at 0s")
		<-time.After(time.Hour)
		g.expect(t, "key at 0s") // not used since
	})
}

func TestSteadyUseIsWrittenEveryHalfMinute(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, g *gate) {
		g.use(t, "key", 100)
		g.expect(t, "key at 0s", "key at 30s", "key at 1m0s", "key at 1m30s")
		g.Stop(t.Context())
		g.expect(t, "key at 0s", "key at 30s", "key at 1m0s", "key at 1m30s", "key at 1m39s")
	})
}

// A key in steady use is looked up again whenever anything about it changes;
// that is no reason to write its use more often.
func TestAKeyThatIsLookedUpAgainIsNotWrittenMoreOften(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, g *gate) {
		for range 10 {
			g.use(t, "key", 3)
			g.Forget("key")
		}
		if written := len(g.written(g.began)); written > 2 {
			t.Errorf("within half a minute its use was written %d times", written)
		}
	})
}

// Keys come and go for years while a server runs.
func TestAKeyThatIsGoneLeavesNothingInMemory(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, g *gate) {
		for i := range 100 {
			name := fmt.Sprint("short-lived ", i)
			g.put(name, nil)
			g.use(t, name, 2)
			g.put(name, func(key *accounts.Key) { key.Status = accounts.Revoked })
			g.Forget(name)
			if i%2 == 0 {
				g.passes(t, name, false) // somebody tries it once more
				g.Forget(name)
			}
		}
		<-time.After(5 * time.Minute)
		synctest.Wait()
		if sessions, uses := g.Remembered(); sessions != 0 || uses != 0 {
			t.Errorf("it remembers %d keys and %d uses", sessions, uses)
		}
	})
}

// What was not written yet when a key is changed is written all the same: it
// tells when a key that leaked was last used.
func TestTheLastUseBeforeAChangeIsWritten(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, g *gate) {
		g.passes(t, "key", true)
		g.Forget("key")
		<-time.After(time.Second)
		synctest.Wait()
		g.expect(t, "key at 0s")
	})
}

func TestKeysAreWrittenTogether(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, g *gate) {
		for _, name := range []string{"c", "a", "b"} {
			g.put(name, nil)
			g.passes(t, name, true)
		}
		<-time.After(time.Second)
		synctest.Wait()
		g.expect(t, "a at 0s", "b at 0s", "c at 0s")
		if len(g.uses) != 1 {
			t.Errorf("it took %d transactions", len(g.uses))
		}
	})
}

func TestARefusedRequestIsNoUse(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, g *gate) {
		g.put("expired", nil)
		g.passes(t, "nothing", false)
		<-time.After(time.Minute)
		g.expect(t)
	})
}

func TestWhatCouldNotBeWrittenIsTriedAgain(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, g *gate) {
		g.passes(t, "key", true)
		g.set(nil, errors.New("down"))
		<-time.After(10 * time.Second)
		synctest.Wait()
		g.expect(t)
		g.set(nil, nil)
		<-time.After(time.Second)
		synctest.Wait()
		g.expect(t, "key at 0s")
	})
}

func TestStopWritesOnceAndOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	during(t, func(t *testing.T, g *gate) {
		g.use(t, "key", 3)
		g.Stop(t.Context())
		g.Stop(t.Context())
		g.expect(t, "key at 0s", "key at 2s")
	})
}

func TestAnAuthenticatorThatWasNeverStartedCanBeStopped(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.passes(t, "key", true)
	g.Stop(t.Context())
	if written := g.written(g.began); len(written) != 1 {
		t.Errorf("it wrote %v, want the one use", written)
	}
}
