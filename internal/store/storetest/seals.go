package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/store"
)

func newRing(t testing.TB) *sealed.Ring {
	t.Helper()
	ring, _ := newRingFile(t)
	return ring
}

func newRingFile(t testing.TB) (ring *sealed.Ring, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "keyring")
	ring, err := sealed.OpenOrCreate(file)
	must(t, err)
	return ring, file
}

// removeOldKeys removes all keys but the primary from a ring's file.
func removeOldKeys(t testing.TB, ring *sealed.Ring, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	_, key, _ := strings.Cut(string(text), ring.Primary()+" ")
	must(t, errors.Join(os.WriteFile(file, []byte(ring.Primary()+" "+key), 0o600), ring.Reload()))
}

// seals needs a database without sealed values.
func seals(t *testing.T, db *store.DB) {
	ctx := t.Context()
	ring, file := newRingFile(t)
	wrong := newRing(t)
	hasSeal := func() bool {
		t.Helper()
		has, err := db.HasSeal(ctx)
		must(t, err)
		return has
	}
	reseal := func(want int) {
		t.Helper()
		same(t, resealed(t, db, ring), store.Resealed{Values: want})
		sealedWith(t, db, ring)
	}
	same(t, hasSeal(), false)
	for range 2 { // the ring seals the check value, and then opens it
		must(t, db.CheckSeal(ctx, ring))
		same(t, hasSeal(), true)
	}
	reopened, err := db.OpenRing(ctx, func(used bool) (*sealed.Ring, error) {
		same(t, used, true)
		return ring, nil
	})
	if err != nil || reopened != ring {
		t.Errorf("opening the ring again got %v, %v", reopened, err)
	}
	if err := db.CheckSeal(ctx, wrong); err == nil || !strings.Contains(err.Error(), "key ring") {
		t.Errorf("another ring was not refused with a reason: %v", err)
	}
	reseal(0)
	rotate(t, ring)
	reseal(1)
	reseal(0)
	removeOldKeys(t, ring, file)
	if err := db.CheckSeal(ctx, ring); err != nil {
		t.Errorf("a resealed value needs the old key: %v", err)
	}
	same(t, resealed(t, db, wrong), store.Resealed{Unopened: 1, First: sealed.Place{Table: "seal_checks", Column: "sealed", Row: "ring"}})
	if err := db.CheckSeal(ctx, ring); err != nil {
		t.Errorf("a ring that cannot open the value damaged it: %v", err)
	}
}

// damagedSeals checks that a value that no key opens does not keep others from being resealed.
func damagedSeals(t *testing.T, database Database) {
	db, ring := database.Open(t), newRing(t)
	db.SealWith(ring)
	account := newAccount(t, db).ID
	var written []jobs.Job
	for i := range 50 {
		written = append(written, NewJob(account, fmt.Sprint("j", i), "http://example.com/"))
	}
	AddJobs(t, db, written...)
	damaged := written[3].RequestID
	overwrite(t, database.Raw(t), damaged, []byte("damaged"))
	rotate(t, ring)
	first := sealed.Place{Table: "job_requests", Column: "sealed", Row: damaged}
	for _, want := range []int{len(written) - 1, 0} {
		same(t, resealed(t, db, ring), store.Resealed{Values: want, Unopened: 1, First: first})
	}
}

// contestedSeals checks that Reseal does not undo a write that comes between its
// own read and write of a value.
func contestedSeals(t *testing.T, database Database) {
	raw, ring, theirs := database.Raw(t), newRing(t), []byte("theirs")
	var changed string // the row that another writer overwrites as soon as a write transaction begins
	db := database.Open(t, func(options *store.Options) {
		options.Trace = func(ctx context.Context, name string) (context.Context, func(error)) {
			if name == "store write" && changed != "" {
				overwrite(t, raw, changed, theirs)
				changed = ""
			}
			return ctx, func(error) {}
		}
	})
	db.SealWith(ring)
	account := newAccount(t, db).ID
	written := []jobs.Job{NewJob(account, "a", "http://example.com/"), NewJob(account, "b", "http://example.com/")}
	AddJobs(t, db, written...)
	rotate(t, ring)
	changed = written[0].RequestID
	same(t, resealed(t, db, ring), store.Resealed{Values: 1})
	var kept []byte
	must(t, raw.QueryRowContext(t.Context(), `SELECT sealed FROM job_requests WHERE id = $1`, written[0].RequestID).Scan(&kept))
	same(t, string(kept), string(theirs))
}

// largeSeals reseals a few values that are together too large for one transaction.
func largeSeals(t *testing.T, database Database) {
	ring, writes := newRing(t), 0
	db := database.Open(t, func(options *store.Options) {
		options.Observe = func(kind string, _ time.Duration, _ error) {
			if kind == "write" {
				writes++
			}
		}
	})
	db.SealWith(ring)
	account := newAccount(t, db).ID
	for i := range 6 {
		job := NewJob(account, fmt.Sprint("j", i), "http://example.com/")
		plain, body := job.Configuration.Plain(), strings.Repeat("x", 1<<20)
		plain.Body = &body
		job.Configuration = jobs.NewConfiguration(plain)
		AddJobs(t, db, job)
	}
	rotate(t, ring)
	writes = 0
	same(t, resealed(t, db, ring), store.Resealed{Values: 6})
	same(t, writes, 2)
}

func rotate(t testing.TB, ring *sealed.Ring) {
	t.Helper()
	if _, err := ring.Rotate(); err != nil {
		t.Fatal(err)
	}
}

// overwrite stores a sealed configuration behind the store's back.
func overwrite(t testing.TB, raw *sql.DB, id string, value []byte) {
	t.Helper()
	if _, err := raw.ExecContext(t.Context(), `UPDATE job_requests SET sealed = $2 WHERE id = $1`, id, value); err != nil {
		t.Error(err)
	}
}

// sealedWith checks that the primary key has sealed all values, and older keys none.
func sealedWith(t testing.TB, db *store.DB, ring *sealed.Ring) {
	t.Helper()
	for _, id := range ring.IDs() {
		count, err := db.SealedWith(t.Context(), id)
		if err != nil || (count > 0) != (id == ring.Primary()) {
			t.Errorf("the key %s has sealed %d values, %v; the primary is %s", id, count, err, ring.Primary())
		}
	}
}

func resealed(t testing.TB, db *store.DB, ring *sealed.Ring) store.Resealed {
	t.Helper()
	done, err := db.Reseal(t.Context(), ring)
	must(t, err)
	return done
}
