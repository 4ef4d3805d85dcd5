package storetest

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

// idAt returns the id of a run that was made at an instant.
func idAt(at time.Time) string {
	id := uuid.Must(uuid.NewV7())
	millis := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(millis >> (8 * (5 - i)))
	}
	return id.String()
}

func retention(t *testing.T, shared *store.DB) {
	database := New(t, shared.Name())
	db := OpenSealed(t, database)
	ctx, account, now := t.Context(), newAccount(t, db).ID, time.Now()
	live, deleted := NewJob(account, "live", "http://a/"), NewJob(account, "deleted", "http://b/")
	AddJobs(t, db, live, deleted)
	old, recent := oldRuns(t, db, live, jobs.Canceled, 1100, now.Add(-time.Hour)), oldRuns(t, db, live, jobs.Canceled, 2, now.Add(time.Hour))
	running := oldRuns(t, db, deleted, jobs.Pending, 1, now.Add(-time.Hour))
	claim(t, db, deleted.Lane(), "boot", 1)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.DeleteJob(ctx, deleted, now.Add(-3*time.Hour))
		return err
	})
	raw := database.Raw(t)
	execute(t, database, `UPDATE job_requests SET superseded_at = 1 WHERE superseded_at IS NOT NULL`)
	for _, skip := range []string{live.UID + `', '2020-01-01`, live.UID + `', '` + now.UTC().Format(time.DateOnly), `gone', '2020-01-02`} {
		execute(t, database, `INSERT INTO job_skips (job_uid, day, skipped) VALUES ('`+skip+`', 1)`)
	}
	for _, want := range []int{len(old), 0} {
		removed, err := db.RemoveRuns(ctx, now, nil)
		must(t, err)
		same(t, removed, want)
	}
	for _, id := range recent {
		same(t, ReadRun(t, db, account, id).Status, jobs.Canceled)
	}
	same(t, ReadRun(t, db, account, running[0]).Status, jobs.Running)
	ids, _ := listRuns(t, db, account, jobs.RunFilter{}, page.Cursor{Size: 100})
	same(t, len(ids), len(recent)+len(running))
	for query, want := range map[string]int{`SELECT count(*) FROM job_requests`: 1, `SELECT count(*) FROM jobs`: 1, `SELECT count(*) FROM job_skips`: 1} {
		t.Run(query, func(t *testing.T) {
			var count int
			must(t, raw.QueryRowContext(ctx, query).Scan(&count))
			same(t, count, want)
		})
	}
	same(t, readJob(t, db, account, "live").UID, live.UID)
	t.Run("history", func(t *testing.T) { removeHistory(t, db) })
	t.Run("deleted flags and loggers", func(t *testing.T) { deletedTexts(t, db, raw) })
	if database.Kind == "postgres" { // SQLite has one writer
		t.Run("a logger that is created again meanwhile", func(t *testing.T) { madeAgain(t, db, raw) })
	}
}

// oldRuns writes runs that were queued at an instant and have a status now.
func oldRuns(t *testing.T, db *store.DB, job jobs.Job, status jobs.Status, count int, made time.Time) (ids []string) {
	t.Helper()
	runs := make([]jobs.Run, count)
	for i := range runs {
		runs[i] = NewRun(job)
		runs[i].ID = idAt(made)
		ids = append(ids, runs[i].ID)
	}
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
		err := tx.InsertRuns(ctx, runs)
		if err == nil && status == jobs.Canceled {
			_, err = tx.ReplaceHeld(ctx, ids)
		}
		return err
	})
	return ids
}

func removeHistory(t *testing.T, db *store.DB) {
	tenant := NewTenant(t, db, "pro")
	head := func() int64 {
		heads, err := db.Heads(t.Context())
		must(t, err)
		return heads[tenant.Account.ID]
	}
	before := head()
	for _, test := range []struct {
		until time.Time
		all   bool
	}{{time.Now().Add(-time.Hour), false}, {time.Now().Add(time.Hour), true}} {
		removed, err := db.RemoveChanges(t.Context(), test.until, nil)
		must(t, err)
		same(t, removed >= int(before), test.all)
		same(t, head(), before) // numbers are not reused
	}
}

// deletedTexts checks that nothing of deleted flags and loggers stays, except the keys of promoted loggers.
func deletedTexts(t *testing.T, db *store.DB, raw *sql.DB) {
	ctx, account, other := t.Context(), newAccount(t, db).ID, newAccount(t, db).ID
	saveFlag(t, db, newFlag(account, "f"))
	deleteFlag(t, db, account, "f")
	keys := []string{"a", "b", "c", "never"}
	for i, key := range keys {
		saveLoggers(t, db, newLogger(account, key))
		saveLoggers(t, db, newLogger(other, key))
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
			if key != "never" {
				return errors.Join(tx.MarkLoggerCascaded(ctx, account, key), tx.DeleteLogger(ctx, account, key, at(i)))
			}
			return tx.DeleteLogger(ctx, account, key, at(i))
		})
	}
	rows := func(query string) (count int) {
		t.Helper()
		must(t, raw.QueryRowContext(ctx, query+` AND account_id = '`+account+`'`).Scan(&count))
		return count
	}
	same(t, rows(`SELECT count(*) FROM flags WHERE true`), 0)
	same(t, rows(`SELECT count(*) FROM loggers WHERE true`), 3)
	same(t, rows(`SELECT count(*) FROM loggers WHERE name = '' AND search = '' AND environments = '{}' AND level IS NULL`), 3)
	for _, want := range []int{2, 0} { // the logger that was deleted last stays
		removed, err := db.ForgetLoggers(ctx, 1)
		must(t, err)
		same(t, removed, want)
	}
	same(t, find(t, db, (*store.ReadTx).LoggerCascaded, account, "c"), true)
	same(t, find(t, db, (*store.ReadTx).LoggerCascaded, account, "b"), false)
	same(t, loggerKeys(loggersByKey(t, db, other, keys...)), keys)
}

// madeAgain creates a deleted logger again while ForgetLoggers waits for its row.
func madeAgain(t *testing.T, db *store.DB, raw *sql.DB) {
	ctx, account := t.Context(), newAccount(t, db).ID
	logger := newLogger(account, "again")
	saveLoggers(t, db, logger)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		return errors.Join(tx.MarkLoggerCascaded(ctx, account, logger.Key), tx.DeleteLogger(ctx, account, logger.Key, at(1)))
	})
	making, err := raw.BeginTx(ctx, nil) // not a transaction of the store, which may be idle for a moment only
	must(t, err)
	_, err = making.ExecContext(ctx, `UPDATE loggers SET deleted_at = NULL WHERE account_id = $1 AND key = $2`, account, logger.Key)
	must(t, err)
	forgotten := make(chan error, 1)
	go func() { _, err := db.ForgetLoggers(ctx, 0); forgotten <- err }()
	Wait(t, time.Minute, "ForgetLoggers waits", func() bool {
		var waiting int
		must(t, raw.QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting))
		return waiting == 1
	})
	must(t, making.Commit())
	must(t, <-forgotten)
	same(t, loggerKeys(loggersByKey(t, db, account, logger.Key)), []string{logger.Key})
}
