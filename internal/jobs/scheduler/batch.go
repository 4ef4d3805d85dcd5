package scheduler

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
)

// tellInterval is the time between two log lines about the skips of an account.
const tellInterval = time.Minute

// batch is what one transaction makes of due jobs.
type batch struct {
	at             time.Time
	fired, skipped []jobs.Firing
	admissions     []jobs.Admission
}

// settle takes note whether the runs were queued.
func (b *batch) settle(queued bool) {
	for _, admission := range b.admissions {
		admission.Settle(queued)
	}
	b.admissions = nil
}

// fireBatch inserts the runs of due jobs and stores when they fire next.
func (s *Scheduler) fireBatch(ctx context.Context, tx Tx, b *batch) error {
	due, err := tx.DueJobs(ctx, b.at, s.Batch)
	if err != nil || len(due) == 0 {
		return err
	}
	if err := s.admit(ctx, due, b); err != nil {
		return err
	}
	return b.record(ctx, tx)
}

// admit decides which of the due jobs fire: of an account with too many pending
// runs, only the first.
func (s *Scheduler) admit(ctx context.Context, due []jobs.Due, b *batch) error {
	left := map[string]int{}
	for _, job := range due {
		left[job.Account]++
	}
	for account, wanted := range left {
		admission, err := s.Backlog.Admit(ctx, account, wanted)
		if err != nil {
			return err
		}
		left[account] = admission.Runs
		b.admissions = append(b.admissions, admission)
	}
	for _, job := range due {
		firing := job.Fire(b.at)
		if left[job.Account]--; left[job.Account] >= 0 {
			b.fired = append(b.fired, firing)
		} else {
			b.skipped = append(b.skipped, firing)
		}
	}
	return nil
}

// record stores runs, the next runs of jobs, and what was skipped. Jobs are written
// in one order on all nodes, so that they do not deadlock.
func (b *batch) record(ctx context.Context, tx Tx) error {
	runs := make([]jobs.Run, len(b.fired))
	for i, firing := range b.fired {
		runs[i] = firing.Run(b.at)
	}
	if err := tx.InsertRuns(ctx, runs); err != nil {
		return err
	}
	all := sortedByUID(slices.Concat(b.fired, b.skipped))
	if err := tx.AdvanceJobs(ctx, all); err != nil {
		return err
	}
	if err := tx.SkipJobs(ctx, sortedByUID(b.skipped)); err != nil {
		return err
	}
	return countEnded(ctx, tx, all)
}

func sortedByUID(firings []jobs.Firing) []jobs.Firing {
	return slices.SortedFunc(slices.Values(firings), func(a, b jobs.Firing) int { return cmp.Compare(a.UID, b.UID) })
}

// countEnded corrects the number of enabled jobs: one-offs have disabled themselves.
func countEnded(ctx context.Context, tx Tx, firings []jobs.Firing) error {
	ended := map[string]int{}
	for _, firing := range firings {
		if firing.Next == nil {
			ended[firing.Account]++
		}
	}
	for _, account := range slices.Sorted(maps.Keys(ended)) {
		if err := tx.AddActiveJobs(ctx, account, -ended[account]); err != nil {
			return err
		}
	}
	return nil
}

// tellSkipped counts what was skipped, and logs it once a minute for each account.
func (s *Scheduler) tellSkipped(b batch) {
	if len(b.skipped) == 0 {
		return
	}
	s.Skipped(len(b.skipped))
	maps.DeleteFunc(s.told, func(_ string, at time.Time) bool { return b.at.Sub(at) >= tellInterval || at.After(b.at) })
	for _, firing := range b.skipped {
		if _, known := s.told[firing.Account]; known {
			continue
		}
		s.told[firing.Account] = b.at
		s.Log.Warn("An account has too many pending runs; its jobs skip their instants until some have run. Look for hosts that do not answer, or raise SIGNALBOX_RUNS_IN_FLIGHT.",
			"account", firing.Account, "limit", s.Backlog.Limit, "job", firing.Key)
	}
}
