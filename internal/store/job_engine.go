package store

import (
	"context"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/jobs/worker"
)

// Scheduler is the store as package scheduler asks for it.
func (db *DB) Scheduler() Transactions[scheduler.ReadTx, scheduler.Tx] {
	return NewTransactions(db,
		func(tx *ReadTx) scheduler.ReadTx { return tx },
		func(tx *Tx) scheduler.Tx { return tx }).ForLoops()
}

// WorkerStore is the store as package worker asks for it.
type WorkerStore struct {
	Transactions[worker.ReadTx, worker.Tx]
}

// Worker is the store of a worker.
func (db *DB) Worker() WorkerStore {
	return WorkerStore{NewTransactions(db,
		func(tx *ReadTx) worker.ReadTx { return tx },
		func(tx *Tx) worker.Tx { return tx }).ForLoops()}
}

// NextDue gives the earliest instant that any job fires for; nil for none.
func (tx *ReadTx) NextDue(ctx context.Context) (*time.Time, error) {
	return scalar(ctx, tx.conn, scanInstantOrNil, `SELECT min(next_run_at) FROM jobs WHERE next_run_at IS NOT NULL`)
}

func scanInstantOrNil(r row) (*time.Time, error) {
	var at *int64
	err := r.Scan(&at)
	return instantOrNil(at), err
}

// DueJobs takes jobs that are due at an instant, oldest first, leaving those
// that another transaction has taken.
func (tx *Tx) DueJobs(ctx context.Context, at time.Time, limit int) ([]jobs.Due, error) {
	return all(ctx, tx.conn, scanDue, `SELECT account_id, uid, key, lane, schedule, next_run_at FROM jobs
		WHERE next_run_at IS NOT NULL AND next_run_at <= $1 ORDER BY next_run_at LIMIT $2`+tx.dialect.skipChanging, micros(at), limit)
}

func scanDue(r row) (due jobs.Due, err error) {
	var at int64
	err = r.Scan(&due.Account, &due.UID, &due.Key, &due.Lane, &due.Schedule, &at)
	due.ScheduledAt = instant(at)
	return due, err
}

// AdvanceJobs stores when jobs fire next; those that do not are disabled.
func (tx *Tx) AdvanceJobs(ctx context.Context, firings []jobs.Firing) error {
	rows := make([][]any, len(firings))
	for i, firing := range firings {
		rows[i] = []any{firing.UID, microsOrNull(firing.Next), firing.Next != nil}
	}
	_, err := updates(ctx, tx, `UPDATE jobs SET next_run_at = v.column2, enabled = v.column3`, `WHERE jobs.uid = v.column1 RETURNING jobs.uid`,
		[]string{"text", "bigint", "boolean"}, rows)
	return err
}

// Upcoming gives jobs that fire later than an instant, in the order of their
// UIDs, after one.
func (tx *ReadTx) Upcoming(ctx context.Context, at time.Time, after string, limit int) ([]jobs.Due, error) {
	return all(ctx, tx.conn, scanDue, `SELECT account_id, uid, key, lane, schedule, next_run_at FROM jobs
		WHERE uid > $2 AND next_run_at > $1 ORDER BY uid LIMIT $3`, micros(at), after, limit)
}

// PullForward stores that jobs fire sooner, unless something else was stored
// meanwhile.
func (tx *Tx) PullForward(ctx context.Context, sooner []jobs.Sooner) error {
	rows := make([][]any, len(sooner))
	for i, job := range sooner {
		rows[i] = []any{job.UID, micros(job.ScheduledAt), micros(job.Next)}
	}
	_, err := updates(ctx, tx, `UPDATE jobs SET next_run_at = v.column3`, `WHERE jobs.uid = v.column1 AND jobs.next_run_at = v.column2 RETURNING jobs.uid`,
		[]string{"text", "bigint", "bigint"}, rows)
	return err
}

// PendingAccounts gives the accounts after one that have pending runs. It
// jumps from account to account in the index: a long queue costs no more than
// a short one.
func (tx *Tx) PendingAccounts(ctx context.Context, after string, limit int) ([]string, error) {
	lanes, err := all(ctx, tx.conn, scanString, `WITH RECURSIVE heads (lane, place) AS (
			SELECT (SELECT lane FROM runs WHERE status = 'PENDING' AND lane > $1 ORDER BY lane LIMIT 1), 1
			UNION ALL
			SELECT (SELECT lane FROM runs WHERE status = 'PENDING' AND lane > substr(heads.lane, 1, 36) || ';' ORDER BY lane LIMIT 1), place + 1
			FROM heads WHERE heads.lane IS NOT NULL AND place < $2)
		SELECT lane FROM heads WHERE lane IS NOT NULL`, afterAccount(after), limit)
	for i, lane := range lanes {
		lanes[i], _, _ = strings.Cut(lane, ":")
	}
	return lanes, err
}

