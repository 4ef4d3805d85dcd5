package store

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// noted marks the id of an ended run that settle has to process. The success of a healthy job is not marked, so it
// costs no further statement.
const noted = `!`

// isNoted is SQL for the mark of a row that has just been written to run_history; an empty text means no mark. The
// last_success_at of a healthy job may be an hour behind its runs, because storing every success would write the job's
// row once more for each run.
const isNoted = `COALESCE((SELECT CASE WHEN run_history.status = 'SUCCEEDED' AND jobs.health = 'ok' AND jobs.failures = 0
	AND jobs.last_success_at > run_history.finished_at - 3600000000 THEN '' ELSE '` + noted + `' END FROM jobs WHERE jobs.uid = run_history.job_uid), '')`

// settle updates the jobs of ended runs: a failed run may be attempted again, and an outcome may change the health of
// its job. Everything is stored in the transaction that ends the runs. It waits for the accounts and the jobs.
func (tx *Tx) settle(ctx context.Context, runs []string) error {
	_, err := tx.settleRuns(ctx, runs, true)
	return err
}

// settleRuns is settle for runs of several accounts if it must not wait: then it returns the runs whose account or job
// another transaction has locked. If there are any, it has stored nothing.
func (tx *Tx) settleRuns(ctx context.Context, runs []string, wait bool) (busy []string, err error) {
	if len(runs) == 0 {
		return nil, nil
	}
	ended, err := tx.ended(ctx, runs, "")
	if err != nil {
		return nil, err
	}
	verdicts := judge(ended)
	if tx.dialect.forNoKeyUpdate != "" {
		if verdicts, busy, err = tx.lockVerdicts(ctx, runs, verdicts, wait); err != nil || len(busy) > 0 {
			return busy, err
		}
	}
	return nil, tx.storeVerdicts(ctx, verdicts)
}

// lockVerdicts locks accounts and jobs, and returns verdicts that nobody else changes. Writes of jobs lock accounts before
// jobs, and so does this. If only the locked jobs show that an account changes too, its lock comes late; PostgreSQL may
// then find a deadlock, and the transaction is repeated.
func (tx *Tx) lockVerdicts(ctx context.Context, runs []string, verdicts []verdict, wait bool) (sure []verdict, busy []string, err error) {
	if busy, err = tx.lockAccounts(ctx, verdicts, wait); err != nil || len(busy) > 0 {
		return nil, busy, err
	}
	lock := tx.dialect.skipChanging
	if wait {
		lock = ` FOR NO KEY UPDATE OF jobs`
	}
	ended, err := tx.ended(ctx, runs, lock)
	if err != nil {
		return nil, nil, err
	}
	if len(ended) < len(runs) {
		free := make(map[string]bool, len(ended))
		for _, each := range ended {
			free[each.run.ID] = true
		}
		return nil, slices.DeleteFunc(slices.Clone(runs), func(run string) bool { return free[run] }), nil
	}
	sure = judge(ended)
	busy, err = tx.lockAccounts(ctx, sure, wait)
	return sure, busy, err
}

// endedRun is a run that has ended, and its job.
type endedRun struct {
	run      jobs.Run
	judge    jobs.Judge
	webhooks int // of its account
}

func (tx *ReadTx) ended(ctx context.Context, runs []string, lock string) ([]endedRun, error) {
	query := `SELECT runs.id, runs.account_id, runs.job_uid, runs.job_key, runs.attempt, runs.job_version, runs.scheduled_for, runs.due_at, runs.created_at,
		runs.status, runs.failure_reason, runs.error, runs.finished_at, runs.result, jobs.lane, (SELECT webhooks FROM accounts WHERE accounts.id = runs.account_id), jobs.version, jobs.deleted_at IS NOT NULL, jobs.retry, jobs.alerts,
		CASE WHEN runs.status = 'FAILED' AND jobs.failures = 0 THEN ` + lastSuccess + ` END, ` + healthColumns + `
		FROM run_history AS runs JOIN jobs ON jobs.uid = runs.job_uid WHERE $1 = '' AND runs.id ` + tx.dialect.among + ` ORDER BY jobs.uid, runs.finished_at, runs.id` + lock
	return all(ctx, tx.conn, scanEnded, query, "", tx.dialect.texts(runs))
}

