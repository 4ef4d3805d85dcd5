package jobs_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// backlog is one with a clock that the test sets, and a job to queue runs of.
type backlog struct {
	jobs.Backlog

	db  *store.DB
	job jobs.Job
	at  time.Time
}

func newBacklog(t *testing.T, limit int) *backlog {
	t.Helper()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	job := storetest.NewJob(storetest.NewTenant(t, db, "pro").Account.ID, "job", "http://a/")
	storetest.AddJobs(t, db, job)
	b := &backlog{db: db, job: job, at: time.Unix(1, 0)}
	b.Backlog = jobs.Backlog{Requests: db.Jobs(), Loops: db.Jobs().ForLoops(), Limit: limit, Now: func() time.Time { return b.at }}
	return b
}

// admit admits runs and returns how many may be queued.
func (b *backlog) admit(t *testing.T, wanted int) (int, jobs.Admission) {
	t.Helper()
	return admit(t, &b.Backlog, b.job.Account, wanted)
}

func admit(t *testing.T, b *jobs.Backlog, account string, wanted int) (int, jobs.Admission) {
	t.Helper()
	admission, err := b.Admit(t.Context(), account, wanted)
	if err != nil {
		t.Fatal(err)
	}
	return admission.Runs[account], admission
}

func TestBacklog_Admit(t *testing.T) {
	t.Parallel()
	b := newBacklog(t, 10)
	storetest.Queue(t, b.db, b.job, 4)
	got, first := b.admit(t, 5)
	if got != 5 {
		t.Fatalf("admitted %d of 5", got)
	}
	got, second := b.admit(t, 5)
	if got != 1 { // admitted runs count before they are stored
		t.Errorf("admitted %d where one is left", got)
	}
	second.Settle(false)
	first.Settle(true)
	storetest.Queue(t, b.db, b.job, 5)
	if got, _ := b.admit(t, 5); got != 1 {
		t.Errorf("admitted %d after one was given back", got)
	}
	if got, _ := admit(t, &b.Backlog, "another", 5); got != 5 {
		t.Errorf("another account gets %d", got)
	}
}

// TestBacklog_Recounts: it notices runs that ended and runs of other nodes.
func TestBacklog_Recounts(t *testing.T) {
	t.Parallel()
	b := newBacklog(t, 10)
	ids := storetest.Queue(t, b.db, b.job, 10)
	if got, _ := b.admit(t, 1); got != 0 {
		t.Errorf("admitted %d at the limit", got)
	}
	err := b.db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.CancelRun(ctx, b.job.Account, ids[0], "", tx.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.at = b.at.Add(time.Second)
	if got, _ := b.admit(t, 2); got != 1 {
		t.Errorf("admitted %d after a run was canceled", got)
	}
	other := newBacklog(t, 10)
	_, admission := other.admit(t, 1)
	admission.Settle(true) // and it was claimed at once
	storetest.Queue(t, other.db, other.job, 10)
	other.at = other.at.Add(time.Minute)
	if got, _ := other.admit(t, 1); got != 0 {
		t.Errorf("admitted %d after another node has queued runs", got)
	}
}

// TestBacklog_Racing: however many queue runs at once on a node, the limit holds.
func TestBacklog_Racing(t *testing.T) {
	t.Parallel()
	const limit = 25
	b := newBacklog(t, limit)
	var queued atomic.Int64
	var racing sync.WaitGroup
	for range 8 {
		racing.Go(func() {
			for range 10 {
				admission, err := b.Admit(t.Context(), b.job.Account, 1)
				if err != nil || admission.Runs[b.job.Account] == 0 {
					continue
				}
				err = b.db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
					return tx.InsertRuns(ctx, []jobs.Run{storetest.NewRun(b.job)})
				})
				if admission.Settle(err == nil); err == nil {
					queued.Add(1)
				}
			}
		})
	}
	racing.Wait()
	if got := queued.Load(); got != limit {
		t.Errorf("%d runs were queued, want %d", got, limit)
	}
}
