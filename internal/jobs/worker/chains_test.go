package worker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

const chainAttempts = 3

// TestChains_NodesDieAtRandom: every run fails or loses its node, and a node that was given up still reports its
// outcomes. Each chain has all its attempts exactly once.
func TestChains_NodesDieAtRandom(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		chains := suite.Scale(24, 2000)
		job := storetest.NewJob(account, "j", "http://a/")
		job.Retry = &jobs.Retry{MaxAttempts: chainAttempts, Backoff: jobs.BackoffFixed, MaxDelay: 1, On: []jobs.Reason{jobs.NonSuccessStatus, jobs.WorkerLost}, Statuses: []string{"5xx"}}
		job.Alerts = new(jobs.DefaultAlerts())
		storetest.AddJobs(t, db, job)
		first := storetest.Queue(t, db, job, chains)
		var nodes sync.WaitGroup
		for range 3 {
			nodes.Go(func() { mortalNodes(t, db, job) })
		}
		nodes.Wait()
		followers := checkAttempts(t, db, account, chains)
		for _, run := range first {
			for attempt := 1; attempt < chainAttempts; attempt++ {
				next, followed := followers[run]
				if !followed {
					t.Fatalf("attempt %d of a chain was lost", attempt+1)
				}
				run = next
			}
		}
	})
}

// mortalNodes claims runs, fails them or dies, until no run is left.
func mortalNodes(t *testing.T, db *store.DB, job jobs.Job) {
	for t.Context().Err() == nil {
		boot := uuid.NewString()
		claims, left, err := claimSome(t.Context(), db, job, boot)
		switch {
		case fault.Is(err, fault.Unavailable): // a deadlock, which is tried again
			continue
		case err != nil:
			t.Error(err)
			return
		case left == 0:
			return
		}
		outcomes := make([]worker.Outcome, len(claims))
		for i, claim := range claims {
			outcomes[i] = worker.Outcome{Run: claim.Run, Status: jobs.Failed, Reason: new(jobs.NonSuccessStatus), Error: new("no"), FinishedAt: time.Now().UTC(), Result: &jobs.Result{Status: 503}}
		}
		endSome(t, db, boot, outcomes)
	}
}

// claimSome claims runs for a node and counts the unfinished ones.
func claimSome(ctx context.Context, db *store.DB, job jobs.Job, boot string) (claims []worker.Claim, left int, err error) {
	err = db.Write(ctx, "", func(ctx context.Context, tx *store.Tx) error {
		if _, err := tx.ReleaseLater(ctx, 100); err != nil {
			return err
		}
		if claims, err = tx.ClaimRuns(ctx, job.Lane(), boot, 1+rand.IntN(5)); err != nil {
			return err
		}
		unfinished, err := tx.UnfinishedRuns(ctx, []jobs.Origin{{Account: job.Account, UID: job.UID}})
		left = unfinished[job.UID].Others
		return err
	})
	return claims, left, err
}

// endSome writes outcomes, gives the node up, or both at the same time, and repeats writes that the database refused.
func endSome(t *testing.T, db *store.DB, boot string, outcomes []worker.Outcome) {
	t.Helper()
	var ends sync.WaitGroup
	fate := rand.IntN(3)
	if fate != 0 {
		ends.Go(func() {
			repeat(t, func() error { _, err := db.Worker().FinishBusy(t.Context(), "", boot, outcomes); return err })
		})
	}
	if fate != 1 {
		ends.Go(func() {
			repeat(t, func() error {
				return db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
					_, busy, err := tx.LoseRuns(ctx, boot, "gone")
					if err == nil && len(busy) > 0 {
						err = fault.New(fault.Unavailable, "The account is busy.")
					}
					return err
				})
			})
		})
	}
	ends.Wait()
}

func repeat(t *testing.T, do func() error) {
	t.Helper()
	for {
		err := do()
		if err == nil || t.Context().Err() != nil {
			return
		}
		if !fault.Is(err, fault.Unavailable) {
			t.Error(err)
			return
		}
	}
}

// checkAttempts counts the attempts of all chains, and returns which run follows which.
func checkAttempts(t *testing.T, db *store.DB, account string, chains int) map[string]string {
	t.Helper()
	followers, attempts, final := map[string]string{}, map[int]int{}, 0
	for _, run := range storetest.AllRuns(t, db, account) {
		if attempts[run.Attempt]++; run.Attributes().Final {
			final++
		}
		if run.RerunOf == nil {
			continue
		}
		if _, twice := followers[*run.RerunOf]; twice {
			t.Errorf("attempt %d was made twice", run.Attempt)
		}
		followers[*run.RerunOf] = run.ID
	}
	if want := fmt.Sprint(map[int]int{1: chains, 2: chains, 3: chains}); fmt.Sprint(attempts) != want || final != chains {
		t.Errorf("there are attempts %v, %d of them final; want %s", attempts, final, want)
	}
	return followers
}