// afterAccount sorts after all lanes of an account: ; follows the colon.
func afterAccount(account string) string {
	if account == "" {
		return ""
	}
	return account + ";"
}

// PendingLanes gives the lanes of an account, after one, that have pending runs.
func (tx *Tx) PendingLanes(ctx context.Context, account, after string, limit int) ([]string, error) {
	return all(ctx, tx.conn, scanString, `WITH RECURSIVE heads (lane, place) AS (
			SELECT (SELECT lane FROM runs WHERE status = 'PENDING' AND lane > $1 AND lane < $2 ORDER BY lane LIMIT 1), 1
			UNION ALL
			SELECT (SELECT lane FROM runs WHERE status = 'PENDING' AND lane > heads.lane AND lane < $2 ORDER BY lane LIMIT 1), place + 1
			FROM heads WHERE heads.lane IS NOT NULL AND place < $3)
		SELECT lane FROM heads WHERE lane IS NOT NULL`, max(account+":", after), afterAccount(account), limit)
}

// ClaimRuns makes the oldest pending runs of a lane a worker's own.
func (tx *Tx) ClaimRuns(ctx context.Context, lane, lease string, limit int) ([]worker.Claim, error) {
	return all(ctx, tx.conn, scanClaim, `UPDATE runs SET status = 'RUNNING', lease = $3, started_at = `+notBeforeQueued("$4")+`, job_version = jobs.version, request_id = jobs.request_id
		FROM jobs WHERE jobs.uid = runs.job_uid AND runs.id `+tx.nextOfLane()+`
		RETURNING runs.id, runs.account_id, runs.lane, runs.job_key, runs.request_id`, lane, limit, lease, micros(tx.now))
}

// nextOfLane is a condition on the ids of runs: the oldest $2 of the lane $1
// that wait. PostgreSQL would rather walk through all runs by id when its
// statistics are of a time when most were pending; an order that begins with
// the lane leaves it one index.
func (tx *Tx) nextOfLane() string {
	return tx.dialect.oneOf(`SELECT id FROM runs WHERE status = 'PENDING' AND lane >= $1 AND lane <= $1 ORDER BY lane, id LIMIT $2` + tx.dialect.skipLocked)
}

func scanClaim(r row) (claim worker.Claim, err error) {
	err = r.Scan(&claim.Run, &claim.Account, &claim.Lane, &claim.Job, &claim.Request)
	return claim, err
}

// RefuseRuns fails the oldest pending runs of a lane because the account has
// used what its plan includes, and counts them.
func (tx *Tx) RefuseRuns(ctx context.Context, lane, detail string, limit int) (int, error) {
	return tx.affect(ctx, `UPDATE runs SET status = 'FAILED', failure_reason = 'QUOTA_EXCEEDED', error = $3, finished_at = `+notBeforeQueued("$4")+`
		WHERE id `+tx.nextOfLane(), lane, limit, detail, micros(tx.now))
}

// Configurations gives what jobs send, by the ids that claims have. One that
// cannot be unsealed is left out: it must not keep other jobs from running.
func (tx *ReadTx) Configurations(ctx context.Context, ids []string) (map[string]jobs.Configuration, error) {
	found := make(map[string]jobs.Configuration, len(ids))
	_, err := among(ctx, tx, func(r row) (string, error) {
		var id string
		var hidden []byte
		if err := r.Scan(&id, &hidden); err != nil {
			return id, err
		}
		if configuration, err := tx.unsealConfiguration(id, hidden); err == nil {
			found[id] = configuration
		}
		return id, nil
	}, `SELECT id, sealed FROM job_requests WHERE $1 = '' AND id `, "", ids)
	return found, err
}

// FinishRuns stores what came of runs that a worker still owns, and gives
// their ids. Those that were cancelled or given up meanwhile stay as they are.
// Packing takes longer than writing, so it is done before the transaction.
func (s WorkerStore) FinishRuns(ctx context.Context, lease string, outcomes []worker.Outcome) (owned []string, err error) {
	packed, err := packOutcomes(lease, outcomes)
	if err != nil {
		return nil, err
	}
	err = s.db.write(ctx, writeOptions{priority: s.priority}, func(tx *Tx) error {
		owned, err = tx.finishRuns(ctx, packed)
		return err
	})
	return owned, err
}

// packedOutcomes are outcomes as their tables have them.
type packedOutcomes struct {
	runs   [][]any
	bodies map[string][]any // by run; only those that are not small
}

