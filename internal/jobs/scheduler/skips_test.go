package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestScheduler_SkipsPastPendingLimit: an account at its limit skips what is due,
// another does not, and when there is capacity again the job fires as always.
func TestScheduler_SkipsPastPendingLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		const limit = 3
		c := newClock()
		db := c.open(t, database)
		account, other := storetest.NewTenant(t, db, "pro").Account.ID, storetest.NewTenant(t, db, "pro").Account.ID
		minute := c.now().Truncate(time.Minute)
		for i := range limit + 2 {
			newJob(t, db, account, fmt.Sprint("j", i), "* * * * *", minute.Add(time.Duration(i)*time.Microsecond)) // in this order
		}
		newJob(t, db, account, "once", "now", minute.Add(time.Second))
		newJob(t, db, other, "j", "* * * * *", minute)
		r := startOn(t, db, db.Scheduler(), limit)
		r.check(t)
		for key, skipped := range map[string]bool{"j0": false, "j2": false, "j3": true, "j4": true, "once": true} {
			job := readJob(t, db, account, key)
			if runs := runsOf(t, db, account, key); (len(runs) == 0) != skipped || (job.SkippedAt != nil) != skipped {
				t.Errorf("%s has %d runs and skipped at %v", key, len(runs), job.SkippedAt)
			}
		}
		if job := readJob(t, db, account, "j4"); !job.SkippedAt.Equal(minute.Add(4*time.Microsecond)) || !job.Enabled || !job.NextRunAt.Equal(minute.Add(time.Minute)) {
			t.Errorf("after a skip it is %+v", job)
		}
		if job := readJob(t, db, account, "once"); job.Enabled || job.NextRunAt != nil {
			t.Errorf("a one-off that was skipped is %+v", job)
		}
		if runs := runsOf(t, db, other, "j"); len(runs) != 1 {
			t.Errorf("another account has %d runs", len(runs))
		}
		for range 3 { // in the next minute all are skipped
			c.move(10 * time.Second)
			r.check(t)
		}
		r.Stop()
		if lines := strings.Count(r.log.String(), "too many pending runs"); r.skips != 3+limit+2 || lines != 1 {
			t.Errorf("%d skips were reported in %d lines: %s", r.skips, lines, r.log.String())
		}
		claimAll(t, db, account)
		c.move(time.Minute)
		startOn(t, db, db.Scheduler(), limit).check(t)
		if runs := runsOf(t, db, account, "j0"); len(runs) != 2 {
			t.Errorf("%d runs after there was capacity again", len(runs))
		}
	})
}

// claimAll makes all pending runs of an account run.
func claimAll(t *testing.T, db *store.DB, account string) {
	t.Helper()
	err := db.Write(t.Context(), "", func(tx *store.Tx) error {
		_, err := tx.ClaimRuns(t.Context(), jobs.Lane(account, "a:80"), "boot", 100)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
