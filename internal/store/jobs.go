package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/page"
)

// Jobs returns the transactions of package jobs.
func (db *DB) Jobs() Transactions[jobs.ReadTx, jobs.Tx] {
	return NewTransactions(db, func(tx *ReadTx) jobs.ReadTx { return tx }, func(tx *Tx) jobs.Tx { return tx })
}

const (
	jobTables  = `jobs JOIN job_requests ON job_requests.id = jobs.request_id`
	jobColumns = `jobs.account_id, uid, key, name, description, enabled, schedule, timezone, overlap, retry, alerts, request_id, job_requests.sealed, version, next_run_at, skipped_at,
	jobs.created_at, updated_at, deleted_at, ` + healthColumns
	healthColumns = `health, COALESCE(health_since, jobs.created_at), failures, successes, last_success_at, late_for`
)

func (tx *ReadTx) scanJob(r row) (jobs.Job, error) {
	job := jobs.Job{Type: jobs.HTTP, Concurrency: jobs.Allow}
	var hidden []byte
	var policies storedPolicies
	err := r.Scan(append([]any{&job.Account, &job.UID, &job.Key, &job.Name, &job.Description, &job.Enabled, &job.Schedule, &job.Timezone, &job.Overlap, &policies.retry, &policies.alerts, &job.RequestID, &hidden,
		&job.Version, asTimeOrNull(&job.NextRunAt), asTimeOrNull(&job.SkippedAt), asTime(&job.CreatedAt), asTime(&job.UpdatedAt), asTimeOrNull(&job.DeletedAt)},
		intoHealth(&job.Health)...)...)
	if err == nil {
		err = policies.read(&job.Retry, &job.Alerts)
	}
	if err == nil {
		job.Configuration, err = tx.unsealConfiguration(job.RequestID, hidden)
	}
	return job, err
}

// Job returns a job of an account.
func (tx *ReadTx) Job(ctx context.Context, account, key string) (jobs.Job, error) {
	return tx.job(ctx, account, key, "")
}

// JobToChange returns a job and locks it against changes, firing and new runs. The caller holds the account's lock, so
// the configuration cannot change while JobToChange waits.
func (tx *Tx) JobToChange(ctx context.Context, account, key string) (jobs.Job, error) {
	return tx.job(ctx, account, key, tx.dialect.forUpdate)
}

func (tx *ReadTx) job(ctx context.Context, account, key, lock string) (jobs.Job, error) {
	job, err := one(ctx, tx.conn, fault.Missing(jobs.Kind, key), tx.scanJob,
		`SELECT `+jobColumns+` FROM `+jobTables+` WHERE account_id = $1 AND key = $2 AND deleted_at IS NULL`+lock, account, key)
	if err != nil {
		return jobs.Job{}, err
	}
	found := []jobs.Job{job}
	err = tx.addLastRuns(ctx, account, found)
	return found[0], err
}

// JobToRun returns the fields of a job that a run needs, and keeps the job from deletion. It joins no other table: after
// a wait for the lock, PostgreSQL would combine the new row of the job with old rows of that table.
func (tx *Tx) JobToRun(ctx context.Context, account, key string) (jobs.Origin, error) {
	return one(ctx, tx.conn, fault.Missing(jobs.Kind, key), scanOrigin,
		`SELECT account_id, uid, key, lane, overlap, deleted_at FROM jobs WHERE account_id = $1 AND key = $2 AND deleted_at IS NULL`+tx.dialect.forKeyShare, account, key)
}

// JobOfRun is JobToRun for the job that a run came from, deleted or not.
func (tx *Tx) JobOfRun(ctx context.Context, account, run string) (jobs.Origin, error) {
	uid, err := one(ctx, tx.conn, fault.Missing(jobs.KindRun, run), scanString,
		`SELECT job_uid FROM runs WHERE account_id = $1 AND id = $2`, account, run)
	if err != nil {
		return jobs.Origin{}, err
	}
	return one(ctx, tx.conn, fault.Missing(jobs.KindRun, run), scanOrigin,
		`SELECT account_id, uid, key, lane, overlap, deleted_at FROM jobs WHERE uid = $1`+tx.dialect.forKeyShare, uid)
}

func scanOrigin(r row) (origin jobs.Origin, err error) {
	var deleted *int64
	err = r.Scan(&origin.Account, &origin.UID, &origin.Key, &origin.Lane, &origin.Overlap, &deleted)
	origin.Deleted = deleted != nil
	return origin, err
}

