package demo

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/url"
	"path"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
)

// kept is how long the server keeps runs; older runs are not created.
const kept = 30 * day

// fireUntil creates the runs that are due before a time.
func (h *history) fireUntil(ctx context.Context, until time.Time) error {
	oldest := h.now.Add(-kept)
	for oldest.Before(until) {
		var agenda scheduler.Agenda
		if err := h.db.Read(ctx, func(ctx context.Context, tx *store.ReadTx) (err error) {
			agenda, err = tx.Agenda(ctx)
			return err
		}); err != nil {
			return err
		}
		next := agenda.Fire
		if next == nil || !next.Before(until) {
			return nil
		}
		if next.Before(oldest) {
			next = &oldest // a job catches up only on the latest time that it missed
		}
		h.clock.set(next.Add(h.millis(10, 30)))
		if err := h.fire(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fire creates the runs of jobs that are due now, in the steps of the scheduler and the worker: queue, claim, finish.
func (h *history) fire(ctx context.Context) error {
	const lease, many = "demo", 100
	var ended []worker.Outcome
	if err := h.db.Write(ctx, "", func(ctx context.Context, tx *store.Tx) error {
		due, err := tx.DueJobs(ctx, tx.Now(), many)
		if err != nil {
			return err
		}
		for _, each := range due {
			firing := each.Fire(tx.Now(), nil)
			run := firing.Run(tx.Now().Add(-h.millis(2, 10)))
			run.ID = idAt(run.CreatedAt)
			if err := tx.InsertRuns(ctx, []jobs.Run{run}); err != nil {
				return err
			}
			if _, err := tx.ClaimRuns(ctx, run.Lane, lease, 1); err != nil {
				return err
			}
			if err := tx.AdvanceJobs(ctx, []jobs.Firing{firing}); err != nil {
				return err
			}
			job, err := tx.Job(ctx, run.Account, run.JobKey)
			if err != nil {
				return err
			}
			ended = append(ended, h.outcome(run.ID, job, tx.Now()))
		}
		return tx.MeterRuns(ctx, h.account, jobs.Period(tx.Now()), len(due))
	}); err != nil {
		return err
	}
	_, err := h.db.Worker().FinishBusy(ctx, h.account, lease, ended)
	return err
}

// millis returns a random duration from from (inclusive) to to (exclusive) milliseconds.
func (h *history) millis(from, to int) time.Duration {
	return time.Duration(from+h.chance.IntN(to-from)) * time.Millisecond
}

// idAt returns an id for a run at a time. Ids of runs sort by time.
func idAt(at time.Time) string {
	id := uuid.Must(uuid.NewV7())
	var millis [8]byte
	binary.BigEndian.PutUint64(millis[:], uint64(at.UnixMilli()))
	copy(id[:6], millis[2:])
	return id.String()
}

// outcome returns the result that the receiver would have given to a run that started at this time.
func (h *history) outcome(run string, job jobs.Job, started time.Time) worker.Outcome {
	target, _ := url.Parse(job.Configuration.Plain().URL) // the server has checked the URL
	b := behaviors()[path.Base(target.Path)]
	took := b.takes(h.chance.Float64())
	status, body := b.answers(h.chance.Float64(), age(h.now.Sub(started)))
	millis := float64(took.Microseconds()) / 1000
	made := worker.Outcome{Run: run, Status: jobs.Succeeded, FinishedAt: started.Add(took), Result: &jobs.Result{
		Status: status, Headers: map[string]string{"content-type": "application/json"}, Body: body, BodyBytes: int64(len(body)),
		Timings: &jobs.Timings{DNS: 0.4, Connect: 0.9, FirstByte: millis - 0.3, Total: millis},
	}}
	if !job.Configuration.Succeeds(status) {
		made.Status, made.Reason = jobs.Failed, new(jobs.NonSuccessStatus)
		made.Error = new(fmt.Sprintf("The response's status %d is not the wanted %s.", status, job.Configuration.Plain().SuccessStatus))
	}
	return made
}
