package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Scheduler returns the transactions of package scheduler.
func (db *DB) Scheduler() Transactions[scheduler.ReadTx, scheduler.Tx] {
	return NewTransactions(db, func(tx *ReadTx) scheduler.ReadTx { return tx }, func(tx *Tx) scheduler.Tx { return tx }).ForLoops()
}

// WorkerStore is the store of a worker: its transactions and FinishRuns.
type WorkerStore struct {
	Transactions[worker.ReadTx, worker.Tx]
}

// Worker returns the store of a worker.
func (db *DB) Worker() WorkerStore {
	return WorkerStore{NewTransactions(db, func(tx *ReadTx) worker.ReadTx { return tx }, func(tx *Tx) worker.Tx { return tx }).ForLoops()}
}

// Agenda returns when the scheduler has to act next, read with one statement.
func (tx *ReadTx) Agenda(ctx context.Context) (scheduler.Agenda, error) {
	return scalar(ctx, tx.conn, func(r row) (agenda scheduler.Agenda, err error) {
		err = r.Scan(asTimeOrNull(&agenda.Fire), asTimeOrNull(&agenda.Release), asTimeOrNull(&agenda.Late), &agenda.Held)
		return agenda, err
	}, `SELECT (SELECT min(next_run_at) FROM job_due),
		(SELECT min(not_before) FROM run_queue WHERE status = 'PENDING' AND lane = '`+jobs.LaterLane+`'),
		(SELECT min(late_at) FROM jobs WHERE late_at IS NOT NULL),
		EXISTS (SELECT 1 FROM run_queue WHERE status = 'PENDING' AND lane = '`+jobs.HeldLane+`')`)
}

// ReleaseLater makes attempts that are due claimable, and returns their number.
func (tx *Tx) ReleaseLater(ctx context.Context, limit int) (int, error) {
	return tx.affect(ctx, `UPDATE run_queue SET lane = jobs.lane FROM jobs WHERE jobs.uid = run_queue.job_uid AND run_queue.id `+tx.dialect.oneOf(`SELECT id FROM run_queue
		WHERE status = 'PENDING' AND lane = '`+jobs.LaterLane+`' AND not_before <= $1 ORDER BY not_before LIMIT $2`+tx.dialect.skipLocked), micros(tx.now), limit)
}

// ReleaseHeld makes a held run claimable when its job has no other unfinished run, and returns the
// number of such runs.
func (tx *Tx) ReleaseHeld(ctx context.Context, limit int) (int, error) {
	// Runs that stay held are left out here: otherwise the oldest of them would fill every batch.
	waiting, err := all(ctx, tx.conn, scanString, `SELECT job_uid FROM run_queue AS held WHERE status = 'PENDING' AND lane = '`+jobs.HeldLane+`'
		AND (NOT EXISTS (SELECT 1 FROM run_queue AS other WHERE other.job_uid = held.job_uid AND (other.status <> 'PENDING' OR other.lane <> '`+jobs.HeldLane+`'))
			OR (SELECT overlap FROM jobs WHERE jobs.uid = held.job_uid) <> '`+string(jobs.OverlapWait)+`')
		ORDER BY lane, id LIMIT $1`, limit)
	if err != nil || len(waiting) == 0 {
		return 0, err
	}
	origins, err := all(ctx, tx.conn, scanOrigin, `SELECT account_id, uid, key, lane, overlap, deleted_at FROM jobs WHERE $1 = '' AND uid `+tx.dialect.among+tx.dialect.skipChanging,
		"", tx.dialect.texts(waiting))
	if err != nil {
		return 0, err
	}
	unfinished, err := tx.UnfinishedRuns(ctx, origins)
	if err != nil {
		return 0, err
	}
	var released []string
	for _, origin := range origins {
		if now := unfinished[origin.UID]; now.Held != "" && (now.Others == 0 || origin.Overlap != jobs.OverlapWait) {
			released = append(released, now.Held)
		}
	}
	return tx.affect(ctx, `UPDATE run_queue SET lane = jobs.lane FROM jobs WHERE jobs.uid = run_queue.job_uid AND $1 = ''
		AND run_queue.status = 'PENDING' AND run_queue.id `+tx.dialect.among, "", tx.dialect.texts(released))
}

