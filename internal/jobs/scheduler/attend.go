package scheduler

import (
	"context"
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
// known.
func (s *Scheduler) attend(ctx context.Context) error {
	if s.Paused.IsOn() {
		return nil
	}
	if s.work.late {
		if err := s.untilNone(ctx, Tx.MarkLate); err != nil {
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

// untilNone repeats a step until it has nothing more to do. A step that does less than a batch is the last.
func (s *Scheduler) untilNone(ctx context.Context, step func(Tx, context.Context, int) (int, error)) error {
	for {
		if count, err := s.once(ctx, step); err != nil || count < s.Batch {
			return err
		}
	}
}

func (s *Scheduler) once(ctx context.Context, step func(Tx, context.Context, int) (int, error)) (count int, err error) {
	err = s.Store.Write(ctx, "", func(ctx context.Context, tx Tx) (err error) {
		if s.Paused.IsOn() { // checked after the time was read
			count = 0
			return nil
		}
		count, err = step(tx, ctx, s.Batch)
		return err
	})
	return count, err
}
