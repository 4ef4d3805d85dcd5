package demo

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/cron"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

// maxRuns is how many runs of a job are made up, the newest.
const maxRuns = 90

// makeRuns makes up a month of runs of every job, as if a worker had made the requests.
func (d *demo) makeRuns(ctx context.Context, db *store.DB, now time.Time) error {
	var list page.List[jobs.Job]
	if err := db.Read(ctx, func(tx *store.ReadTx) (err error) {
		list, err = tx.Jobs(ctx, d.account, jobs.Filter{}, page.Request{Number: 1, Size: page.MaxSize})
		return err
	}); err != nil {
		return err
	}
	chance := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // the same demo every time
	for _, job := range list.Items {
		instants, err := firedAt(job, now)
		if err != nil {
			return err
		}
		for _, instant := range instants {
			if err := d.makeRun(ctx, db, job, instant, chance); err != nil {
				return fmt.Errorf("a run of %s: %w", job.Key, err)
			}
		}
	}
	d.clock.set(now)
	return nil
}

// firedAt returns when a job would have fired in the last month.
func firedAt(job jobs.Job, now time.Time) (instants []time.Time, err error) {
	schedule, err := cron.Parse(job.Schedule)
	if err != nil {
		return nil, err
	}
	for next, ok := schedule.Next(now.Add(-month)); ok && next.Before(now.Add(-time.Minute)); next, ok = schedule.Next(next) {
		instants = append(instants, next)
	}
	return instants[max(0, len(instants)-maxRuns):], nil
}

// makeRun makes up one run, in the steps that a real one takes: queued, claimed, finished.
func (d *demo) makeRun(ctx context.Context, db *store.DB, job jobs.Job, due time.Time, chance *rand.Rand) error {
	const lease = "demo"
	queued := due.Add(time.Duration(chance.IntN(8)+1) * time.Millisecond)
	run := jobs.Run{ID: idAt(queued), Account: job.Account, JobUID: job.UID, JobKey: job.Key, Lane: job.Lane(), Trigger: jobs.OnSchedule,
		ScheduledFor: &due, Status: jobs.Pending, CreatedAt: queued}
	started := queued.Add(time.Duration(chance.IntN(15)+2) * time.Millisecond)
	d.clock.set(started)
	if err := db.Write(ctx, "", func(tx *store.Tx) error {
		if err := tx.InsertRuns(ctx, []jobs.Run{run}); err != nil {
			return err
		}
		_, err := tx.ClaimRuns(ctx, run.Lane, lease, 1)
		return err
	}); err != nil {
		return err
	}
	_, err := db.Worker().FinishRuns(ctx, lease, []worker.Outcome{outcome(run.ID, job, started, chance)})
	return err
}

// idAt returns an id of an instant: ids of runs grow with time.
func idAt(at time.Time) string {
	id := uuid.Must(uuid.NewV7())
	var millis [8]byte
	binary.BigEndian.PutUint64(millis[:], uint64(at.UnixMilli()))
	copy(id[:6], millis[2:])
	return id.String()
}

// outcome is what the receiver would have answered.
func outcome(run string, job jobs.Job, started time.Time, chance *rand.Rand) worker.Outcome {
	target, _ := url.Parse(job.Configuration.Plain().URL) // the server has checked it
	b := behaviours()[path.Base(target.Path)]
	took := b.takes(chance.Float64())
	status, body := b.answers(chance.Float64())
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
