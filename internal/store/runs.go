package store

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/page"
)

const (
	// smallBody is the largest body that is stored in its run's row.
	smallBody = 1 << 10
	// runOverhead is about the size of a run besides its request and its result.
	runOverhead = 1 << 10
)

const (
	runTables  = `runs LEFT JOIN run_bodies ON run_bodies.run_id = runs.id LEFT JOIN job_requests ON job_requests.id = runs.request_id`
	runColumns = `runs.id, account_id, runs.job_uid, job_key, lane, job_version, trigger, rerun_of, scheduled_for, attempt, not_before, due_at, retried, status, failure_reason,
	error, result, run_bodies.encoding, run_bodies.body, COALESCE(request_id, ''),
	COALESCE(job_requests.bytes, 0), runs.created_at, started_at, finished_at`
)

// runRow is a run whose request has not been read.
type runRow struct {
	jobs.Run

	request string // the id of the configuration; "" for none
	size    int    // in the response
}

func scanRun(r row) (run runRow, err error) {
	var result, encoding *string
	var body []byte
	if err := r.Scan(&run.ID, &run.Account, &run.JobUID, &run.JobKey, &run.Lane, &run.JobVersion, &run.Trigger, &run.RerunOf,
		asTimeOrNull(&run.ScheduledFor), &run.Attempt, asTimeOrNull(&run.NotBefore), asTimeOrNull(&run.DueAt), &run.Retried, &run.Status, &run.Reason, &run.Error, &result, &encoding, &body, &run.request, &run.size,
		asTime(&run.CreatedAt), asTimeOrNull(&run.StartedAt), asTimeOrNull(&run.FinishedAt)); err != nil {
		return run, err
	}
	if run.size += runOverhead; result == nil {
		return run, nil
	}
	run.size += len(*result)
	if err = decode(*result, &run.Result); err == nil && encoding != nil {
		run.Result.Body, err = expand(*encoding, body)
		run.size += writtenSize(run.Result.Body)
	}
	return run, err
}

// writtenSize returns the size of a text as a JSON string.
func writtenSize(text string) int {
	size := len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
			size++
		case c < ' ':
			size += 5
		}
	}
	return size
}

// withRequests returns runs with the requests they sent. A request that many runs sent is unsealed once.
func (tx *ReadTx) withRequests(ctx context.Context, rows []runRow) ([]jobs.Run, error) {
	sent := map[string]*jobs.Request{}
	for _, row := range rows {
		sent[row.request] = nil
	}
	found, err := tx.configurations(ctx, slices.Collect(maps.Keys(sent)), func(string, error) {}) // the worker has logged it
	if err != nil {
		return nil, err
	}
	for id, configuration := range found {
		sent[id] = configuration.Snapshot()
	}
	runs := make([]jobs.Run, len(rows))
	for i, row := range rows {
		runs[i] = row.Run
		runs[i].Request = sent[row.request]
	}
	return runs, nil
}

// Run returns a run of an account.
func (tx *ReadTx) Run(ctx context.Context, account, id string) (jobs.Run, error) {
	row, err := one(ctx, tx.conn, fault.Missing(jobs.KindRun, id), scanRun,
		`SELECT `+runColumns+` FROM `+runTables+` WHERE runs.id = $2 AND account_id = $1`, account, id)
	if err != nil {
		return jobs.Run{}, err
	}
	runs, err := tx.withRequests(ctx, []runRow{row})
	if err != nil {
		return jobs.Run{}, err
	}
	return runs[0], nil
}

// Runs returns the runs of an account before the cursor, newest first.
func (tx *ReadTx) Runs(ctx context.Context, account string, filter jobs.RunFilter, cursor page.Cursor) (page.Tail[jobs.Run], error) {
	found := filterRuns(account, filter)
	if cursor.After != "" {
		found.where("runs.id < ?", cursor.After)
	}
	rows, err := tailOf(ctx, tx, found, cursor.Size, scanRun, func(run runRow) int { return run.size })
	if err != nil {
		return page.Tail[jobs.Run]{}, err
	}
	runs, err := tx.withRequests(ctx, rows.Items)
	return page.Tail[jobs.Run]{Items: runs, More: rows.More}, err
}

// idSlack is more than the difference between the time in a run's id and the time it was queued.
const idSlack = time.Hour

// filterRuns returns the query of an account's runs. It repeats the conditions of partial indexes, so that they are used.
func filterRuns(account string, filter jobs.RunFilter) *list {
	found := list{columns: runColumns, table: runTables, byDefault: "runs.id DESC"}.of(account)
	found.where("account_id <> ''")
	found.equals("job_key", filter.Job)
	switch filter.Status {
	case "":
	case jobs.Pending:
		found.where("queued = TRUE AND status = 'PENDING'")
	case jobs.Running:
		found.where("queued = TRUE AND status = 'RUNNING'")
	case jobs.Succeeded:
		found.where("queued = FALSE AND status = 'SUCCEEDED'")
	case jobs.Failed, jobs.Canceled:
		found.where("queued = FALSE AND status IN ('FAILED', 'CANCELED') AND status = ?", string(filter.Status))
	}
	switch filter.Trigger {
	case "":
	case jobs.OnSchedule:
		found.where("trigger = 'SCHEDULE'")
	case jobs.Manual, jobs.Rerun:
		found.where("trigger <> 'SCHEDULE' AND trigger = ?", string(filter.Trigger))
	}
	if !filter.From.IsZero() {
		found.where("runs.created_at >= ? AND runs.id >= ?", micros(filter.From), firstID(filter.From.Add(-idSlack)))
	}
	if !filter.To.IsZero() {
		found.where("runs.created_at < ? AND runs.id < ?", micros(filter.To), firstID(filter.To.Add(idSlack)))
	}
	return found
}

// The encodings of a body. Nodes of 0.1.0 wrote deflate: JSON is about 40 % smaller than with S2, and compressing it takes three
// times as long, which was half of the processor time of a run with 64 KiB.
const (
	rawBody     = "raw"
	s2Body      = "s2"
	deflateBody = "deflate"
)

// packer holds the memory in which one body after the other is compressed.
type packer struct{ body, small []byte }

//nolint:gochecknoglobals // a pool holds no state
var packers = sync.Pool{New: func() any { return &packer{} }}

// compact compresses a body when that makes it smaller.
func compact(body string) (encoding string, stored []byte) {
	p := packers.Get().(*packer)
	defer packers.Put(p)
	p.body = append(p.body[:0], body...)
	p.small = s2.Encode(p.small[:cap(p.small)], p.body)
	if len(p.small) >= len(body) {
		return rawBody, []byte(body)
	}
	return s2Body, bytes.Clone(p.small)
}

func expand(encoding string, stored []byte) (body string, err error) {
	expanded := stored
	switch encoding {
	case s2Body:
		expanded, err = s2.Decode(nil, stored)
	case deflateBody:
		expanded, err = io.ReadAll(flate.NewReader(bytes.NewReader(stored)))
	}
	if err != nil {
		return "", fmt.Errorf("a stored body is damaged: %w", err)
	}
	return string(expanded), nil
}
