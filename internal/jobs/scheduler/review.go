package scheduler

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
)

// review is a pass over all jobs that are not due. It works in batches, so that
// jobs that become due meanwhile do not wait for its end.
type review struct {
	active   bool
	after    string    // the UID of the last job checked
	finished time.Time // when the last review ended
}

// startReview starts a review if the last one was long ago, if the clock was wrong, or if it went
// back: jobs that fired or were written while the clock was ahead have a late next run.
func (s *Scheduler) startReview(now time.Time) {
	wentBack := now.Before(s.lastCheck.Add(-time.Second))
	if wentBack || !s.review.active && now.Sub(s.review.finished) >= reviewInterval {
		s.review = review{active: true}
	}
	s.lastCheck = now
}

// reviewBatch corrects jobs of the next batch that would fire later than their schedules say.
func (s *Scheduler) reviewBatch(ctx context.Context) error {
	var found []jobs.Due
	var now time.Time
	err := s.Store.Read(ctx, func(ctx context.Context, tx ReadTx) (err error) {
		now = tx.Now()
		found, err = tx.Upcoming(ctx, now, s.review.after, s.Batch)
		return err
	})
	if err != nil || s.Paused.IsOn() {
		return err
	}
	if err := s.pullForward(ctx, found, now); err != nil {
		return err
	}
	if len(found) < s.Batch {
		s.review = review{finished: now}
		return nil
	}
	s.review.after = found[len(found)-1].UID
	return nil
}

func (s *Scheduler) pullForward(ctx context.Context, found []jobs.Due, now time.Time) error {
	var sooner []jobs.Sooner
	for _, job := range found {
		if next := job.Earlier(now, &s.zones); next != nil {
			sooner = append(sooner, jobs.Sooner{Due: job, Next: *next})
		}
	}
	if len(sooner) == 0 {
		return nil
	}
	s.Log.Warn("Jobs were scheduled later than their schedules say, as after a clock went ahead and came back; their next runs are corrected.",
		"jobs", len(sooner))
	return s.Store.Write(ctx, "", func(ctx context.Context, tx Tx) error { return tx.PullForward(ctx, sooner) })
}