// ReplaceHeld cancels held runs because a newer instant of their job has come, and returns their number.
func (tx *Tx) ReplaceHeld(ctx context.Context, runs []string) (int, error) {
	if len(runs) == 0 {
		return 0, nil
	}
	replaced, _, err := tx.end(ctx, canceled("$1", "$3", `run_queue.status = 'PENDING' AND run_queue.id `+tx.dialect.among),
		"The run waited for an earlier one until the next instant came, whose run replaced it.", tx.dialect.texts(runs), micros(tx.now))
	return len(replaced), err
}

// DueJobs locks and returns due jobs, oldest first. It skips jobs that others have locked, and jobs that may be late: MarkLate
// has to check them before they fire. A job whose lock was just released
// may have fired: then PostgreSQL reads the job again, but not job_due.
func (tx *Tx) DueJobs(ctx context.Context, at time.Time, limit int) ([]jobs.Due, error) {
	return all(ctx, tx.conn, scanDue, `SELECT account_id, jobs.uid, key, lane, overlap, schedule, timezone, jobs.next_run_at FROM job_due JOIN jobs ON jobs.uid = job_due.uid
		WHERE job_due.next_run_at <= $1 AND jobs.next_run_at <= $1 AND (jobs.late_at IS NULL OR jobs.late_at > $3) ORDER BY job_due.next_run_at LIMIT $2`+tx.dialect.skipChanging,
		micros(at), limit, micros(tx.now))
}

func scanDue(r row) (due jobs.Due, err error) {
	err = r.Scan(&due.Account, &due.UID, &due.Key, &due.Lane, &due.Overlap, &due.Schedule, &due.Timezone, asTime(&due.ScheduledAt))
	return due, err
}

// AdvanceJobs writes when jobs fire next, and disables jobs that do not fire again.
func (tx *Tx) AdvanceJobs(ctx context.Context, firings []jobs.Firing) error {
	rows := make([][]any, len(firings))
	for i, firing := range firings {
		rows[i] = []any{firing.UID, microsOrNull(firing.Next), firing.Next != nil}
	}
	_, err := updates(ctx, tx, `UPDATE jobs SET next_run_at = v.column2, enabled = v.column3`, `WHERE jobs.uid = v.column1 RETURNING jobs.uid`,
		[]string{"text", "bigint", "boolean"}, rows)
	return err
}

// SkipJobs records, for each job, the due time at which it did not fire.
func (tx *Tx) SkipJobs(ctx context.Context, skipped []jobs.Firing) error {
	rows := make([][]any, len(skipped))
	for i, firing := range skipped {
		rows[i] = []any{firing.UID, micros(firing.ScheduledFor)}
	}
	if _, err := updates(ctx, tx, `UPDATE jobs SET skipped_at = v.column2`, `WHERE jobs.uid = v.column1 RETURNING jobs.uid`, []string{"text", "bigint"}, rows); err != nil {
		return err
	}
	days := make([][]any, len(skipped))
	for i, firing := range skipped {
		days[i] = []any{firing.UID, firing.ScheduledFor.UTC().Format(time.DateOnly), 1}
	}
	return inserts(ctx, tx, `INSERT INTO job_skips (job_uid, day, skipped) VALUES`,
		`ON CONFLICT (job_uid, day) DO UPDATE SET skipped = job_skips.skipped + excluded.skipped`, days)
}

// Upcoming returns jobs that fire later than at, ordered by UID and starting after the given UID.
func (tx *ReadTx) Upcoming(ctx context.Context, at time.Time, after string, limit int) ([]jobs.Due, error) {
	return all(ctx, tx.conn, scanDue, `SELECT account_id, uid, key, lane, overlap, schedule, timezone, next_run_at FROM jobs
		WHERE uid > $2 AND next_run_at > $1 ORDER BY uid LIMIT $3`, micros(at), after, limit)
}

// PullForward makes jobs fire sooner. It skips a job whose stored due time has changed since it was read.
func (tx *Tx) PullForward(ctx context.Context, sooner []jobs.Sooner) error {
	rows := make([][]any, len(sooner))
	for i, job := range sooner {
		rows[i] = []any{job.UID, micros(job.ScheduledAt), micros(job.Next)}
	}
	_, err := updates(ctx, tx, `UPDATE jobs SET next_run_at = v.column3`, `WHERE jobs.uid = v.column1 AND jobs.next_run_at = v.column2 RETURNING jobs.uid`,
		[]string{"text", "bigint", "bigint"}, rows)
	return err
}

