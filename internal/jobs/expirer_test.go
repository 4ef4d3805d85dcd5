package jobs_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestExpirer_OneEndEach: two nodes cancel runs that waited for too long, while a worker claims the
// same runs. Every run ends, or starts, once.
func TestExpirer_OneEndEach(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		const old, recent = 1200, 5 // several batches
		db := storetest.OpenSealed(t, database)
		job := storetest.NewJob(storetest.NewTenant(t, db, "pro").Account.ID, "job", "http://a/")
		storetest.AddJobs(t, db, job)
		storetest.Queue(t, db, job, recent)
		queueOld(t, db, job, old)
		var canceled, claimed atomic.Int64
		var racing sync.WaitGroup
		for range 2 {
			node := storetest.OpenSealed(t, database)
			expirer := &jobs.Expirer{Store: node.Jobs(), Log: slog.New(slog.DiscardHandler), Limit: 24 * time.Hour, Canceled: func(runs int) { canceled.Add(int64(runs)) }}
			racing.Go(func() {
				if err := expirer.Expire(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		racing.Go(func() {
			for range 3 {
				err := db.Worker().Write(t.Context(), "", func(ctx context.Context, tx worker.Tx) error {
					claims, err := tx.ClaimRuns(ctx, job.Lane(), "boot", 20)
					claimed.Add(int64(len(claims)))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
		racing.Wait()
		requireExpired(t, db, job, int(canceled.Load()), int(claimed.Load()), old+recent)
	})
}

// A clock that is wrong cancels nothing.
func TestExpirer_Paused(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	job := storetest.NewJob(storetest.NewTenant(t, db, "pro").Account.ID, "job", "http://a/")
	storetest.AddJobs(t, db, job)
	queueOld(t, db, job, 3)
	for _, wrong := range []bool{true, false} {
		t.Run(fmt.Sprint("wrong: ", wrong), func(t *testing.T) {
			canceled := 0
			expirer := &jobs.Expirer{Store: db.Jobs(), Log: slog.New(slog.DiscardHandler), Limit: 24 * time.Hour,
				Canceled: func(runs int) { canceled += runs }, Paused: func() bool { return wrong }}
			if err := expirer.Expire(t.Context()); err != nil {
				t.Fatal(err)
			}
			if (canceled == 0) != wrong {
				t.Errorf("with a clock that is wrong: %v, %d were canceled", wrong, canceled)
			}
		})
	}
}

// queueOld queues runs that have been pending for 25 hours.
func queueOld(t *testing.T, db *store.DB, job jobs.Job, count int) {
	t.Helper()
	queued := time.Now().Add(-25 * time.Hour)
	runs := make([]jobs.Run, count)
	for i := range runs {
		id := uuid.Must(uuid.NewV7())
		binary.BigEndian.PutUint32(id[:], uint32(queued.UnixMilli()>>16)) // ids begin with the time
		runs[i] = storetest.NewRun(job)
		runs[i].ID, runs[i].CreatedAt = id.String(), queued
	}
	if err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, runs) }); err != nil {
		t.Fatal(err)
	}
}

// requireExpired checks that runs have ended as they were counted.
func requireExpired(t *testing.T, db *store.DB, job jobs.Job, canceled, claimed, all int) {
	t.Helper()
	found := map[jobs.Status]int{}
	for _, run := range storetest.ReadRuns(t, db, job.Account) {
		found[run.Status]++
		if run.Status == jobs.Canceled && (run.Error == nil || !strings.Contains(*run.Error, "pending for longer than 24h") || run.FinishedAt == nil || run.Reason != nil) {
			t.Fatalf("a run that waited for too long is %+v", run)
		}
	}
	if found[jobs.Canceled] != canceled || found[jobs.Running] != claimed || found[jobs.Pending] != all-canceled-claimed || found[jobs.Pending] > 5 {
		t.Errorf("%d runs were canceled and %d claimed, but they are %v", canceled, claimed, found)
	}
}
