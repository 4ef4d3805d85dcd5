package accounts_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
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
	if written := g.written(g.began); !slices.Equal(written, nil) {
		t.Error(fmt.Sprint(written))
	}
}
