package accounts_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (g *gate) expectUses(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, g.uses); diff != "" {
		t.Errorf("the noted uses differ (-want +got):\n%s", diff)
	}
}

func TestAuthenticator_NotesFirstUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.passes(t, "key", true)
		g.expectUses(t, "key of account at 0s")
	})
}

func TestAuthenticator_NotesSteadyUseNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.put("other", nil)
		for range 25 {
			g.passes(t, "key", true)
			<-time.After(time.Second)
		}
		g.passes(t, "other", true)
		g.expectUses(t, "key of account at 0s", "key of account at 10s", "key of account at 20s", "other of account at 25s")
	})
}

// The use of a key is noted when a changed key is looked up again. So the last
// use of a leaked key is known exactly.
func TestAuthenticator_NotesUseAfterChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.passes(t, "key", true)
		<-time.After(time.Second)
		g.Forget("key")
		g.passes(t, "key", true)
		g.expectUses(t, "key of account at 0s", "key of account at 1s")
	})
}

func TestAuthenticator_RefusalIsNoUse(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.passes(t, "nothing", false)
	g.expectUses(t)
}