// Jobs lists the jobs of an account.
func (tx *ReadTx) Jobs(ctx context.Context, account string, filter jobs.Filter, request page.Request) (page.List[jobs.Job], error) {
	found := list{columns: jobColumns, table: jobTables, byDefault: "jobs.created_at DESC", tie: "key",
		sorts: sorts("key", "name", "updated_at", "next_run_at")}.of(account)
	found.sorts["created_at"] = "jobs.created_at"
	found.where("deleted_at IS NULL")
	found.search(filter.Search)
	found.is("enabled", filter.Enabled)
	found.equals("health", string(filter.Health))
	if filter.LastStatus != "" {
		found.where(``+lastStatus+` = ?`, string(filter.LastStatus))
	}
	list, err := pageOf(ctx, tx, found, request, tx.scanJob)
	if err != nil {
		return list, err
	}
	return list, tx.addLastRuns(ctx, account, list.Items)
}

// InsertJob writes a new job and counts it.
func (tx *Tx) InsertJob(ctx context.Context, j jobs.Job) error {
	if err := tx.count(ctx, j.Account, storedJobs, 1); err != nil {
		return err
	}
	policies, err := writePolicies(j)
	if err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO jobs (uid, account_id, key, name, description, enabled, schedule, request_id, lane, version, search,
		next_run_at, created_at, updated_at, timezone, overlap, retry, alerts, late_at, health, health_since)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
		j.UID, j.Account, j.Key, j.Name, j.Description, j.Enabled, j.Schedule, j.RequestID, j.Lane(), j.Version,
		searchable(j.Key, j.Name), microsOrNull(j.NextRunAt), micros(j.CreatedAt), micros(j.UpdatedAt), j.Timezone,
		string(cmp.Or(j.Overlap, jobs.OverlapAllow)), policies.retry, policies.alerts, microsOrNull(j.LateCheckAt()), string(cmp.Or(j.Health.State, jobs.HealthNew)), micros(cmp.Or(j.Health.Since, j.CreatedAt)))
}

// UpdateJob writes the fields of a job that may change. Pending runs move to the
// lane of the new destination, because they will send the new configuration.
func (tx *Tx) UpdateJob(ctx context.Context, j jobs.Job) error {
	if err := tx.run(ctx, `UPDATE run_queue SET lane = $2 WHERE job_uid = $1 AND status = 'PENDING' AND lane <> $2 AND lane < $3`, j.UID, j.Lane(), afterAll); err != nil {
		return err
	}
	policies, err := writePolicies(j)
	if err != nil {
		return err
	}
	return tx.run(ctx, `UPDATE jobs SET name = $2, description = $3, enabled = $4, schedule = $5, request_id = $6, lane = $7, version = $8,
		search = $9, next_run_at = $10, updated_at = $11, timezone = $12, overlap = $13, retry = $14, alerts = $15, late_at = $16,
		health = $17, health_since = $18, failures = $19, successes = $20, late_for = $21 WHERE uid = $1`,
		j.UID, j.Name, j.Description, j.Enabled, j.Schedule, j.RequestID, j.Lane(), j.Version,
		searchable(j.Key, j.Name), microsOrNull(j.NextRunAt), micros(j.UpdatedAt), j.Timezone,
		string(cmp.Or(j.Overlap, jobs.OverlapAllow)), policies.retry, policies.alerts, microsOrNull(j.LateCheckAt()),
		string(cmp.Or(j.Health.State, jobs.HealthNew)), micros(cmp.Or(j.Health.Since, j.CreatedAt)), j.Health.Failures, j.Health.Successes, microsOrNull(j.Health.LateFor))
}

