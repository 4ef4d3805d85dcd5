package egress

import (
	"strconv"
	"testing"
	"testing/synctest"
)

// TestPool_Bounds checks the limits per account, per peer and for all. Taking a connection frees its place.
func TestPool_Bounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		to   func(i int) endpoint
		most int
	}{
		"an account": {func(i int) endpoint { return endpoint{peer{strconv.Itoa(i), 80}, "one", nil} }, idleDefault / 2},
		"a peer":     {func(i int) endpoint { return endpoint{peer{"host", 80}, strconv.Itoa(i), nil} }, idleDefault / 4},
		"all":        {func(i int) endpoint { return endpoint{peer{strconv.Itoa(i), 80}, strconv.Itoa(i), nil} }, idleDefault},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // so that no connection expires during the test
				p := newPool(idleDefault)
				for i := range c.most {
					if !p.push(&conn{endpoint: c.to(i)}) {
						t.Fatalf("%s: only %d are kept", name, i)
					}
				}
				if p.push(&conn{endpoint: c.to(c.most)}) {
					t.Errorf("%s: more than %d are kept", name, c.most)
				}
				if p.pop(c.to(0)) == nil || !p.push(&conn{endpoint: c.to(c.most)}) {
					t.Errorf("%s: the place of one that was taken is not free", name)
				}
				p.closed = true
				if dropped := p.takeExpired(); len(dropped) != c.most || p.count != 0 || len(p.byAccount) != 0 || len(p.byPeer) != 0 || len(p.idle) != 0 {
					t.Errorf("%s: %d of %d dropped, left are %v and %v", name, len(dropped), c.most, p.byAccount, p.byPeer)
				}
				p.sweep.Stop()
			})
		})
	}
}