func packOutcomes(lease string, outcomes []worker.Outcome) (packedOutcomes, error) {
	packed := packedOutcomes{runs: make([][]any, len(outcomes)), bodies: map[string][]any{}}
	for i, outcome := range outcomes {
		result, err := packed.result(outcome)
		if err != nil {
			return packed, err
		}
		packed.runs[i] = []any{outcome.Run, string(outcome.Status), outcome.Reason, outcome.Error, result, micros(outcome.FinishedAt), lease}
	}
	return packed, nil
}

// result is the JSON of a result; a body that is not small is put aside.
func (p packedOutcomes) result(outcome worker.Outcome) (*string, error) {
	if outcome.Result == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	result := *outcome.Result
	if len(result.Body) > smallBody {
		encoding, stored := compact(result.Body)
		p.bodies[outcome.Run], result.Body = []any{outcome.Run, encoding, stored}, ""
	}
	text, err := encode(result)
	return &text, err
}

func (tx *Tx) finishRuns(ctx context.Context, packed packedOutcomes) ([]string, error) {
	owned, err := updates(ctx, tx, `UPDATE runs SET status = v.column2, failure_reason = v.column3, error = v.column4, result = v.column5,
		finished_at = v.column6`, `WHERE runs.id = v.column1 AND runs.status = 'RUNNING' AND runs.lease = v.column7 RETURNING runs.id`,
		[]string{"text", "text", "text", "text", "text", "bigint", "text"}, packed.runs)
	if err != nil {
		return nil, err
	}
	var bodies [][]any
	for _, run := range owned {
		if body, large := packed.bodies[run]; large {
			bodies = append(bodies, body)
		}
	}
	return owned, inserts(ctx, tx, `INSERT INTO run_bodies (run_id, encoding, body) VALUES`, ``, bodies)
}

// Beat tells that a node lives. A node that was given up and comes back does
// not begin with a number that it had: others may still remember it.
func (tx *Tx) Beat(ctx context.Context, boot, node string) error {
	return tx.run(ctx, `INSERT INTO worker_nodes (boot, node, beat) VALUES ($1, $2, $3)
		ON CONFLICT (boot) DO UPDATE SET beat = worker_nodes.beat + 1`, boot, node, micros(tx.now))
}

// Lives tells whether a node has not been given up. Until the transaction
// ends, it is not.
func (tx *Tx) Lives(ctx context.Context, boot string) (bool, error) {
	found, err := all(ctx, tx.conn, scanString, `SELECT boot FROM worker_nodes WHERE boot = $1`+tx.dialect.forKeyShare, boot)
	return len(found) > 0, err
}

// Settled tells that a node lives and that no other transaction has asked so
// and is under way.
func (tx *Tx) Settled(ctx context.Context, boot string) (bool, error) {
	found, err := all(ctx, tx.conn, scanString, `SELECT boot FROM worker_nodes WHERE boot = $1`+tx.dialect.skipLocked, boot)
	return len(found) > 0, err
}

// Nodes gives every node that has not been given up, with its last beat.
func (tx *ReadTx) Nodes(ctx context.Context) ([]worker.Node, error) {
	return all(ctx, tx.conn, func(r row) (node worker.Node, err error) {
		err = r.Scan(&node.Boot, &node.Name, &node.Beat)
		return node, err
	}, `SELECT boot, node, beat FROM worker_nodes`)
}

// GiveUp removes a node unless it has beaten since, and tells whether it did.
func (tx *Tx) GiveUp(ctx context.Context, node worker.Node) (bool, error) {
	gone, err := all(ctx, tx.conn, scanString, `DELETE FROM worker_nodes WHERE boot = $1 AND beat = $2 RETURNING boot`, node.Boot, node.Beat)
	return len(gone) > 0, err
}

// LoseRuns fails the running runs of a worker that is gone.
func (tx *Tx) LoseRuns(ctx context.Context, lease, detail string) (int, error) {
	return tx.affect(ctx, `UPDATE runs SET status = 'FAILED', failure_reason = 'WORKER_LOST', error = $2, finished_at = $3
		WHERE status = 'RUNNING' AND lease = $1`, lease, detail, micros(tx.now))
}

// Owned gives the running runs of a worker.
func (tx *ReadTx) Owned(ctx context.Context, lease string) ([]string, error) {
	return all(ctx, tx.conn, scanString, `SELECT id FROM runs WHERE lease = $1 AND status = 'RUNNING'`, lease)
}

// CountPending counts the runs that wait, up to a limit.
func (tx *ReadTx) CountPending(ctx context.Context, limit int) (int, error) {
	return scalar(ctx, tx.conn, scanInt,
		`SELECT count(*) FROM (SELECT 1 FROM runs WHERE status = 'PENDING' LIMIT $1) AS waiting`, limit)
}