func scanEnded(r row) (ended endedRun, err error) {
	run, job := &ended.run, &ended.judge
	var lane string
	var result *string
	var success *time.Time
	var policies storedPolicies
	err = r.Scan(append([]any{&run.ID, &run.Account, &run.JobUID, &run.JobKey, &run.Attempt, &run.JobVersion, asTimeOrNull(&run.ScheduledFor), asTimeOrNull(&run.DueAt),
		asTime(&run.CreatedAt), &run.Status, &run.Reason, &run.Error, asTimeOrNull(&run.FinishedAt), &result, &lane, &ended.webhooks, &job.Version, &job.Deleted, &policies.retry, &policies.alerts, asTimeOrNull(&success)},
		intoHealth(&job.Health)...)...)
	if err == nil {
		err = policies.read(&job.Retry, &job.Alerts)
	}
	if err == nil && result != nil && run.Status == jobs.Failed {
		err = decode(*result, &run.Result)
	}
	job.UID, job.Health.LastSuccessAt = run.JobUID, later(job.Health.LastSuccessAt, success)
	_, job.Host, _ = strings.Cut(lane, ":")
	return ended, err
}

// verdict holds the consequences of an ended run for its job.
type verdict struct {
	jobs.Verdict

	run      jobs.Run
	alerts   *jobs.Alerts
	host     string
	webhooks int // of the account
}

// isTold reports whether webhooks may be told of the run itself: it failed, and the account has
// webhooks.
func (v verdict) isTold() bool { return v.webhooks > 0 && v.run.Status == jobs.Failed }

// judge returns the verdicts on runs that are sorted by job and end. Each verdict starts from the health after the
// run before.
func judge(ended []endedRun) []verdict {
	verdicts := make([]verdict, len(ended))
	for i, each := range ended {
		if i > 0 && ended[i-1].judge.UID == each.judge.UID {
			each.judge.Health = verdicts[i-1].Health
		}
		verdicts[i] = verdict{each.judge.End(each.run, rand.Float64()), each.run, each.judge.Alerts, each.judge.Host, each.webhooks} //nolint:gosec // jitter
	}
	return verdicts
}

// lockAccounts locks the accounts whose histories or webhooks will get events, in one order. If it must not wait, it
// returns the runs whose account is locked by another transaction.
func (tx *Tx) lockAccounts(ctx context.Context, verdicts []verdict, wait bool) (busy []string, err error) {
	accounts := map[string]bool{}
	for _, verdict := range verdicts {
		if verdict.Event != nil || verdict.isTold() {
			accounts[verdict.run.Account] = true
		}
	}
	if wait {
		return nil, tx.lockEach(ctx, slices.Sorted(maps.Keys(accounts)))
	}
	if err := tx.lockFree(ctx, slices.Sorted(maps.Keys(accounts))); err != nil {
		return nil, err
	}
	for _, verdict := range verdicts {
		if account := verdict.run.Account; accounts[account] && !tx.holds(account) {
			busy = append(busy, verdict.run.ID)
		}
	}
	return busy, nil
}

// lockEach locks accounts, and waits for other transactions.
func (tx *Tx) lockEach(ctx context.Context, accounts []string) error {
	for _, account := range tx.notHeld(accounts) {
		if _, err := all(ctx, tx.conn, scanString, `SELECT id FROM accounts WHERE id = $1`+tx.dialect.forNoKeyUpdate, account); err != nil {
			return err
		}
		tx.hold(account)
	}
	return nil
}

// lockFree locks those of the accounts that no other transaction has locked. A transaction that works for several accounts
// uses it: the transaction of one of them must not delay the others.
func (tx *Tx) lockFree(ctx context.Context, accounts []string) error {
	free := tx.notHeld(accounts)
	if tx.dialect.skipBusy != "" {
		var err error
		if free, err = among(ctx, &tx.ReadTx, scanString, `SELECT id FROM accounts WHERE $1 = '' AND id `, "", free, tx.dialect.skipBusy); err != nil {
			return err
		}
	}
	tx.hold(free...)
	return nil
}

// holds reports whether the transaction has locked an account.
func (tx *Tx) holds(account string) bool { return tx.held[account] || account == tx.locked }

func (tx *Tx) notHeld(accounts []string) []string {
	return slices.DeleteFunc(slices.Clone(accounts), tx.holds)
}

func (tx *Tx) hold(accounts ...string) {
	if tx.held == nil {
		tx.held = map[string]bool{}
	}
	for _, account := range accounts {
		tx.held[account] = true
	}
}

func (tx *Tx) storeVerdicts(ctx context.Context, verdicts []verdict) error {
	var next []jobs.Run
	var retried [][]any
	states, checks, events := map[string]jobs.Health{}, map[string]*time.Time{}, []jobs.HealthChange{}
	for _, each := range verdicts {
		if each.Next != nil {
			next = append(next, *each.Next)
			retried = append(retried, []any{each.run.ID, true})
			continue
		}
		job := each.run.JobUID
		states[job], checks[job] = each.Health, earlier(checks[job], checkAgain(each))
		if each.Event != nil {
			events = append(events, *each.Event)
		}
	}
	if err := tx.InsertRuns(ctx, next); err != nil {
		return err
	}
	if _, err := updates(ctx, tx, `UPDATE run_history SET retried = v.column2`, `WHERE run_history.id = v.column1 RETURNING run_history.id`, []string{"text", "boolean"}, retried); err != nil {
		return err
	}
	rows := make([][]any, 0, len(states))
	for _, uid := range slices.Sorted(maps.Keys(states)) {
		rows = append(rows, healthRow(uid, states[uid], checks[uid]))
	}
	if err := tx.saveHealth(ctx, rows); err != nil {
		return err
	}
	if err := tx.recordHealth(ctx, events); err != nil {
		return err
	}
	return tx.tellFailures(ctx, verdicts)
}

