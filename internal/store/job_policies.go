package store

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
)

// storedPolicies are the policies of a job as JSON; nil for none.
type storedPolicies struct{ retry, alerts *string }

func writePolicies(job jobs.Job) (stored storedPolicies, err error) {
	if job.Retry != nil {
		if stored.retry, err = encodePointer(job.Retry); err != nil {
			return stored, err
		}
	}
	if job.Alerts != nil {
		stored.alerts, err = encodePointer(job.Alerts)
	}
	return stored, err
}

func encodePointer(value any) (*string, error) {
	text, err := encode(value)
	return &text, err
}

func (s storedPolicies) read(retry **jobs.Retry, alerts **jobs.Alerts) error {
	if s.retry != nil {
		if err := decode(*s.retry, retry); err != nil {
			return err
		}
	}
	if s.alerts != nil {
		return decode(*s.alerts, alerts)
	}
	return nil
}

// intoHealth returns the destinations for scanning healthColumns.
func intoHealth(health *jobs.Health) []any {
	return []any{&health.State, asTime(&health.Since), &health.Failures, &health.Successes, asTimeOrNull(&health.LastSuccessAt), asTimeOrNull(&health.LateFor)}
}

// CancelAttempts cancels the pending further attempts of a job and returns their number.
func (tx *Tx) CancelAttempts(ctx context.Context, job jobs.Job, at time.Time) (int, error) {
	ended, _, err := tx.end(ctx, canceled("$3", "$2", `run_queue.job_uid = $1 AND run_queue.status = 'PENDING' AND run_queue.attempt > 1`),
		job.UID, micros(at), "The job was changed, so the failed run before this one is not attempted again.")
	return len(ended), err
}

// LockJob prevents others from queueing and releasing runs of a job until the transaction ends.
func (tx *Tx) LockJob(ctx context.Context, uid string) error {
	_, err := all(ctx, tx.conn, scanString, `SELECT uid FROM jobs WHERE uid = $1`+tx.dialect.forNoKeyUpdate, uid)
	return err
}

// UnfinishedRuns counts the unfinished runs of jobs.
func (tx *ReadTx) UnfinishedRuns(ctx context.Context, origins []jobs.Origin) (map[string]jobs.Unfinished, error) {
	found, uids := map[string]jobs.Unfinished{}, make([]string, len(origins))
	for i, origin := range origins {
		uids[i] = origin.UID
	}
	_, err := among(ctx, tx, func(r row) (uid string, err error) {
		var id, lane string
		err = r.Scan(&uid, &id, &lane)
		unfinished := found[uid]
		if lane == jobs.HeldLane {
			unfinished.Held = id
		} else {
			unfinished.Others++
		}
		found[uid] = unfinished
		return uid, err
	}, `SELECT job_uid, id, CASE WHEN status = 'PENDING' THEN lane ELSE '' END FROM run_queue WHERE $1 = '' AND job_uid `, "", uids)
	return found, err
}

// SkippedInstants returns how many due times of a job made no run, by day, from a day on.
func (tx *ReadTx) SkippedInstants(ctx context.Context, job jobs.Job, from time.Time) (map[string]int, error) {
	return mapOf[string, int](ctx, tx.conn, `SELECT day, skipped FROM job_skips WHERE job_uid = $1 AND day >= $2`, job.UID, from.UTC().Format(time.DateOnly))
}
