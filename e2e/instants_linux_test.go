package e2e

import (
	"database/sql"
	"testing"
	"time"
)

// instants are the runs of jobs that fire every minute.
type instants struct {
	created time.Time           // of the job
	fired   map[int64]time.Time // by instant: when its run was made
}

const (
	// coalescing is the interval of the jobs: an instant may be left out if nothing could be written until the next.
	coalescing = time.Minute
	// grace is how long a scheduler may need to notice that it can write again.
	grace = 20 * time.Second
)

// readInstants reads the runs of the jobs that fire every minute.
func readInstants(t *testing.T, db *sql.DB) map[string]instants {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT jobs.key, jobs.created_at, runs.scheduled_for, runs.created_at
		FROM jobs LEFT JOIN runs ON runs.job_uid = jobs.uid AND runs.scheduled_for IS NOT NULL WHERE jobs.key LIKE 'minutely-%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string]instants{}
	for rows.Next() {
		var key string
		var created int64
		var instant, made sql.NullInt64
		if err := rows.Scan(&key, &created, &instant, &made); err != nil {
			t.Fatal(err)
		}
		if _, known := all[key]; !known {
			all[key] = instants{time.UnixMicro(created), map[int64]time.Time{}}
		}
		if instant.Valid {
			all[key].fired[instant.Int64] = time.UnixMicro(made.Int64)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// checkInstants checks that every instant up to a time fired, except when nothing could be written until the next one. That an
// instant fired once is checked with all runs.
func checkInstants(t *testing.T, db *sql.DB, upTo time.Time) (fired, coalesced int) {
	t.Helper()
	all := readInstants(t, db)
	for key, job := range all {
		for instant, made := range job.fired {
			if at := time.UnixMicro(instant); !at.Equal(at.Truncate(coalescing)) || made.Before(at) || made.Sub(at) > coalescing+grace {
				t.Errorf("%s fired at %s for %s", key, made, at)
			}
		}
		for at := job.created.Truncate(coalescing).Add(coalescing); !at.After(upTo); at = at.Add(coalescing) {
			if _, found := job.fired[at.UnixMicro()]; found {
				fired++
				continue
			}
			coalesced++
			for other := range all {
				if made, found := all[other].fired[at.UnixMicro()]; found && made.Before(at.Add(coalescing-grace)) {
					t.Errorf("%s never fired for %s, and %s fired at %s", key, at, other, made)
				}
			}
			if wrote := number(t, db, `SELECT count(*) FROM runs WHERE created_at BETWEEN $1 AND $2`, at.Add(grace).UnixMicro(), at.Add(coalescing).UnixMicro()); wrote > 0 {
				t.Errorf("%s never fired for %s, but %d runs were made before the next instant", key, at, wrote)
			}
		}
	}
	return fired, coalesced
}
