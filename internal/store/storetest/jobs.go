package storetest

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/store"
)

// OpenSealed opens a database as a node does: with the key ring that its nodes
// share.
func OpenSealed(t testing.TB, database Database, change ...func(*store.Options)) *store.DB {
	t.Helper()
	db := database.Open(t, change...)
	ring, err := sealed.OpenOrCreate(filepath.Join(database.Dir, "keyring"))
	must(t, err)
	db.SealWith(ring)
	return db
}

// ReadRun returns a run.
func ReadRun(t testing.TB, db *store.DB, account, id string) jobs.Run {
	t.Helper()
	return find(t, db, (*store.ReadTx).Run, account, id)
}

// ReadRuns returns the newest runs of an account, up to 10,000.
func ReadRuns(t testing.TB, db *store.DB, account string) []jobs.Run {
	t.Helper()
	return list(t, db, (*store.ReadTx).Runs, account, jobs.RunFilter{}, page.Cursor{Size: 10_000}).Items
}

// NewJob returns an enabled job with a schedule of every minute. It does not fire
// before its NextRunAt is set.
func NewJob(account, key, url string) jobs.Job {
	return jobs.Job{Account: account, UID: newID(), Key: key, RequestID: newID(), Name: key, Enabled: true, Type: jobs.HTTP, Schedule: "* * * * *", Overlap: jobs.OverlapAllow,
		Health:      jobs.Health{State: jobs.HealthNew, Since: at(1)},
		Concurrency: jobs.Allow, CreatedAt: at(1), UpdatedAt: at(2), Version: 1,
		Configuration: jobs.NewConfiguration(jobs.Plain{Method: "POST", URL: url, Headers: []jobs.Header{}, SuccessStatus: "2xx", TLSVerify: true, Timeout: 30})}
}

// AddJobs writes jobs.
func AddJobs(t testing.TB, db *store.DB, added ...jobs.Job) {
	t.Helper()
	do(t, db, added[0].Account, func(ctx context.Context, tx *store.Tx) error {
		for _, job := range added {
			if err := tx.InsertJob(ctx, job); err != nil {
				return err
			}
			if err := tx.InsertJobRequest(ctx, job); err != nil {
				return err
			}
		}
		return nil
	})
}

// NewRun returns a pending run of a job, started by hand.
func NewRun(job jobs.Job) jobs.Run {
	return jobs.Run{ID: newID(), Account: job.Account, JobUID: job.UID, JobKey: job.Key, Lane: job.Lane(), Trigger: jobs.Manual, Attempt: 1, Status: jobs.Pending, CreatedAt: at(3)}
}

// Queue queues runs of a job and returns their ids.
func Queue(t testing.TB, db *store.DB, job jobs.Job, count int) []string {
	t.Helper()
	runs, ids := make([]jobs.Run, count), make([]string, count)
	for i := range runs {
		runs[i] = NewRun(job)
		ids[i] = runs[i].ID
	}
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.InsertRuns(ctx, runs) })
	return ids
}

// oddJob returns a job with everything that a job can have.
func oddJob(account, key string) jobs.Job {
	job := NewJob(account, key, "https://user:secret@example.com/a?b=c")
	description, next, body, cert := oddText, at(9), oddText, oddText
	job.Name, job.Description, job.NextRunAt = oddText, &description, &next
	job.Configuration = jobs.NewConfiguration(jobs.Plain{Method: "PUT", URL: "https://user:secret@example.com/a?b=c", SuccessStatus: "418",
		Headers: []jobs.Header{{Name: "X-Token", Value: oddText}, {Name: "x-token", Value: ""}}, CACert: &cert, Body: &body, Timeout: 3})
	return job
}

func readJob(t *testing.T, db *store.DB, account, key string) jobs.Job {
	t.Helper()
	return find(t, db, (*store.ReadTx).Job, account, key)
}