// PendingAccounts returns the ids of accounts with pending runs, sorted and starting after the given id.
func (tx *ReadTx) PendingAccounts(ctx context.Context, after string, limit int) ([]string, error) {
	return tx.pendingAccounts(ctx, pendingRuns, after, limit)
}

// pendingAccounts returns the ids of accounts that have something in a queue.
func (tx *ReadTx) pendingAccounts(ctx context.Context, queue, after string, limit int) ([]string, error) {
	lanes, err := tx.pendingLanes(ctx, queue, afterAccount(after), afterAll, `substr(heads.lane, 1, 36) || ';'`, limit)
	for i, lane := range lanes {
		lanes[i], _, _ = strings.Cut(lane, ":")
	}
	return lanes, err
}

// PendingLanes returns the lanes of an account with pending runs, sorted and starting after the given lane.
func (tx *Tx) PendingLanes(ctx context.Context, account, after string, limit int) ([]string, error) {
	return tx.lanesOf(ctx, pendingRuns, account, after, limit)
}

// lanesOf returns the lanes of an account that have something in a queue.
func (tx *ReadTx) lanesOf(ctx context.Context, queue, account, after string, limit int) ([]string, error) {
	return tx.pendingLanes(ctx, queue, max(account+":", after), afterAccount(account), `heads.lane`, limit)
}

// pendingRuns is SQL for the rows that workers of runs claim.
const pendingRuns = `run_queue WHERE status = 'PENDING' AND lane <> ''`

// pendingLanes returns lanes of a queue between after and before. After each lane it searches the index for the first
// lane greater than the SQL expression next, so a long queue costs no more than a short one.
func (tx *ReadTx) pendingLanes(ctx context.Context, queue, after, before, next string, limit int) ([]string, error) {
	return all(ctx, tx.conn, scanString, `WITH RECURSIVE heads (lane, place) AS (
			SELECT (SELECT lane FROM `+queue+` AND lane > $1 AND lane < $2 ORDER BY lane LIMIT 1), 1
			UNION ALL
			SELECT (SELECT lane FROM `+queue+` AND lane > `+next+` AND lane < $2 ORDER BY lane LIMIT 1), place + 1
			FROM heads WHERE heads.lane IS NOT NULL AND place < $3)
		SELECT lane FROM heads WHERE lane IS NOT NULL`, after, before, limit)
}

// afterAll sorts after all lanes, which begin with a UUID.
const afterAll = "~"

// afterAccount returns a text that sorts after all lanes of an account, which begin with its id and ":".
func afterAccount(account string) string {
	if account == "" {
		return ""
	}
	return account + ";"
}

// ClaimRuns gives the oldest pending runs of a lane to a worker.
func (tx *Tx) ClaimRuns(ctx context.Context, lane, lease string, limit int) ([]worker.Claim, error) {
	return all(ctx, tx.conn, scanClaim, `UPDATE run_queue SET status = 'RUNNING', lease = $3, started_at = `+notBeforeQueued("$4")+`, job_version = jobs.version, request_id = jobs.request_id
		FROM jobs WHERE jobs.uid = run_queue.job_uid AND run_queue.id `+tx.nextOfLane()+`
		RETURNING run_queue.id, run_queue.account_id, run_queue.lane, run_queue.job_key, run_queue.request_id`, lane, limit, lease, micros(tx.now))
}

// nextOfLane returns the condition that an id is among the oldest $2 pending runs of lane $1. It orders by lane first
// so that PostgreSQL uses the index run_queue_by_lane. Otherwise it might scan the whole queue by id. On PostgreSQL the index also has the
// running runs of the lane.
func (tx *Tx) nextOfLane() string {
	return tx.dialect.oneOf(`SELECT id FROM run_queue WHERE status = 'PENDING' AND lane <> '' AND lane >= $1 AND lane <= $1 ORDER BY lane, id LIMIT $2` + tx.dialect.skipLocked)
}

func scanClaim(r row) (claim worker.Claim, err error) {
	err = r.Scan(&claim.Run, &claim.Account, &claim.Lane, &claim.Job, &claim.Request)
	return claim, err
}

// RefuseRuns fails the oldest pending runs of a lane because the quota is used up, and returns their number. It leaves them
// for later while the account is locked, because the transaction also claims the runs of other accounts.
func (tx *Tx) RefuseRuns(ctx context.Context, lane, detail string, limit int) (int, error) {
	account, _, _ := strings.Cut(lane, ":")
	if err := tx.lockFree(ctx, []string{account}); err != nil || !tx.holds(account) {
		return 0, err
	}
	refused, attention, err := tx.end(ctx, ending{where: `run_queue.id ` + tx.nextOfLane(),
		status: `'FAILED'`, reason: `'QUOTA_EXCEEDED'`, detail: `$3`, finished: notBeforeQueued("$4")}, lane, limit, detail, micros(tx.now))
	if err != nil {
		return 0, err
	}
	return len(refused), tx.settle(ctx, attention)
}

