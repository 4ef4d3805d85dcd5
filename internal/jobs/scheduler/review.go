package scheduler

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
)

// review is a walk over all jobs that are not due, a batch at a time: jobs that
// become due meanwhile do not wait for its end.
type review struct {
	underWay bool
	after    string    // the UID of the last job it looked at
	finished time.Time // when the last one was
}

// notice begins a review when the last is long ago, or when the clock went
// back: jobs that fired while it was ahead would sleep until it is there again.
func (s *Scheduler) notice(now time.Time) {
	wentBack := now.Before(s.seen.Add(-time.Second))
	if wentBack || !s.review.underWay && now.Sub(s.review.finished) >= reviewEvery {
		s.review = review{underWay: true}
	}
	s.seen = now
}

// reviewBatch looks at the next jobs and wakes those that would sleep longer
// than their schedule says.
func (s *Scheduler) reviewBatch(ctx context.Context) error {
	var found []jobs.Due
	var now time.Time
	err := s.Store.Read(ctx, func(tx ReadTx) (err error) {
		now = tx.Now()
		found, err = tx.Upcoming(ctx, now, s.review.after, batch)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.pullForward(ctx, found, now); err != nil {
		return err
	}
	if len(found) < batch {
		s.review = review{finished: now}
		return nil
	}
	s.review.after = found[batch-1].UID
	return nil
}

func (s *Scheduler) pullForward(ctx context.Context, found []jobs.Due, now time.Time) error {
	var sooner []jobs.Sooner
	for _, job := range found {
		if next := job.Earlier(now); next != nil {
			sooner = append(sooner, jobs.Sooner{Due: job, Next: *next})
		}
	}
	if len(sooner) == 0 {
		return nil
	}
	s.Log.Warn("Jobs would have slept longer than their schedules say, as after a clock that went ahead and came back; they are woken in time.", "jobs", len(sooner))
	return s.Store.Write(ctx, "", func(tx Tx) error { return tx.PullForward(ctx, sooner) })
}
