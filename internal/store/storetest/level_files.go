package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/store"
)

// levelFiles checks what only level files read: spellings, released loggers, and a date that grows with every change.
func levelFiles(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	modified := func() time.Time {
		return get(t, db, func(ctx context.Context, tx *store.ReadTx) (time.Time, error) { return tx.LevelsModified(ctx, account) })
	}
	odd, plain := seenBy(account, "a.b", "s", "e"), seenBy(account, "c", "s", "e")
	odd.Spelling = "A/B"
	saveSources(t, db, odd, plain)
	first := modified()
	foreign := seenBy(other, "x", "s", "e")
	foreign.Spelling = "X"
	saveSources(t, db, foreign)
	spelled := get(t, db, func(ctx context.Context, tx *store.ReadTx) ([]logging.Spelling, error) {
		return tx.LoggerSpellings(ctx, account)
	})
	same(t, spelled, []logging.Spelling{{Logger: "a.b", Name: "A/B"}})
	saveSources(t, db, odd)
	same(t, modified().After(first), true)

	released := func(since int) []logging.Released {
		return find(t, db, (*store.ReadTx).ReleasedLoggers, account, at(since))
	}
	logger := newLogger(account, "a.b")
	logger.Managed = true
	saveLoggers(t, db, logger)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.MarkLoggerCascaded(ctx, account, "a.b") })
	same(t, len(released(0)), 0)
	logger.Managed, logger.UpdatedAt = false, at(70)
	saveLoggers(t, db, logger)
	same(t, released(70), []logging.Released{{Key: "a.b", Name: logger.Name, At: at(70)}})
	same(t, len(released(71)), 0)
	logger.Managed = true
	saveLoggers(t, db, logger)
	same(t, len(released(0)), 0)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteLogger(ctx, account, "a.b", at(80)) })
	same(t, released(80), []logging.Released{{Key: "a.b", Name: "A/B", At: at(80)}})
}