// checkAgain returns a new time to check the lateness of a job; nil keeps the stored one. A job that has just recovered
// is checked at once, and that check sets the next time. A job that has begun to fail is checked at its first reminder. Of
// several runs of a job, the earliest check counts: a check that comes too soon only finds when the next one is due.
func checkAgain(each verdict) *time.Time {
	alerts := each.alerts
	if each.Event != nil && each.Event.Action == jobs.Failing && alerts != nil && alerts.RemindEvery != nil {
		return new(each.Health.Since.Add(time.Duration(*alerts.RemindEvery) * time.Second))
	}
	if each.Health.State != jobs.HealthOK || alerts == nil || alerts.LateAfter == nil && alerts.NoSuccessFor == nil || !each.Health.Since.Equal(*each.run.FinishedAt) {
		return nil
	}
	return each.run.FinishedAt
}

// healthRow returns the values of saveHealth.
func healthRow(uid string, health jobs.Health, lateAt *time.Time) []any {
	return []any{uid, string(health.State), micros(health.Since), health.Failures, health.Successes, microsOrNull(health.LastSuccessAt), microsOrNull(health.LateFor), microsOrNull(lateAt)}
}

// saveHealth stores the health of jobs. A time for the next check of lateness replaces a later one, or none.
func (tx *Tx) saveHealth(ctx context.Context, rows [][]any) error {
	_, err := updates(ctx, tx, `UPDATE jobs SET health = v.column2, health_since = v.column3, failures = v.column4, successes = v.column5, last_success_at = v.column6,
		late_for = v.column7, late_at = CASE WHEN v.column8 IS NULL OR v.column8 > late_at THEN late_at ELSE v.column8 END`,
		`WHERE jobs.uid = v.column1 AND jobs.deleted_at IS NULL RETURNING jobs.uid`, []string{"text", "text", "bigint", "bigint", "bigint", "bigint", "bigint", "bigint"}, rows)
	return err
}

// recordHealth records events in the histories of their accounts, which also tells webhooks. Reminders go to webhooks
// only.
func (tx *Tx) recordHealth(ctx context.Context, events []jobs.HealthChange) error {
	slices.SortStableFunc(events, func(a, b jobs.HealthChange) int { return cmp.Compare(a.Account, b.Account) })
	for _, event := range events {
		if event.Action == jobs.Reminder {
			reminder := webhooks.Reminder(event.Account, event.Key, event.Host, string(event.After.State), event.Detail, tx.now)
			if err := tx.emit(ctx, event.Account, nil, reminder); err != nil {
				return err
			}
			continue
		}
		if err := changes.RecordEach(ctx, hostedRecorder{tx, event.Host}, event.Account, changes.System(), event.Action, jobs.KindHealth, []changes.Edit[any]{event.Change()}); err != nil {
			return err
		}
	}
	return nil
}

// hostedRecorder records changes together with their destination host.
type hostedRecorder struct {
	tx   *Tx
	host string
}

// RecordChanges is Tx.RecordChanges.
func (r hostedRecorder) RecordChanges(ctx context.Context, account string, made ...changes.Change) error {
	for i := range made {
		made[i].Host = r.host
	}
	return r.tx.RecordChanges(ctx, account, made...)
}

// unnoted removes the marks from the ids of ended runs, and returns the marked ids a second time as
// attention.
func unnoted(marked []string) (runs, attention []string) {
	for _, each := range marked {
		run, is := strings.CutSuffix(each, noted)
		if runs = append(runs, run); is {
			attention = append(attention, run)
		}
	}
	return runs, attention
}

// lateColumns reads the exact last success from the newest runs, because the stored one may be behind.
const lateColumns = `jobs.account_id, jobs.uid, jobs.key, jobs.lane, COALESCE(jobs.late_at, 0), jobs.enabled, jobs.created_at, jobs.next_run_at, jobs.alerts,
	(SELECT min(scheduled_for) FROM run_queue WHERE run_queue.job_uid = jobs.uid AND status = 'PENDING' AND scheduled_for IS NOT NULL),
	` + lastSuccess + `, ` + healthColumns

