package storetest

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store"
)

// boundedTo opens a database whose histories are bounded.
func boundedTo(t *testing.T, database Database, bytes int64) *store.DB {
	t.Helper()
	return database.Open(t, func(o *store.Options) { o.HistoryBytes = bytes })
}

// sized returns a change whose documents have the given size together.
func sized(bytes int) changes.Change {
	document := []byte(`"` + strings.Repeat("x", bytes/2-2) + `"`)
	return changes.Change{Kind: "logger", Key: "k", Action: changes.Updated, Before: document, After: document}
}

func historyBytes(t *testing.T, db *store.DB, account string) int64 {
	t.Helper()
	bytes, _, err := db.History().Bytes(t.Context(), account)
	must(t, err)
	return bytes
}

// isTrimmed reports whether the documents of a change are gone.
func isTrimmed(t *testing.T, db *store.DB, account string, seq int64) bool {
	t.Helper()
	found := find(t, db, (*store.ReadTx).Change, account, seq)
	if found.Trimmed == (found.Before != nil) || found.Kind != "logger" || found.Key != "k" {
		t.Errorf("change %d is %+v", seq, found)
	}
	return found.Trimmed
}

func boundedHistory(t *testing.T, shared *store.DB) {
	const kib = 1 << 10
	t.Run("oldest documents go first", func(t *testing.T) {
		db := boundedTo(t, New(t, shared.Name()), 64*kib)
		account, other := newAccount(t, db).ID, newAccount(t, db).ID
		record(t, db, other, sized(60*kib))
		for i := int64(1); i <= 50; i++ {
			record(t, db, account, sized(4*kib))
			if bytes := historyBytes(t, db, account); bytes > 64*kib || bytes < min(i*4, 56)*kib {
				t.Fatalf("after %d changes there are %d bytes", i, bytes)
			}
		}
		same(t, isTrimmed(t, db, account, 1), true)
		same(t, isTrimmed(t, db, account, 34), true)
		same(t, isTrimmed(t, db, account, 37), false)
		same(t, isTrimmed(t, db, account, 50), false)
		same(t, historyBytes(t, db, other), 60*kib)
		checkTotals(t, db)
	})
	t.Run("small documents make way for large ones", func(t *testing.T) {
		db := boundedTo(t, New(t, shared.Name()), 512*kib)
		account := newAccount(t, db).ID
		for range 6 {
			many := make([]changes.Change, 250)
			for i := range many {
				many[i] = sized(256)
			}
			do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.RecordChanges(ctx, account, many...) })
		}
		for range 12 {
			record(t, db, account, sized(300*kib))
			if bytes := historyBytes(t, db, account); bytes > (512+300)*kib {
				t.Errorf("there are %d bytes", bytes)
			}
		}
		checkTotals(t, db)
	})
	t.Run("a change keeps its own documents", func(t *testing.T) {
		db := boundedTo(t, New(t, shared.Name()), 64*kib)
		trimmed := 0
		db.OnTrim(func(changes int) { trimmed += changes })
		account := newAccount(t, db).ID
		for seq := int64(1); seq <= 3; seq++ {
			record(t, db, account, sized(200*kib))
			same(t, historyBytes(t, db, account), 200*kib)
			same(t, isTrimmed(t, db, account, seq), false)
		}
		same(t, isTrimmed(t, db, account, 2), true)
		same(t, trimmed, 2)
	})
	t.Run("a lower limit", func(t *testing.T) { lowerLimit(t, New(t, shared.Name())) })
	t.Run("a rolled back change does not count", func(t *testing.T) { undoneHistory(t, New(t, shared.Name())) })
	t.Run("racing writers and retention", func(t *testing.T) { racingHistory(t, New(t, shared.Name())) })
	t.Run("older nodes", func(t *testing.T) { uncountedHistory(t, New(t, shared.Name())) })
}

// undoneHistory rolls back a change that would have trimmed the history.
func undoneHistory(t *testing.T, database Database) {
	const kib = 1 << 10
	db := boundedTo(t, database, 64*kib)
	account, undone := newAccount(t, db).ID, errors.New("undone")
	record(t, db, account, sized(60*kib))
	err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
		return errors.Join(tx.RecordChanges(ctx, account, sized(60*kib)), undone)
	})
	if !errors.Is(err, undone) || isTrimmed(t, db, account, 1) || historyBytes(t, db, account) != 60*kib {
		t.Errorf("%d bytes, %v", historyBytes(t, db, account), err)
	}
}

