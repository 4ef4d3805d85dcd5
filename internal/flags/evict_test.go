package flags_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestSnapshots_EvictIdle(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "free")
	h.create(t, numeric("a", "1"))
	v := newViewer(h)
	v.Evict() // there is nothing yet
	v.shows(t, map[string]string{"a": "1"}, nil)
	for range 3 { // it is used now and then
		evict(v, 12)
		v.shows(t, map[string]string{"a": "1"})
	}
	evict(v, 13)
	v.shows(t, map[string]string{"a": "1"}, nil)
}

func evict(v *viewer, rounds int) {
	for range rounds {
		v.Evict()
	}
}

// TestSnapshots_KeepShares: the flags of other accounts are kept first, although the account
// with most of the bytes used its flags last.
func TestSnapshots_KeepShares(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "free")
	v := newViewer(h)
	small := h.owner
	h.create(t, numeric("a", "1"))
	v.shows(t, map[string]string{"a": "1"}, nil)
	v.Evict()
	h.owner = storetest.NewTenant(t, h.db, "free").Owner
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		h.create(t, numeric(key, "1"))
	}
	v.shows(t, map[string]string{"a": "1"}, nil)
	for limit, want := range map[int][]string{16 << 10: {small.Account, h.owner.Account}, 6 << 10: {small.Account}} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			kept, err := v.Keep(t.Context(), limit)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, each := range kept {
				got = append(got, each.Account)
			}
			same(t, got, want)
		})
	}
}

// TestSnapshots_Bounded evaluates in more accounts than snapshots fit into the memory.
func TestSnapshots_Bounded(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "free")
	v := newViewer(h)
	v.MaxBytes = 4 << 10 // a flag is a bit more than one KiB
	callers := []accounts.Caller{h.owner}
	for range 9 {
		callers = append(callers, storetest.NewTenant(t, h.db, "free").Owner)
	}
	for _, caller := range callers {
		h.owner = caller
		h.create(t, numeric("a", "1"))
		v.shows(t, map[string]string{"a": "1"}, nil)
		v.shows(t, map[string]string{"a": "1"}) // the flags in use stay
		v.Evict()
	}
	for _, caller := range callers[7:] {
		h.owner = caller
		v.shows(t, map[string]string{"a": "1"})
	}
	h.owner = callers[0]
	v.shows(t, map[string]string{"a": "1"}, nil)
	v.Evict()
	h.create(t, numeric("b", "1"))
	v.shows(t, map[string]string{"a": "1", "b": "1"}, []string{"b"}) // it grows, and takes the place of another
	v.shows(t, map[string]string{"a": "1"})
}
