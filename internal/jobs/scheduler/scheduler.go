package scheduler

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/transaction"
)

const (
	defaultBatch = 1000
	// maxSleep bounds how late a job fires that another node made due.
	maxSleep = time.Second
	// reviewInterval is how often all jobs are reviewed.
	reviewInterval = time.Hour
)

// Store provides the transactions of a Scheduler.
type Store = transaction.Store[ReadTx, Tx]

// ReadTx is the reading part of a Scheduler's transaction.
type ReadTx interface {
	Now() time.Time
	// Agenda returns when the Scheduler's next tasks are due.
	Agenda(ctx context.Context) (Agenda, error)
	// Upcoming returns jobs that fire after an instant, ordered by UID and starting after the given UID.
	Upcoming(ctx context.Context, at time.Time, after string, limit int) ([]jobs.Due, error)
}

// Agenda has the next time of each task of a Scheduler; nil is never.
type Agenda struct {
	Fire    *time.Time // a job fires
	Release *time.Time // a further attempt may start
	Late    *time.Time // a job may be late
	Held    bool       // runs wait for earlier runs of their jobs
}

// Tx is the transaction of a Scheduler.
type Tx interface {
	Now() time.Time
	// DueJobs locks and returns jobs that are due at an instant, oldest first, without those that may be late.
	DueJobs(ctx context.Context, at time.Time, limit int) ([]jobs.Due, error)
	InsertRuns(ctx context.Context, runs []jobs.Run) error
	// SkipJobs stores the instants for which jobs did not fire.
	SkipJobs(ctx context.Context, skipped []jobs.Firing) error
	// AdvanceJobs stores when jobs fire next, and disables jobs that do not fire again.
	AdvanceJobs(ctx context.Context, firings []jobs.Firing) error
	// PullForward stores earlier next runs, unless they were changed meanwhile.
	PullForward(ctx context.Context, sooner []jobs.Sooner) error
	AddActiveJobs(ctx context.Context, account string, more int) error
	// UnfinishedRuns describes the unfinished runs of jobs, by UID.
	UnfinishedRuns(ctx context.Context, jobs []jobs.Origin) (map[string]jobs.Unfinished, error)
	// ReplaceHeld cancels held runs that newer instants replace.
	ReplaceHeld(ctx context.Context, runs []string) (int, error)
	// ReleaseLater makes attempts claimable when their time has come. ReleaseHeld makes runs claimable that
	// waited for earlier runs.
	ReleaseLater(ctx context.Context, limit int) (int, error)
	ReleaseHeld(ctx context.Context, limit int) (int, error)
	// MarkLate checks jobs that may be late, after those of the batch before, or only those of the account that the
	// transaction has locked.
	MarkLate(ctx context.Context, before LateBatch, limit int) (LateBatch, error)
	// LockActiveJobs locks the numbers of enabled jobs of accounts, and returns the accounts whose number another
	// transaction has locked.
	LockActiveJobs(ctx context.Context, accounts []string) (busy []string, err error)
}

// LateBatch is a batch of jobs that were checked for lateness.
type LateBatch struct {
	Jobs    int
	LastAt  time.Time // when the check of the last one was due
	LastUID string
	Busy    []string // accounts that another transaction has locked: their jobs that are late are checked again
}

// Scheduler fires jobs on one node.
type Scheduler struct {
	Store Store
	Log   *slog.Logger
	// Backlog bounds the pending runs of an account.
	Backlog *jobs.Backlog
	// Queued is called after runs were inserted.
	Queued func()
	// Fired is called for each job with how late it fired.
	Fired func(lag time.Duration)
	// Skipped is called with how many instants were skipped.
	Skipped func(instants int)
	// Ticked is called after each successful check for due jobs.
	Ticked func(at time.Time)
	// Paused reports whether this node must fire nothing, because its clock is wrong. nil means never.
	Paused background.Pause
	// Batch is how many jobs fire in one transaction; zero means 1000.
	Batch int

	wake      background.Bell
	busy      chan string // accounts with late jobs
	loop      background.Loop
	lastCheck time.Time
	review    review
	work      work // the due tasks other than firing, from the last check
	zones     jobs.Zones
	told      map[string]time.Time // when a skip was logged, by account
}

// Start begins to fire jobs.
func (s *Scheduler) Start(ctx context.Context) {
	s.wake = background.NewBell()
	s.Batch = cmp.Or(s.Batch, defaultBatch)
	s.told = map[string]time.Time{}
	s.busy = make(chan string)
	s.loop.Start(ctx, s.markBusy, func(ctx context.Context) {
		background.Repeat(ctx, s.wake, s.fireDue, func(err error) {
			s.Log.Warn("Firing due jobs failed; retrying every second. Jobs fire late, and only once for several missed instants.", "error", err)
		})
	})
}

// Stop ends the scheduler and waits for it.
func (s *Scheduler) Stop() { s.loop.Stop() }

// Wake makes the scheduler check for due jobs now. It never blocks.
func (s *Scheduler) Wake() { s.wake.Ring() }

// fireDue fires all jobs that are due, finishes an active review, and returns
// how long to sleep.
func (s *Scheduler) fireDue(ctx context.Context) (time.Duration, error) {
	for {
		if s.Paused.IsOn() {
			s.review = review{} // jobs that are written by a wrong clock have to be reviewed
			return maxSleep, nil
		}
		sleep, err := s.untilDue(ctx)
		if err == nil {
			err = s.attend(ctx)
		}
		reviewing := err == nil && s.review.active
		if reviewing {
			err = s.reviewBatch(ctx)
		}
		switch {
		case err != nil:
			return maxSleep, err
		case sleep > 0 && reviewing:
			continue // a corrected job may be due
		case sleep > 0:
			return sleep, nil
		}
		fired, err := s.fire(ctx)
		if err != nil {
			return maxSleep, err
		}
		if fired == 0 { // another node is firing the due jobs
			return maxSleep / 10, nil
		}
	}
}

// untilDue returns, without writing, how long it is until a job is due.
func (s *Scheduler) untilDue(ctx context.Context) (sleep time.Duration, err error) {
	err = s.Store.Read(ctx, func(ctx context.Context, tx ReadTx) error {
		agenda, err := tx.Agenda(ctx)
		if err != nil {
			return err
		}
		sleep, s.work = agenda.plan(tx.Now())
		s.Ticked(tx.Now())
		s.startReview(tx.Now())
		return nil
	})
	return sleep, err
}

// fire inserts the runs of one batch of due jobs and returns their number.
func (s *Scheduler) fire(ctx context.Context) (int, error) {
	b, err := s.fireCounted(ctx)
	if err != nil || b.size() == 0 {
		return 0, err
	}
	for _, firing := range b.fired {
		s.Fired(b.at.Sub(firing.ScheduledFor))
	}
	s.tellSkipped(b)
	s.Queued()
	return b.size(), nil
}