// Configurations maps the request ids of claims to job configurations. A configuration that cannot be unsealed is
// logged and left out, so that it does not keep other jobs from running.
func (tx *ReadTx) Configurations(ctx context.Context, ids []string) (map[string]jobs.Configuration, error) {
	return tx.configurations(ctx, ids, func(id string, err error) {
		tx.log.Error("The configuration of a job cannot be decrypted; its runs fail without a request. Restore the key that sealed it, or write the job's configuration again.",
			"configuration", id, "error", err)
	})
}

// configurations calls unreadable for every configuration that cannot be unsealed.
func (tx *ReadTx) configurations(ctx context.Context, ids []string, unreadable func(id string, err error)) (map[string]jobs.Configuration, error) {
	found := make(map[string]jobs.Configuration, len(ids))
	_, err := among(ctx, tx, func(r row) (string, error) {
		var id string
		var hidden []byte
		if err := r.Scan(&id, &hidden); err != nil {
			return id, err
		}
		configuration, err := tx.unsealConfiguration(id, hidden)
		if err != nil {
			unreadable(id, err)
			return id, nil
		}
		found[id] = configuration
		return id, nil
	}, `SELECT id, sealed FROM job_requests WHERE $1 = '' AND id `, "", ids)
	return found, err
}

// Pack compresses a large body. Compressing takes longer than writing, so the goroutine of each request does it; the
// transactions of FinishRuns run one after the other.
func (s WorkerStore) Pack(outcome *worker.Outcome) {
	if outcome.Packed != nil || outcome.Result == nil || len(outcome.Result.Body) <= smallBody {
		return
	}
	result := *outcome.Result
	encoding, stored := compact(result.Body)
	result.Body = ""
	outcome.Result, outcome.Packed = &result, &worker.PackedBody{Encoding: encoding, Bytes: stored}
}

// FinishRuns writes the outcomes of runs that a worker still owns, and returns their ids. It packs outcomes that are not
// packed. It waits for no account: if one is locked, it writes nothing and returns a worker.BusyError.
func (s WorkerStore) FinishRuns(ctx context.Context, lease string, outcomes []worker.Outcome) ([]string, error) {
	return s.finishRuns(ctx, writeOptions{priority: s.priority, matches: true}, lease, outcomes, false)
}

// FinishBusy is FinishRuns for the runs of one account, and waits for it. While it waits, it needs a connection that
// heartbeats do not: it has the priority of decisions.
func (s WorkerStore) FinishBusy(ctx context.Context, account, lease string, outcomes []worker.Outcome) ([]string, error) {
	return s.finishRuns(ctx, writeOptions{priority: forDecisions, account: account, matches: true}, lease, outcomes, true)
}

func (s WorkerStore) finishRuns(ctx context.Context, options writeOptions, lease string, outcomes []worker.Outcome, wait bool) (owned []string, err error) {
	packed, err := s.packOutcomes(lease, outcomes)
	if err != nil {
		return nil, err
	}
	return finishing(ctx, s.db, options, func(ctx context.Context, tx *Tx) (owned, busy []string, err error) {
		return tx.finishRuns(ctx, packed, wait)
	})
}

// finishing runs a transaction that ends runs, and undoes it if runs are busy.
func finishing(ctx context.Context, db *DB, options writeOptions, end func(context.Context, *Tx) (owned, busy []string, err error)) ([]string, error) {
	var owned, busy []string
	err := db.write(ctx, options, func(ctx context.Context, tx *Tx) (err error) {
		if owned, busy, err = end(ctx, tx); err == nil && len(busy) > 0 {
			err = transaction.ErrDryRun // nothing failed, but the writes must not stay
		}
		return err
	})
	if err == nil && len(busy) > 0 {
		return nil, &worker.BusyError{Runs: busy}
	}
	return owned, err
}

// packedOutcomes holds the database rows of outcomes.
type packedOutcomes struct {
	runs   [][]any
	bodies map[string][]any // by run; only bodies above smallBody
}