// lastSuccess is SQL for the end of the newest success among the last runs of a row of jobs.
const lastSuccess = `(SELECT max(last.finished_at) FROM (SELECT r.status, r.job_uid, r.finished_at FROM run_history AS r WHERE r.account_id = jobs.account_id
	AND r.job_key >= jobs.key AND r.job_key <= jobs.key ORDER BY r.job_key DESC, r.id DESC LIMIT 100) AS last
	WHERE last.status = 'SUCCEEDED' AND last.job_uid = jobs.uid)`

func scanWatched(r row) (watched jobs.Watched, err error) {
	var policies storedPolicies
	var success *time.Time
	var lane string
	err = r.Scan(append([]any{&watched.Account, &watched.UID, &watched.Key, &lane, asTime(&watched.CheckAt), &watched.Enabled, asTime(&watched.CreatedAt), asTimeOrNull(&watched.NextRunAt),
		&policies.alerts, asTimeOrNull(&watched.Unstarted), asTimeOrNull(&success)}, intoHealth(&watched.Health)...)...)
	if err == nil {
		err = policies.read(new(*jobs.Retry), &watched.Alerts)
	}
	watched.Health.LastSuccessAt = later(watched.Health.LastSuccessAt, success)
	_, watched.Host, _ = strings.Cut(lane, ":")
	return watched, err
}

// later returns the later of two instants; nil is before all.
func later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}

// earlier returns the earlier of two instants; nil is after all.
func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

// UnhealthyJobs returns at most limit jobs that are failing or late, always the same ones.
func (tx *ReadTx) UnhealthyJobs(ctx context.Context, limit int) ([]jobs.Unhealthy, error) {
	return all(ctx, tx.conn, func(r row) (job jobs.Unhealthy, err error) {
		err = r.Scan(&job.Account, &job.Key, &job.State)
		return job, err
	}, `SELECT account_id, key, health FROM jobs WHERE health IN ('failing', 'late') AND deleted_at IS NULL ORDER BY health, uid LIMIT $1`, limit)
}

// MarkLate checks a batch of jobs whose late_at has come. It leaves jobs out whose account has to be told and is locked by
// another transaction. A transaction that has locked an account checks only the jobs of this account.
func (tx *Tx) MarkLate(ctx context.Context, before scheduler.LateBatch, limit int) (checked scheduler.LateBatch, err error) {
	due, err := all(ctx, tx.conn, scanWatched, `SELECT `+lateColumns+` FROM jobs WHERE late_at IS NOT NULL AND late_at <= $1 AND late_at >= $3 AND (late_at > $3 OR uid > $4)
		AND ($5 = '' OR account_id = $5) ORDER BY late_at, uid LIMIT $2`, micros(tx.now), limit, micros(before.LastAt), before.LastUID, tx.locked)
	if err != nil || len(due) == 0 {
		return checked, err
	}
	last := due[len(due)-1]
	checked = scheduler.LateBatch{Jobs: len(due), LastAt: last.CheckAt, LastUID: last.UID}
	events := map[string]bool{} // by account
	for _, job := range due {
		if _, _, event := job.CheckLate(tx.now); event != nil {
			events[job.Account] = true
		}
	}
	accounts := slices.Sorted(maps.Keys(events))
	if err := tx.lockFree(ctx, accounts); err != nil {
		return checked, err
	}
	checked.Busy = tx.notHeld(accounts)
	uids := make([]string, len(due))
	for i, job := range due {
		uids[i] = job.UID
	}
	return checked, tx.markLate(ctx, uids)
}

// markLate checks jobs for lateness, except jobs that another node is checking, and jobs with an event whose account the
// transaction has not locked.
func (tx *Tx) markLate(ctx context.Context, uids []string) error {
	locked, err := all(ctx, tx.conn, scanString, `SELECT uid FROM jobs WHERE late_at <= $1 AND uid `+tx.dialect.among+tx.dialect.skipChanging, micros(tx.now), tx.dialect.texts(uids))
	if err != nil {
		return err
	}
	due, err := among(ctx, &tx.ReadTx, scanWatched, `SELECT `+lateColumns+` FROM jobs WHERE $1 = '' AND jobs.uid `, "", locked)
	if err != nil {
		return err
	}
	rows, events := make([][]any, 0, len(due)), []jobs.HealthChange{}
	for _, job := range due {
		after, again, event := job.CheckLate(tx.now)
		if event != nil && !tx.holds(job.Account) {
			continue
		}
		rows = append(rows, []any{job.UID, string(after.State), micros(after.Since), microsOrNull(after.LateFor), microsOrNull(again)})
		if event != nil {
			events = append(events, *event)
		}
	}
	if _, err := updates(ctx, tx, `UPDATE jobs SET health = v.column2, health_since = v.column3, late_for = v.column4, late_at = v.column5`,
		`WHERE jobs.uid = v.column1 RETURNING jobs.uid`, []string{"text", "text", "bigint", "bigint", "bigint"}, rows); err != nil {
		return err
	}
	return tx.recordHealth(ctx, events)
}
