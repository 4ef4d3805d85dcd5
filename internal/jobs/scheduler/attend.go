package scheduler

import (
	"context"
	"math/rand/v2"
	"time"
)

// work has the due tasks of a Scheduler, apart from firing jobs.
type work struct{ late, release, held bool }

// plan returns the due tasks, and how long to sleep after them.
func (a Agenda) plan(now time.Time) (sleep time.Duration, due work) {
	isDue := func(at *time.Time) bool { return at != nil && !at.After(now) }
	due = work{late: isDue(a.Late), release: isDue(a.Release), held: a.Held}
	sleep = maxSleep
	if a.Fire != nil {
		sleep = min(sleep, a.Fire.Sub(now))
	}
	for _, at := range []*time.Time{a.Release, a.Late} {
		if at != nil && at.After(now) {
			sleep = min(sleep, at.Sub(now))
		}
	}
	return sleep, due
}

// attend marks jobs late and releases waiting runs. It marks first: once a job has fired, its missed time is no longer
// known, so jobs that are still to be marked do not fire.
func (s *Scheduler) attend(ctx context.Context) error {
	if s.Paused.IsOn() {
		return nil
	}
	if s.work.late {
		if err := s.markLate(ctx); err != nil {
			return err
		}
	}
	released := false
	for _, each := range []struct {
		due     bool
		release func(Tx, context.Context, int) (int, error)
	}{{s.work.release, Tx.ReleaseLater}, {s.work.held, Tx.ReleaseHeld}} {
		if !each.due {
			continue
		}
		count, err := s.once(ctx, each.release)
		if err != nil {
			return err
		}
		released = released || count > 0
	}
	if released {
		s.Queued()
	}
	return nil
}

// markLate checks all jobs that may be late. It waits for no account, but lets markBusy wait for one.
func (s *Scheduler) markLate(ctx context.Context) error {
	for checked := (LateBatch{}); ; {
		var err error
		if checked, err = s.markBatch(ctx, "", checked); err != nil {
			return err
		}
		if len(checked.Busy) > 0 {
			select {
			case s.busy <- checked.Busy[rand.IntN(len(checked.Busy))]: //nolint:gosec // any of them
			default: // it is waiting for another one
			}
		}
		if checked.Jobs < s.Batch {
			return nil
		}
	}
}

func (s *Scheduler) markBatch(ctx context.Context, account string, before LateBatch) (checked LateBatch, err error) {
	err = s.write(ctx, account, func(ctx context.Context, tx Tx) (err error) {
		checked, err = tx.MarkLate(ctx, before, s.Batch)
		return err
	})
	return checked, err
}

// markBusy checks the jobs of busy accounts, and waits for each of these accounts while the scheduler goes on.
func (s *Scheduler) markBusy(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case account := <-s.busy:
			if _, err := s.markBatch(ctx, account, LateBatch{}); err != nil && ctx.Err() == nil {
				s.Log.Warn("Marking the late jobs of an account failed; retrying. They do not fire before.", "account", account, "error", err)
			}
			s.Wake()
		}
	}
}

func (s *Scheduler) once(ctx context.Context, step func(Tx, context.Context, int) (int, error)) (count int, err error) {
	err = s.write(ctx, "", func(ctx context.Context, tx Tx) (err error) {
		count, err = step(tx, ctx, s.Batch)
		return err
	})
	return count, err
}

// write runs a step in a transaction, unless the clock is wrong.
func (s *Scheduler) write(ctx context.Context, account string, step func(context.Context, Tx) error) error {
	return s.Store.Write(ctx, account, func(ctx context.Context, tx Tx) error {
		if s.Paused.IsOn() { // checked after the time was read
			return nil
		}
		return step(ctx, tx)
	})
}