func jobConcept(t *testing.T, shared *store.DB) {
	db := OpenSealed(t, New(t, shared.Name())) // sealed values need a ring of their own
	ctx, account, other := t.Context(), newAccount(t, db).ID, newAccount(t, db).ID
	t.Run("round trip", func(t *testing.T) {
		job := oddJob(account, "odd")
		AddJobs(t, db, job)
		got := readJob(t, db, account, "odd")
		same(t, got.Configuration.Plain(), job.Configuration.Plain())
		same(t, []any{got.UID, got.Name, *got.Description, got.Enabled, got.Schedule, got.RequestID, *got.NextRunAt, got.CreatedAt, got.UpdatedAt, got.Version},
			[]any{job.UID, oddText, oddText, true, job.Schedule, job.RequestID, at(9), at(1), at(2), 1})
		lacks(t, db, (*store.ReadTx).Job, other, "odd")
		lacks(t, db, (*store.ReadTx).Job, account, "ODD")
		same(t, find(t, db, (*store.ReadTx).JobConfiguration, account, job.RequestID).Plain(), job.Configuration.Plain())
		lacks(t, db, (*store.ReadTx).JobConfiguration, other, job.RequestID)
		lacks(t, db, (*store.ReadTx).JobConfiguration, account, newID())
	})
	t.Run("key is free after deletion", func(t *testing.T) { jobKeys(t, db, account) })
	t.Run("update", func(t *testing.T) { jobChanges(t, db, account) })
	t.Run("delete cancels pending runs", func(t *testing.T) { jobDeletion(t, db, account) })
	t.Run("list", func(t *testing.T) { jobLists(t, db) })
	t.Run("newest run", func(t *testing.T) { lastRuns(t, db) })
	t.Run("finished runs by day", func(t *testing.T) { finishedRuns(t, db) })
	t.Run("count of enabled jobs", func(t *testing.T) {
		counted := newAccount(t, db).ID
		for _, more := range []int{3, -1} {
			do(t, db, counted, func(ctx context.Context, tx *store.Tx) error { return tx.AddActiveJobs(ctx, counted, more) })
		}
		same(t, of(t, db, (*store.ReadTx).ActiveJobs, counted), 2)
		same(t, of(t, db, (*store.ReadTx).ActiveJobs, other), 0)
	})
	t.Run("stored totals", func(t *testing.T) { storedJobs(t, db) })
	t.Run("domain transactions", func(t *testing.T) {
		must(t, db.Jobs().Read(ctx, func(ctx context.Context, tx jobs.ReadTx) error { _, err := tx.Job(ctx, account, "odd"); return err }))
	})
	t.Run("re-seal", func(t *testing.T) { jobSeals(t, New(t, shared.Name())) })
	t.Run("re-seal beside a damaged value", func(t *testing.T) { damagedSeals(t, New(t, shared.Name())) })
	t.Run("re-seal does not undo a change", func(t *testing.T) { contestedSeals(t, New(t, shared.Name())) })
	t.Run("re-seal large values in several transactions", func(t *testing.T) { largeSeals(t, New(t, shared.Name())) })
}

func storedJobs(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	stored := func() jobs.Stored {
		return of(t, db, (*store.ReadTx).Stored, account)
	}
	same(t, stored(), jobs.Stored{})
	first, second := NewJob(account, "first", "http://a/"), NewJob(account, "second", "http://a/")
	AddJobs(t, db, first, second)
	size := stored().ConfigurationBytes / 2
	same(t, stored(), jobs.Stored{Jobs: 2, ConfigurationBytes: 2 * size})
	first.RequestID = newID()
	plain := first.Configuration.Plain()
	plain.URL = "http://a/\n" // two bytes longer as JSON
	first.Configuration = jobs.NewConfiguration(plain)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertJobRequest(ctx, first) })
	same(t, stored(), jobs.Stored{Jobs: 2, ConfigurationBytes: 2*size + 2})
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { _, err := tx.DeleteJob(ctx, first, at(5)); return err })
	same(t, stored(), jobs.Stored{Jobs: 1, ConfigurationBytes: size})
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { _, err := tx.DeleteJob(ctx, second, at(5)); return err })
	same(t, stored(), jobs.Stored{})
}

func jobKeys(t *testing.T, db *store.DB, account string) {
	ctx, first := t.Context(), NewJob(account, "again", "http://a/")
	AddJobs(t, db, first)
	err := db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error {
		return tx.InsertJob(ctx, NewJob(account, "again", "http://b/"))
	})
	refused(t, err, fault.AlreadyExists)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { _, err := tx.DeleteJob(ctx, first, at(5)); return err })
	lacks(t, db, (*store.ReadTx).Job, account, "again")
	second := NewJob(account, "again", "http://b/")
	AddJobs(t, db, second)
	same(t, readJob(t, db, account, "again").UID, second.UID)
}

