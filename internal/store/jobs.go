package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/page"
)

// Jobs is the store as package jobs asks for it.
func (db *DB) Jobs() Rooms[jobs.ReadTx, jobs.Tx] {
	return NewRooms(db,
		func(tx *ReadTx) jobs.ReadTx { return tx },
		func(tx *Tx) jobs.Tx { return tx })
}

// maxPageConfigurations bounds the configurations of one page of jobs: each
// may have a body of a mebibyte.
const maxPageConfigurations = 64 << 20

const (
	jobTables  = `jobs JOIN job_requests ON job_requests.id = jobs.request_id`
	jobColumns = `jobs.account_id, uid, key, name, description, enabled, schedule, request_id, job_requests.sealed, version, next_run_at,
	jobs.created_at, updated_at, deleted_at`
)

func (tx *ReadTx) scanJob(r row) (jobs.Job, error) {
	job := jobs.Job{Type: jobs.HTTP, Concurrency: jobs.Allow}
	var hidden []byte
	var next, deleted *int64
	var created, updated int64
	if err := r.Scan(&job.Account, &job.UID, &job.Key, &job.Name, &job.Description, &job.Enabled, &job.Schedule, &job.RequestID,
		&hidden, &job.Version, &next, &created, &updated, &deleted); err != nil {
		return job, err
	}
	job.NextRunAt, job.DeletedAt = instantOrNil(next), instantOrNil(deleted)
	job.CreatedAt, job.UpdatedAt = instant(created), instant(updated)
	var err error
	job.Configuration, err = tx.unsealConfiguration(job.RequestID, hidden)
	return job, err
}

// Job gives a job of an account.
func (tx *ReadTx) Job(ctx context.Context, account, key string) (jobs.Job, error) {
	return tx.job(ctx, account, key, "")
}

// JobToChange gives a job that nobody else changes, or fires, until the
// transaction ends.
func (tx *Tx) JobToChange(ctx context.Context, account, key string) (jobs.Job, error) {
	return tx.job(ctx, account, key, tx.dialect.forUpdate)
}

// JobToRun gives a job that nobody deletes until the transaction ends.
func (tx *Tx) JobToRun(ctx context.Context, account, key string) (jobs.Job, error) {
	return tx.job(ctx, account, key, tx.dialect.forShare)
}

func (tx *ReadTx) job(ctx context.Context, account, key, lock string) (jobs.Job, error) {
	return one(ctx, tx.conn, fault.Missing(jobs.Kind, key), tx.scanJob,
		`SELECT `+jobColumns+` FROM `+jobTables+` WHERE account_id = $1 AND key = $2 AND deleted_at IS NULL`+lock, account, key)
}

// JobOfRun gives the job that a run came from, deleted or not.
func (tx *Tx) JobOfRun(ctx context.Context, account, run string) (jobs.Job, error) {
	uid, err := one(ctx, tx.conn, fault.Missing(jobs.KindRun, run), scanString,
		`SELECT job_uid FROM runs WHERE account_id = $1 AND id = $2`, account, run)
	if err != nil {
		return jobs.Job{}, err
	}
	return one(ctx, tx.conn, fault.Missing(jobs.Kind, uid), tx.scanJob,
		`SELECT `+jobColumns+` FROM `+jobTables+` WHERE uid = $1`+tx.dialect.forShare, uid)
}

// Jobs lists the jobs of an account.
func (tx *ReadTx) Jobs(ctx context.Context, account string, filter jobs.Filter, request page.Request) (page.List[jobs.Job], error) {
	found := &list{columns: jobColumns, table: jobTables, byDefault: "jobs.created_at DESC", tie: "key",
		sorts: map[string]string{"key": "key", "name": "name", "created_at": "jobs.created_at", "updated_at": "updated_at", "next_run_at": "next_run_at"}}
	found.where("account_id = ?", account)
	found.where("deleted_at IS NULL")
	found.search(filter.Search)
	if enabled, sent := filter.Enabled.Get(); sent {
		found.where("enabled = ?", enabled)
	}
	total := 0
	return pageOf(ctx, tx, found, request, func(r row) (jobs.Job, error) {
		job, err := tx.scanJob(r)
		if total += job.Configuration.Size(); err == nil && total > maxPageConfigurations {
			err = fault.New(fault.InvalidParameter, "The configurations of these jobs have more than %d MiB together: ask for a smaller page.",
				maxPageConfigurations>>20).At(fault.Parameter("page[size]"))
		}
		return job, err
	})
}