func (s WorkerStore) packOutcomes(lease string, outcomes []worker.Outcome) (packedOutcomes, error) {
	packed := packedOutcomes{runs: make([][]any, len(outcomes)), bodies: map[string][]any{}}
	for i, outcome := range outcomes {
		s.Pack(&outcome)
		if outcome.Packed != nil {
			packed.bodies[outcome.Run] = []any{outcome.Run, outcome.Packed.Encoding, outcome.Packed.Bytes}
		}
		result, err := resultOf(outcome)
		if err != nil {
			return packed, err
		}
		packed.runs[i] = []any{outcome.Run, string(outcome.Status), outcome.Reason, outcome.Error, result, micros(outcome.FinishedAt), lease}
	}
	return packed, nil
}

// resultOf returns the JSON of a result.
func resultOf(outcome worker.Outcome) (*string, error) {
	if outcome.Result == nil {
		return nil, nil //nolint:nilnil // the run has no result
	}
	return encodePointer(outcome.Result)
}

// leaseHeld checks the status and the lease in one term, so that PostgreSQL matches rows by their ids. With two terms it
// would search for running runs first whenever its statistics show none.
const leaseHeld = `CASE run_queue.status WHEN 'RUNNING' THEN run_queue.lease END = v.column7`

// outcomes returns the ending of runs by the rows of packedOutcomes, and its arguments.
func (d dialect) outcomes(rows [][]any) (ending, []any) {
	values, args := d.rowsOf([]string{"text", "text", "text", "text", "text", "bigint", "text"}, rows)
	return ending{with: values, where: d.hasID + ` AND ` + leaseHeld,
		status: `v.column2`, reason: `v.column3`, detail: `v.column4`, result: `v.column5`, finished: `v.column6`}, args
}

func (tx *Tx) finishRuns(ctx context.Context, packed packedOutcomes, wait bool) (owned, busy []string, err error) {
	var attention []string
	for chunk := range tx.dialect.pieces(packed.runs) {
		outcomes, args := tx.dialect.outcomes(chunk)
		ended, noted, err := tx.end(ctx, outcomes, args...)
		if err != nil {
			return nil, nil, err
		}
		owned, attention = append(owned, ended...), append(attention, noted...)
	}
	var bodies [][]any
	for _, run := range owned {
		if body, large := packed.bodies[run]; large {
			bodies = append(bodies, body)
		}
	}
	if err := inserts(ctx, tx, `INSERT INTO run_bodies (run_id, encoding, body) VALUES`, ``, bodies); err != nil {
		return nil, nil, err
	}
	if len(attention) > 0 && tx.dialect.matched != "" {
		if err := tx.run(ctx, tx.dialect.matched); err != nil {
			return nil, nil, err
		}
	}
	busy, err = tx.settleRuns(ctx, attention, wait)
	return owned, busy, err
}

// Beat records a node's heartbeat. The counter starts at the current time, so that a node that was given up and comes
// back does not repeat a count that other nodes remember.
func (tx *Tx) Beat(ctx context.Context, boot, node string) error {
	return tx.run(ctx, `INSERT INTO worker_nodes (boot, node, beat) VALUES ($1, $2, $3)
		ON CONFLICT (boot) DO UPDATE SET beat = worker_nodes.beat + 1`, boot, node, micros(tx.now))
}

// Lives reports whether a node is registered, and keeps it registered until the transaction ends.
func (tx *Tx) Lives(ctx context.Context, boot string) (bool, error) {
	found, err := all(ctx, tx.conn, scanString, `SELECT boot FROM worker_nodes WHERE boot = $1`+tx.dialect.forKeyShare, boot)
	return len(found) > 0, err
}

// Settled reports whether a node is registered and no other open transaction has called Lives for it.
func (tx *Tx) Settled(ctx context.Context, boot string) (bool, error) {
	found, err := all(ctx, tx.conn, scanString, `SELECT boot FROM worker_nodes WHERE boot = $1`+tx.dialect.skipLocked, boot)
	return len(found) > 0, err
}

// Nodes returns every node that has not been given up, with its last heartbeat.
func (tx *ReadTx) Nodes(ctx context.Context) ([]worker.Node, error) {
	return all(ctx, tx.conn, func(r row) (node worker.Node, err error) {
		err = r.Scan(&node.Boot, &node.Name, &node.Beat)
		return node, err
	}, `SELECT boot, node, beat FROM worker_nodes`)
}