// InsertJobRequest seals and stores a job's new configuration and corrects the count of bytes.
func (tx *Tx) InsertJobRequest(ctx context.Context, j jobs.Job) error {
	freed, err := tx.supersedeRequests(ctx, j.UID)
	if err != nil {
		return err
	}
	text, err := json.Marshal(j.Configuration.Plain())
	if err != nil {
		return err
	}
	hidden, err := tx.ring.Seal(jobRequests.place(j.RequestID), text)
	if err != nil {
		return err
	}
	if err := tx.count(ctx, j.Account, jobBytes, len(text)-freed); err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO job_requests (id, job_uid, sealed, bytes, created_at) VALUES ($1, $2, $3, $4, $5)`,
		j.RequestID, j.UID, hidden, len(text), micros(j.UpdatedAt))
}

// supersedeRequests marks a job's configurations as no longer in use, for retention, and returns their bytes.
func (tx *Tx) supersedeRequests(ctx context.Context, job string) (bytes int, err error) {
	sizes, err := all(ctx, tx.conn, scanInt,
		`UPDATE job_requests SET superseded_at = $2 WHERE job_uid = $1 AND superseded_at IS NULL RETURNING bytes`, job, micros(tx.now))
	for _, size := range sizes {
		bytes += size
	}
	return bytes, err
}

func (tx *ReadTx) unsealConfiguration(id string, hidden []byte) (jobs.Configuration, error) {
	text, err := tx.ring.Unseal(jobRequests.place(id), hidden)
	if err != nil {
		return jobs.Configuration{}, err
	}
	var plain jobs.Plain
	err = decode(string(text), &plain)
	return jobs.NewConfiguration(plain), err
}

// JobConfiguration returns a current or former configuration of a job, unless retention has removed it.
func (tx *ReadTx) JobConfiguration(ctx context.Context, account, id string) (jobs.Configuration, error) {
	scan := func(r row) (jobs.Configuration, error) {
		var hidden []byte
		if err := r.Scan(&hidden); err != nil {
			return jobs.Configuration{}, err
		}
		return tx.unsealConfiguration(id, hidden)
	}
	return one(ctx, tx.conn, fault.Missing("configuration", id), scan,
		`SELECT job_requests.sealed FROM job_requests JOIN jobs ON jobs.uid = job_requests.job_uid WHERE account_id = $1 AND id = $2`, account, id)
}

// DeleteJob marks a job deleted, cancels its pending runs and counts them.
func (tx *Tx) DeleteJob(ctx context.Context, j jobs.Job, at time.Time) (int, error) {
	if err := tx.run(ctx, `UPDATE jobs SET deleted_at = $2, enabled = $3, next_run_at = NULL, late_at = NULL WHERE uid = $1`, j.UID, micros(at), false); err != nil {
		return 0, err
	}
	freed, err := tx.supersedeRequests(ctx, j.UID)
	if err != nil {
		return 0, err
	}
	if err := tx.countAll(ctx, j.Account, map[total]int{jobBytes: -freed, storedJobs: -1}); err != nil {
		return 0, err
	}
	ended, _, err := tx.end(ctx, canceled("", "$2", `run_queue.job_uid = $1 AND run_queue.status = 'PENDING'`), j.UID, micros(at))
	return len(ended), err
}

// ActiveJobs counts the enabled jobs of an account.
func (tx *ReadTx) ActiveJobs(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, enabledJobs)
}

// AddActiveJobs adds to the count of enabled jobs.
func (tx *Tx) AddActiveJobs(ctx context.Context, account string, more int) error {
	return tx.count(ctx, account, enabledJobs, more)
}

// LockActiveJobs locks the counts of enabled jobs of accounts that no other transaction has locked, and returns the other
// accounts.
func (tx *Tx) LockActiveJobs(ctx context.Context, accounts []string) (busy []string, err error) {
	if tx.dialect.skipBusy == "" {
		return nil, nil
	}
	counts := `SELECT account_id FROM account_totals WHERE what = $1 AND account_id `
	free, err := among(ctx, &tx.ReadTx, scanString, counts, string(enabledJobs), accounts, tx.dialect.skipBusy)
	if err != nil || len(free) == len(accounts) {
		return nil, err
	}
	counted, err := among(ctx, &tx.ReadTx, scanString, counts, string(enabledJobs), accounts)
	return slices.DeleteFunc(counted, func(account string) bool { return slices.Contains(free, account) }), err
}

// Stored returns how many jobs an account has, and the bytes of their configurations.
func (tx *ReadTx) Stored(ctx context.Context, account string) (stored jobs.Stored, err error) {
	if stored.Jobs, err = tx.total(ctx, account, storedJobs); err != nil {
		return stored, err
	}
	stored.ConfigurationBytes, err = tx.total(ctx, account, jobBytes)
	return stored, err
}

// RunsUsed counts the runs of an account that were metered in a month.
func (tx *ReadTx) RunsUsed(ctx context.Context, account, period string) (int, error) {
	return scalar(ctx, tx.conn, scanInt,
		`SELECT COALESCE(max(used), 0) FROM job_usage WHERE account_id = $1 AND period = $2`, account, period)
}

// MeterRuns adds to the number of an account's runs in a month, and locks that number.
func (tx *Tx) MeterRuns(ctx context.Context, account, period string, more int) error {
	return tx.run(ctx, `INSERT INTO job_usage (account_id, period, used) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, period) DO UPDATE SET used = job_usage.used + excluded.used`, account, period, more)
}
