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

// batch is the result of one transaction over due jobs.
type batch struct {
	at             time.Time
	fired, skipped []jobs.Firing
	overlapping    []jobs.Firing // skipped because an earlier run has not ended
	held           map[string]bool
	replaced       []string // held runs
	admission      jobs.Admission
	uncounted      []string // accounts that must be counted before anything fires
}

// size returns how many jobs were due.
func (b *batch) size() int { return len(b.fired) + len(b.skipped) + len(b.overlapping) }

// settle records whether the runs were queued.
func (b *batch) settle(queued bool) {
	b.admission.Settle(queued)
	b.admission = jobs.Admission{}
}

// fireCounted fires a batch of due jobs. A transaction that locks the jobs shows which
// accounts have them. The pending runs of these accounts are counted between two
// transactions: counting a long queue takes longer than a transaction may last.
func (s *Scheduler) fireCounted(ctx context.Context) (batch, error) {
	began := s.Backlog.Now()
	for {
		b, err := s.fireBatch(ctx, began)
		if err != nil || len(b.uncounted) == 0 {
			return b, err
		}
		if err := s.Backlog.Count(ctx, b.uncounted); err != nil {
			return batch{}, err
		}
	}
}

// fireBatch inserts the runs of due jobs and stores when they fire next. It does so
// only if the counts of their accounts' pending runs were valid at the given instant.
func (s *Scheduler) fireBatch(ctx context.Context, counted time.Time) (b batch, err error) {
	err = s.Store.Write(ctx, "", func(ctx context.Context, tx Tx) error {
		b.settle(false) // the transaction may be a repetition
		b = batch{at: tx.Now()}
		if s.Paused.IsOn() { // checked after the time was read: the clock may just have become wrong
			return nil
		}
		due, err := tx.DueJobs(ctx, b.at, s.Batch)
		if err != nil || len(due) == 0 {
			return err
		}
		if s.admit(due, &b, counted); len(b.uncounted) > 0 {
			return nil
		}
		if err := b.leaveBusy(ctx, tx); err != nil {
			return err
		}
		if err := b.separate(ctx, tx); err != nil {
			return err
		}
		return b.record(ctx, tx)
	})
	b.settle(err == nil)
	return b, err
}

// admit decides which due jobs fire. An account fires as many jobs as fit below its
// limit of pending runs; its other jobs are skipped.
func (s *Scheduler) admit(due []jobs.Due, b *batch, counted time.Time) {
	wanted := map[string]int{}
	for _, job := range due {
		wanted[job.Account]++
	}
	if b.admission, b.uncounted = s.Backlog.AdmitCounted(counted, wanted); len(b.uncounted) > 0 {
		return
	}
	left := maps.Clone(b.admission.Runs)
	for _, job := range due {
		firing := job.Fire(b.at, &s.zones)
		if left[job.Account]--; left[job.Account] >= 0 {
			b.fired = append(b.fired, firing)
		} else {
			b.skipped = append(b.skipped, firing)
		}
	}
}

// leaveBusy leaves out jobs that do not fire again while another transaction changes how many jobs of their account are
// enabled: firing them changes that number too, and the jobs of other accounts must not wait.
func (b *batch) leaveBusy(ctx context.Context, tx Tx) error {
	ended := map[string]bool{}
	for _, firing := range slices.Concat(b.fired, b.skipped) {
		if firing.Next == nil {
			ended[firing.Account] = true
		}
	}
	if len(ended) == 0 {
		return nil
	}
	busy, err := tx.LockActiveJobs(ctx, slices.Sorted(maps.Keys(ended)))
	if err != nil {
		return err
	}
	isLeft := func(firing jobs.Firing) bool { return firing.Next == nil && slices.Contains(busy, firing.Account) }
	b.fired, b.skipped = slices.DeleteFunc(b.fired, isLeft), slices.DeleteFunc(b.skipped, isLeft)
	return nil
}

// separate applies the overlap policies to due jobs that have an unfinished run: it leaves these jobs out, or lets their
// new runs wait. Only jobs with a policy cost a query.
func (b *batch) separate(ctx context.Context, tx Tx) error {
	var origins []jobs.Origin
	for _, firing := range b.fired {
		if firing.Overlap != jobs.OverlapAllow {
			origins = append(origins, firing.Origin)
		}
	}
	if len(origins) == 0 {
		return nil
	}
	unfinished, err := tx.UnfinishedRuns(ctx, origins)
	if err != nil {
		return err
	}
	b.held = map[string]bool{}
	b.fired = slices.DeleteFunc(b.fired, func(firing jobs.Firing) bool {
		now := unfinished[firing.UID]
		switch {
		case firing.Overlap == jobs.OverlapAllow || !now.IsBusy():
			return false
		case firing.Overlap == jobs.OverlapSkip:
			b.overlapping = append(b.overlapping, firing)
			return true
		}
		b.held[firing.UID] = true
		if now.Held != "" {
			b.replaced = append(b.replaced, now.Held)
		}
		return false
	})
	return nil
}

// record stores runs, the next runs of jobs, and skipped instants. All nodes write
// jobs in the same order, so that they do not deadlock.
func (b *batch) record(ctx context.Context, tx Tx) error {
	runs := make([]jobs.Run, len(b.fired))
	for i, firing := range b.fired {
		if runs[i] = firing.Run(b.at); b.held[firing.UID] {
			runs[i].Lane = jobs.HeldLane
		}
	}
	if _, err := tx.ReplaceHeld(ctx, b.replaced); err != nil {
		return err
	}
	if err := tx.InsertRuns(ctx, runs); err != nil {
		return err
	}
	all := sortedByUID(slices.Concat(b.fired, b.skipped, b.overlapping))
	if err := tx.AdvanceJobs(ctx, all); err != nil {
		return err
	}
	if err := tx.SkipJobs(ctx, sortedByUID(slices.Concat(b.skipped, b.overlapping))); err != nil {
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

// tellSkipped counts skipped instants, and logs them once a minute for each account.
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