// lowerLimit opens a database again with a lower limit: the history is trimmed without a write.
func lowerLimit(t *testing.T, database Database) {
	const kib = 1 << 10
	large := boundedTo(t, database, 0)
	account := newAccount(t, large).ID
	for range 40 {
		record(t, large, account, sized(2048*kib))
	}
	bytes, limit, err := large.History().Bytes(t.Context(), account)
	must(t, err)
	same(t, []int64{bytes, limit}, []int64{40 * 2048 * kib, -1})
	trimmed, err := large.TrimHistory(t.Context())
	must(t, err)
	same(t, trimmed, 0)
	small := boundedTo(t, database, 8192*kib)
	trimmed, err = small.TrimHistory(t.Context())
	must(t, err)
	if left := historyBytes(t, small, account); left > 8192*kib || trimmed < 36 || trimmed > 37 {
		t.Errorf("%d bytes are left after %d", left, trimmed)
	}
	same(t, isTrimmed(t, small, account, 36), true)
	same(t, isTrimmed(t, small, account, 40), false)
	total, largest, err := small.HistorySizes(t.Context())
	must(t, err)
	same(t, total >= largest && largest == historyBytes(t, small, account), true)
	checkTotals(t, small)
	// A stream that resumes in the trimmed part misses numbers, so the client loads everything.
	found, err := small.EventsAfter(t.Context(), account, 30, 100)
	must(t, err)
	same(t, found[0].Seq, int64(trimmed+1))
}

// recordMany records changes of several sizes.
func recordMany(t *testing.T, db *store.DB, account string, seed int) {
	for k := range 40 {
		if err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
			return tx.RecordChanges(ctx, account, sized(1000*(1+(seed+k)%7)), sized(600))
		}); err != nil {
			t.Error(err)
		}
	}
}

// racingHistory writes, trims and removes at once.
func racingHistory(t *testing.T, database Database) {
	nodes := []*store.DB{boundedTo(t, database, 100_000)}
	if database.Kind == "postgres" {
		nodes = append(nodes, boundedTo(t, database, 100_000))
	}
	account := newAccount(t, nodes[0]).ID
	var running sync.WaitGroup
	for i, db := range nodes {
		for j := range 3 {
			running.Go(func() { recordMany(t, db, account, i+j) })
		}
		running.Go(func() {
			for range 10 {
				_, err := db.TrimHistory(t.Context())
				_, failed := db.RemoveChanges(t.Context(), time.Now().Add(-20*time.Millisecond), nil)
				if err := errors.Join(err, failed); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if bytes := historyBytes(t, nodes[0], account); bytes > 108_000 {
		t.Errorf("there are %d bytes", bytes)
	}
	checkTotals(t, nodes[0])
	_, err := nodes[0].RemoveChanges(t.Context(), time.Now().Add(time.Hour), nil)
	must(t, err)
	same(t, historyBytes(t, nodes[0], account), 0)
}

// uncountedHistory checks the count after the migration, and after writes by nodes of an older version.
func uncountedHistory(t *testing.T, database Database) {
	db := boundedTo(t, database, 0)
	account := newAccount(t, db).ID
	record(t, db, account, sized(1000))
	record(t, db, account, changes.Change{Kind: "flag", After: []byte(`"ü"`)})
	want := historyBytes(t, db, account)
	same(t, want, 1004)
	text, err := os.ReadFile("migrations/" + database.Kind + "/0020_history_bytes.sql")
	must(t, err)
	execute(t, database, `UPDATE accounts SET history_bytes = 7`)
	execute(t, database, string(text[strings.Index(string(text), "UPDATE accounts"):]))
	same(t, historyBytes(t, db, account), want)
	execute(t, database, `UPDATE accounts SET history_bytes = 7 WHERE id = '`+account+`'`)
	corrected, err := db.CorrectHistoryBytes(t.Context())
	must(t, err)
	same(t, corrected, []store.Correction{{Account: account, What: "history bytes", Was: 7, Is: int(want)}})
	same(t, historyBytes(t, db, account), want)
	execute(t, database, `UPDATE accounts SET history_bytes = 7 WHERE id = '`+account+`'`)
	_, err = db.RemoveChanges(t.Context(), time.Now().Add(time.Hour), nil)
	must(t, err)
	same(t, historyBytes(t, db, account), 0) // and not negative
}

// checkHistoryBytes checks that the counted bytes of every history are the sum of its documents.
func checkHistoryBytes(t *testing.T, db *store.DB) {
	t.Helper()
	wrong, err := db.CorrectHistoryBytes(context.Background()) //nolint:usetesting // t.Context has ended when a cleanup runs
	if err != nil || len(wrong) > 0 {
		t.Errorf("the history is counted wrong: %+v, %v", wrong, err)
	}
}