// IsSilent reports whether a node has sent no other heartbeat, and keeps it from sending one until the transaction ends.
func (tx *Tx) IsSilent(ctx context.Context, node worker.Node) (bool, error) {
	found, err := all(ctx, tx.conn, scanString, `SELECT boot FROM worker_nodes WHERE boot = $1 AND beat = $2`+tx.dialect.forUpdateOfNode, node.Boot, node.Beat)
	return len(found) > 0, err
}

// GiveUp removes a node unless it has sent another heartbeat, and reports whether it was removed.
func (tx *Tx) GiveUp(ctx context.Context, node worker.Node) (bool, error) {
	gone, err := all(ctx, tx.conn, scanString, `DELETE FROM worker_nodes WHERE boot = $1 AND beat = $2 RETURNING boot`, node.Boot, node.Beat)
	return len(gone) > 0, err
}

// PutBack makes a run pending again in its job's current lane, and reports whether the worker still owned the run; if
// not, it changes nothing. If the job was deleted, the run is canceled, like the job's pending runs. The caller holds
// the account's lock, so the job does not change meanwhile.
func (tx *Tx) PutBack(ctx context.Context, run, lease string) (bool, error) {
	changed, err := tx.affect(ctx, `UPDATE run_queue SET lane = jobs.lane, lease = NULL, started_at = NULL, job_version = NULL, request_id = NULL, status = 'PENDING'
		FROM jobs WHERE jobs.uid = run_queue.job_uid AND run_queue.id = $1 AND run_queue.status = 'RUNNING' AND run_queue.lease = $2`, run, lease)
	if err != nil || changed == 0 {
		return false, err
	}
	_, _, err = tx.end(ctx, canceled("", "$2", `run_queue.id = $1 AND EXISTS (SELECT 1 FROM jobs WHERE jobs.uid = run_queue.job_uid AND jobs.deleted_at IS NOT NULL)`),
		run, micros(tx.now))
	return true, err
}

// LoseRuns fails the running runs of a worker that is gone, and lets other workers send its deliveries of webhooks. It
// returns the number of these runs, and the accounts whose runs it left because another transaction has locked them.
func (tx *Tx) LoseRuns(ctx context.Context, lease, detail string) (lost int, busy []string, err error) {
	accounts, err := all(ctx, tx.conn, scanString, `SELECT DISTINCT account_id FROM run_queue WHERE lease = $1 AND status = 'RUNNING' ORDER BY account_id`, lease)
	if err == nil {
		err = tx.lockFree(ctx, accounts)
	}
	if err != nil {
		return 0, nil, err
	}
	busy = tx.notHeld(accounts)
	free := slices.DeleteFunc(accounts, func(account string) bool { return !tx.holds(account) })
	ended, attention, err := tx.end(ctx, ending{where: `run_queue.status = 'RUNNING' AND run_queue.lease = $1 AND run_queue.account_id ` + tx.dialect.among,
		status: `'FAILED'`, reason: `'WORKER_LOST'`, detail: `CAST($3 AS text)`, finished: `CAST($4 AS bigint)`}, lease, tx.dialect.texts(free), detail, micros(tx.now))
	if err != nil {
		return 0, nil, err
	}
	if err := tx.releaseLost(ctx, lease); err != nil {
		return 0, nil, err
	}
	return len(ended), busy, tx.settle(ctx, attention)
}

// Owned returns the running runs of a worker. It reads the whole queue: every claim would have to write an index of the
// lease.
func (tx *ReadTx) Owned(ctx context.Context, lease string) ([]string, error) {
	return all(ctx, tx.conn, scanString, `SELECT id FROM run_queue WHERE lease = $1 AND status = 'RUNNING'`, lease)
}

// OwnedOf returns the ids among runs that are running and belong to a worker.
func (tx *ReadTx) OwnedOf(ctx context.Context, lease string, runs []string) ([]string, error) {
	return among(ctx, tx, scanString, ownedRunsQuery, lease, runs)
}

// ownedRunsQuery must be followed by a list of runs.
const ownedRunsQuery = `SELECT id FROM run_queue WHERE lease = $1 AND status = 'RUNNING' AND id `

// CountPending counts the pending runs, up to a limit.
func (tx *ReadTx) CountPending(ctx context.Context, limit int) (int, error) {
	return scalar(ctx, tx.conn, scanInt,
		`SELECT count(*) FROM (SELECT 1 FROM run_queue WHERE status = 'PENDING' LIMIT $1) AS waiting`, limit)
}
