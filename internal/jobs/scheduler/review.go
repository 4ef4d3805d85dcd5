package scheduler

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
)

// notice asks for a review when the last is long ago, or when the clock went
// back: jobs that fired while it was ahead would sleep until it is there again.
func (s *Scheduler) notice(now time.Time) {
	if now.Before(s.seen.Add(-time.Second)) || now.Sub(s.reviewed) >= reviewEvery {
		s.reviewed = time.Time{}
	}
	s.seen = now
}

// review looks at all jobs that are not due and wakes those that would sleep
// longer than their schedule says.
func (s *Scheduler) review(ctx context.Context) error {
	for after := ""; ; {
		var found []jobs.Due
		var now time.Time
		err := s.Store.Read(ctx, func(tx ReadTx) (err error) {
			now = tx.Now()
			found, err = tx.Upcoming(ctx, now, after, batch)
			return err
		})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			s.reviewed = now
			return nil
		}
		after = found[len(found)-1].UID
		if err := s.pullForward(ctx, found, now); err != nil {
			return err
		}
	}
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
