package scheduler

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/jobs"
)

const (
	// batch bounds how many jobs fire in one transaction.
	batch = 1000
	// longestSleep is how late another node's job can be noticed.
	longestSleep = time.Second
	// reviewEvery is how often it is made sure that no job sleeps too long.
	reviewEvery = time.Hour
)

// Store gives what a Scheduler reads and writes.
type Store interface {
	Read(ctx context.Context, fn func(ReadTx) error) error
	Write(ctx context.Context, account string, fn func(Tx) error) error
}

// ReadTx is what a Scheduler reads.
type ReadTx interface {
	Now() time.Time
	// NextDue gives the earliest instant that any job fires for; nil for none.
	NextDue(ctx context.Context) (*time.Time, error)
	// Upcoming gives jobs that fire later than an instant, in the order of
	// their UIDs, after one.
	Upcoming(ctx context.Context, at time.Time, after string, limit int) ([]jobs.Due, error)
}

// Tx is what a Scheduler reads and writes in one transaction.
type Tx interface {
	Now() time.Time
	// DueJobs takes jobs that are due at an instant, oldest first.
	DueJobs(ctx context.Context, at time.Time, limit int) ([]jobs.Due, error)
	InsertRuns(ctx context.Context, runs []jobs.Run) error
	// AdvanceJobs stores when jobs fire next; those that do not are disabled.
	AdvanceJobs(ctx context.Context, firings []jobs.Firing) error
	// PullForward stores that jobs fire sooner, unless something else was
	// stored meanwhile.
	PullForward(ctx context.Context, sooner []jobs.Sooner) error
	AddActiveJobs(ctx context.Context, account string, more int) error
}

// Scheduler fires jobs on one node.
type Scheduler struct {
	Store Store
	Log   *slog.Logger
	// Queued is called when runs were made.
	Queued func()
	// Fired is told how late each job fired.
	Fired func(lag time.Duration)
	// Ticked is called after each tick that worked.
	Ticked func(at time.Time)

	wake   background.Bell
	loop   background.Loop
	seen   time.Time // the last look
	review review
}

// Start begins to fire jobs.
func (s *Scheduler) Start(ctx context.Context) {
	s.wake = background.NewBell()
	s.loop.Start(ctx, s.run)
}

// Stop ends firing and waits for it.
func (s *Scheduler) Stop() { s.loop.Stop() }

// Wake makes the scheduler look now. It never blocks.
func (s *Scheduler) Wake() { s.wake.Ring() }

func (s *Scheduler) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		sleep, err := s.tick(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			s.Log.Warn("The scheduler cannot use the store; it keeps trying.", "error", err)
		}
		failing = err != nil
		timer.Reset(sleep)
	}
}

// tick fires everything that is due, finishes a review that is under way, and
// tells how long there is nothing to do.
func (s *Scheduler) tick(ctx context.Context) (time.Duration, error) {
	for {
		sleep, err := s.untilDue(ctx)
		reviewing := err == nil && s.review.underWay
		if reviewing {
			err = s.reviewBatch(ctx)
		}
		if err != nil {
			return longestSleep, err
		}
		if sleep > 0 && reviewing {
			continue // what it woke may be due
		}
		if sleep > 0 {
			return sleep, nil
		}
		fired, err := s.fire(ctx)
		if err != nil {
			return longestSleep, err
		}
		if fired == 0 { // another node has them
			return longestSleep / 10, nil
		}
	}
}

// untilDue reads, without writing, how long it is until a job is due.
func (s *Scheduler) untilDue(ctx context.Context) (sleep time.Duration, err error) {
	err = s.Store.Read(ctx, func(tx ReadTx) error {
		due, err := tx.NextDue(ctx)
		sleep = longestSleep
		if err == nil && due != nil {
			sleep = min(longestSleep, due.Sub(tx.Now()))
		}
		if err == nil {
			s.Ticked(tx.Now())
			s.notice(tx.Now())
		}
		return err
	})
	return sleep, err
}

// fire makes the runs of one batch of due jobs.
func (s *Scheduler) fire(ctx context.Context) (int, error) {
	var fired []jobs.Firing
	var at time.Time
	err := s.Store.Write(ctx, "", func(tx Tx) error {
		at = tx.Now()
		due, err := tx.DueJobs(ctx, at, batch)
		if err != nil {
			return err
		}
		fired = fired[:0]
		for _, job := range due {
			fired = append(fired, job.Fire(at))
		}
		return record(ctx, tx, fired)
	})
	if err != nil || len(fired) == 0 {
		return 0, err
	}
	for _, firing := range fired {
		s.Fired(at.Sub(firing.ScheduledFor))
	}
	s.Queued()
	return len(fired), nil
}

// record stores the runs of firings and what becomes of their jobs.
func record(ctx context.Context, tx Tx, firings []jobs.Firing) error {
	runs := make([]jobs.Run, len(firings))
	ended := map[string]int{}
	for i, firing := range firings {
		runs[i] = firing.Run(tx.Now())
		if firing.Next == nil {
			ended[firing.Account]++
		}
	}
	if err := tx.InsertRuns(ctx, runs); err != nil {
		return err
	}
	// One order, so that two nodes do not wait for each other.
	slices.SortFunc(firings, func(a, b jobs.Firing) int { return cmp.Compare(a.UID, b.UID) })
	if err := tx.AdvanceJobs(ctx, firings); err != nil {
		return err
	}
	for _, account := range slices.Sorted(maps.Keys(ended)) {
		if err := tx.AddActiveJobs(ctx, account, -ended[account]); err != nil {
			return err
		}
	}
	return nil
}