// InsertJob writes a new job.
func (tx *Tx) InsertJob(ctx context.Context, j jobs.Job) error {
	return tx.run(ctx, `INSERT INTO jobs (uid, account_id, key, name, description, enabled, schedule, request_id, lane, version, search,
		next_run_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		j.UID, j.Account, j.Key, j.Name, j.Description, j.Enabled, j.Schedule, j.RequestID, j.Lane(), j.Version,
		searchable(j.Key, j.Name), microsOrNull(j.NextRunAt), micros(j.CreatedAt), micros(j.UpdatedAt))
}

// UpdateJob writes what may change of a job.
func (tx *Tx) UpdateJob(ctx context.Context, j jobs.Job) error {
	return tx.run(ctx, `UPDATE jobs SET name = $2, description = $3, enabled = $4, schedule = $5, request_id = $6, lane = $7, version = $8,
		search = $9, next_run_at = $10, updated_at = $11 WHERE uid = $1`,
		j.UID, j.Name, j.Description, j.Enabled, j.Schedule, j.RequestID, j.Lane(), j.Version,
		searchable(j.Key, j.Name), microsOrNull(j.NextRunAt), micros(j.UpdatedAt))
}

// InsertJobRequest seals and stores a configuration that a job has from now on.
func (tx *Tx) InsertJobRequest(ctx context.Context, j jobs.Job) error {
	if err := tx.supersedeRequests(ctx, j.UID); err != nil {
		return err
	}
	text, err := json.Marshal(j.Configuration.Plain())
	if err != nil {
		return err
	}
	hidden, err := tx.ring.Seal(jobRequestColumn().place(j.RequestID), text)
	if err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO job_requests (id, job_uid, sealed, created_at) VALUES ($1, $2, $3, $4)`,
		j.RequestID, j.UID, hidden, micros(j.UpdatedAt))
}

// supersedeRequests notes that no run will use the stored configurations of a
// job any more, so that they can be removed with the last run that did.
func (tx *Tx) supersedeRequests(ctx context.Context, job string) error {
	return tx.run(ctx, `UPDATE job_requests SET superseded_at = $2 WHERE job_uid = $1 AND superseded_at IS NULL`, job, micros(tx.now))
}

func (tx *ReadTx) unsealConfiguration(id string, hidden []byte) (jobs.Configuration, error) {
	text, err := tx.ring.Unseal(jobRequestColumn().place(id), hidden)
	if err != nil {
		return jobs.Configuration{}, err
	}
	var plain jobs.Plain
	err = decode(string(text), &plain)
	return jobs.NewConfiguration(plain), err
}

// DeleteJob marks a job deleted and cancels its pending runs.
func (tx *Tx) DeleteJob(ctx context.Context, j jobs.Job, at time.Time) error {
	if err := tx.run(ctx, `UPDATE jobs SET deleted_at = $2, enabled = $3, next_run_at = NULL WHERE uid = $1`, j.UID, micros(at), false); err != nil {
		return err
	}
	if err := tx.supersedeRequests(ctx, j.UID); err != nil {
		return err
	}
	return tx.run(ctx, `UPDATE runs SET status = 'CANCELED', finished_at = $2 WHERE job_uid = $1 AND status = 'PENDING'`, j.UID, micros(at))
}

// ActiveJobs counts the enabled jobs of an account.
func (tx *ReadTx) ActiveJobs(ctx context.Context, account string) (int, error) {
	return tx.RunsUsed(ctx, account, enabledJobs)
}

// enabledJobs stands where a month does, for the count that has none.
const enabledJobs = ""

// AddActiveJobs counts enabled jobs up or down.
func (tx *Tx) AddActiveJobs(ctx context.Context, account string, more int) error {
	return tx.MeterRuns(ctx, account, enabledJobs, more)
}

// RunsUsed counts the runs of an account that were metered in a month.
func (tx *ReadTx) RunsUsed(ctx context.Context, account, period string) (int, error) {
	return one(ctx, tx.conn, nil, scanInt,
		`SELECT COALESCE(sum(used), 0) FROM job_usage WHERE account_id = $1 AND period = $2`, account, period)
}

// MeterRuns counts runs of an account in a month. Nobody else counts there
// until the transaction ends.
func (tx *Tx) MeterRuns(ctx context.Context, account, period string, more int) error {
	return tx.run(ctx, `INSERT INTO job_usage (account_id, period, used) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, period) DO UPDATE SET used = job_usage.used + excluded.used`, account, period, more)
}