func jobChanges(t *testing.T, db *store.DB, account string) {
	ctx, job := t.Context(), NewJob(account, "changed", "http://a/")
	AddJobs(t, db, job)
	changed := oddJob(account, "changed")
	changed.UID, changed.Enabled, changed.Schedule, changed.Version, changed.UpdatedAt = job.UID, false, jobs.Now, 7, at(77)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		if _, err := tx.JobToChange(ctx, account, "changed"); err != nil {
			return err
		}
		if err := tx.InsertJobRequest(ctx, changed); err != nil {
			return err
		}
		return tx.UpdateJob(ctx, changed)
	})
	got := readJob(t, db, account, "changed")
	same(t, []any{got.Name, *got.Description, got.Enabled, got.Schedule, got.RequestID, *got.NextRunAt, got.Version, got.UpdatedAt, got.CreatedAt},
		[]any{oddText, oddText, false, jobs.Now, changed.RequestID, at(9), 7, at(77), at(1)})
	same(t, got.Configuration.Plain().URL, changed.Configuration.Plain().URL)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		origin, err := tx.JobToRun(ctx, account, "changed")
		same(t, origin, jobs.Origin{Account: account, UID: job.UID, Key: "changed", Lane: changed.Lane(), Overlap: jobs.OverlapAllow})
		return err
	})
	for name, read := range map[string]func(ctx context.Context, tx *store.Tx) error{
		"no job to change": func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.JobToChange(ctx, account, "nothing")
			return err
		},
		"no job to run": func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.JobToRun(ctx, account, "nothing")
			return err
		},
		"no job of a run": func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.JobOfRun(ctx, account, newID())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { refused(t, db.Write(ctx, account, read), fault.NotFound) })
	}
}

func jobDeletion(t *testing.T, db *store.DB, account string) {
	job, next := NewJob(account, "gone", "http://gone/"), at(9)
	job.NextRunAt = &next
	AddJobs(t, db, job)
	running := Queue(t, db, job, 1)[0]
	claim(t, db, job.Lane(), "boot", 1)
	waiting := Queue(t, db, job, 2)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { _, err := tx.DeleteJob(ctx, job, at(6)); return err })
	for _, id := range waiting {
		run := ReadRun(t, db, account, id)
		same(t, []any{run.Status, *run.FinishedAt}, []any{jobs.Canceled, at(6)})
	}
	same(t, ReadRun(t, db, account, running).Status, jobs.Running)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		origin, err := tx.JobOfRun(ctx, account, running)
		same(t, []any{origin.UID, origin.Deleted}, []any{job.UID, true})
		return err
	})
}

func jobLists(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	var written []jobs.Job
	for i, name := range oddNames() {
		job := NewJob(account, fmt.Sprintf("k%02d", i), "http://a/")
		next := at(1000 - i)
		job.Name, job.Enabled, job.CreatedAt, job.UpdatedAt = name, i%3 != 0, at(i/2), at(100-i)
		if job.Enabled {
			job.NextRunAt = &next
		}
		written = append(written, job)
	}
	AddJobs(t, db, written...)
	filtered := func(filter jobs.Filter) int {
		return len(matches(t, db, (*store.ReadTx).Jobs, account, filter))
	}
	same(t, filtered(jobs.Filter{Enabled: optional.Of(true)})+filtered(jobs.Filter{Enabled: optional.Of(false)}), len(written))
	same(t, filtered(jobs.Filter{Search: "K0"}), 10)
	same(t, filtered(jobs.Filter{Search: "日本"}), 1)
	listing[jobs.Job, jobs.Filter]{
		read: (*store.ReadTx).Jobs, id: func(job jobs.Job) string { return job.Key },
		byDefault: "created_at", newestFirst: true, fields: []string{"key", "name", "created_at", "updated_at", "next_run_at"},
	}.check(t, db, account, written)
}

// jobSeals rotates the key that seals configurations.
func jobSeals(t *testing.T, database Database) {
	ctx, db := t.Context(), database.Open(t)
	ring, file := newRingFile(t)
	db.SealWith(ring)
	account := newAccount(t, db).ID
	var written []jobs.Job
	for i := range 250 { // more than one batch
		written = append(written, NewJob(account, fmt.Sprint("j", i), "http://canary-secret/"))
	}
	AddJobs(t, db, written...)
	raw := database.Raw(t)
	var sealedText []byte
	if err := raw.QueryRowContext(ctx, `SELECT sealed FROM job_requests LIMIT 1`).Scan(&sealedText); err != nil || bytes.Contains(sealedText, []byte("canary")) {
		t.Errorf("the configuration is not sealed: %v", err)
	}
	rotate(t, ring)
	for _, want := range []int{len(written), 0} {
		same(t, resealed(t, db, ring), store.Resealed{Values: want})
	}
	removeOldKeys(t, ring, file)
	same(t, readJob(t, db, account, "j7").Configuration.Plain().URL, "http://canary-secret/")
}

// AllRuns returns all runs of an account.
func AllRuns(t testing.TB, db *store.DB, account string) (found []jobs.Run) {
	t.Helper()
	cursor := page.Cursor{Size: 100}
	for {
		tail := list(t, db, (*store.ReadTx).Runs, account, jobs.RunFilter{}, cursor)
		if found = append(found, tail.Items...); !tail.More {
			return found
		}
		cursor.After = found[len(found)-1].ID
	}
}
