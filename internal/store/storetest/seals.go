package storetest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/store"
)

func newRing(t testing.TB) *sealed.Ring {
	t.Helper()
	ring, err := sealed.OpenOrCreate(filepath.Join(t.TempDir(), "keyring"))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// seals needs a database that nothing was sealed in before.
func seals(t *testing.T, db *store.DB) {
	ctx := t.Context()
	ring, wrong := newRing(t), newRing(t)
	hasSeal := func() bool {
		t.Helper()
		has, err := db.HasSeal(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return has
	}
	reseal := func(want int) {
		t.Helper()
		count, err := db.Reseal(ctx, ring)
		if err != nil {
			t.Fatal(err)
		}
		same(t, count, want)
	}
	same(t, hasSeal(), false)
	for range 2 { // the first ring seals, and opens what it sealed
		if err := db.CheckSeal(ctx, ring); err != nil {
			t.Fatal(err)
		}
		same(t, hasSeal(), true)
	}
	if err := db.CheckSeal(ctx, wrong); err == nil || !strings.Contains(err.Error(), "key ring") {
		t.Errorf("another ring was not refused with a reason: %v", err)
	}
	reseal(0)
	old := ring.Primary()
	if _, err := ring.Rotate(); err != nil {
		t.Fatal(err)
	}
	reseal(1)
	reseal(0)
	if err := ring.Retire(old); err != nil {
		t.Fatal(err)
	}
	if err := db.CheckSeal(ctx, ring); err != nil {
		t.Errorf("what was sealed again needs the old key: %v", err)
	}
	if _, err := db.Reseal(ctx, wrong); err == nil {
		t.Error("a ring that cannot open the values sealed them again")
	}
	if err := db.CheckSeal(ctx, ring); err != nil {
		t.Errorf("a failed re-sealing damaged the value: %v", err)
	}
}
