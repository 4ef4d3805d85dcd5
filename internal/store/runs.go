package store

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/page"
)

const (
	// smallBody is what a response's body may have to be kept in its run's row.
	smallBody = 1 << 10
	// maxRunsBytes bounds the bodies of one page of runs.
	maxRunsBytes = 8 << 20
)

const (
	runTables = `runs LEFT JOIN run_bodies ON run_bodies.run_id = runs.id LEFT JOIN job_requests ON job_requests.id = runs.request_id`
	// A run that has not started shows no request.
	runColumns = `runs.id, account_id, runs.job_uid, job_key, lane, job_version, trigger, rerun_of, scheduled_for, status, failure_reason,
	error, result, run_bodies.encoding, run_bodies.body, request_id, job_requests.sealed, runs.created_at, started_at, finished_at`
)

func (tx *ReadTx) scanRun(r row) (jobs.Run, error) {
	var run jobs.Run
	var result, encoding, request *string
	var body, hidden []byte
	var scheduled, started, finished *int64
	var created int64
	if err := r.Scan(&run.ID, &run.Account, &run.JobUID, &run.JobKey, &run.Lane, &run.JobVersion, &run.Trigger, &run.RerunOf,
		&scheduled, &run.Status, &run.Reason, &run.Error, &result, &encoding, &body, &request, &hidden, &created, &started, &finished); err != nil {
		return run, err
	}
	run.ScheduledFor, run.CreatedAt = instantOrNil(scheduled), instant(created)
	run.StartedAt, run.FinishedAt = instantOrNil(started), instantOrNil(finished)
	if request != nil && hidden != nil {
		configuration, err := tx.unsealConfiguration(*request, hidden)
		if err != nil {
			return run, err
		}
		run.Request = configuration.Snapshot()
	}
	return run, decodeResult(&run, result, encoding, body)
}

func decodeResult(run *jobs.Run, result, encoding *string, body []byte) error {
	if result == nil {
		return nil
	}
	run.Result = &jobs.Result{}
	if err := decode(*result, run.Result); err != nil {
		return err
	}
	if encoding == nil {
		return nil
	}
	text, err := expand(*encoding, body)
	run.Result.Body = text
	return err
}

// Run gives a run of an account.
func (tx *ReadTx) Run(ctx context.Context, account, id string) (jobs.Run, error) {
	return one(ctx, tx.conn, fault.Missing(jobs.KindRun, id), tx.scanRun,
		`SELECT `+runColumns+` FROM `+runTables+` WHERE runs.id = $2 AND account_id = $1`, account, id)
}

// Runs gives the runs of an account before one, newest first: as many as asked
// for, or fewer when they are large.
func (tx *ReadTx) Runs(ctx context.Context, account string, filter jobs.RunFilter, cursor page.Cursor) (page.Tail[jobs.Run], error) {
	found := &list{columns: runColumns, table: runTables}
	found.where("account_id = ?", account)
	if cursor.After != "" {
		found.where("runs.id < ?", cursor.After)
	}
	if filter.Job != "" {
		found.where("job_key = ?", filter.Job)
	}
	switch filter.Status {
	case "":
	case jobs.Failed, jobs.Canceled:
		found.where("status IN ('FAILED', 'CANCELED') AND status = ?", string(filter.Status)) // names the partial index
	default:
		found.where("status = ?", string(filter.Status))
	}
	switch filter.Trigger {
	case "":
	case jobs.OnSchedule:
		found.where("trigger = 'SCHEDULE'")
	default:
		found.where("trigger <> 'SCHEDULE' AND trigger = ?", string(filter.Trigger))
	}
	if !filter.From.IsZero() {
		found.where("runs.created_at >= ?", micros(filter.From))
	}
	if !filter.To.IsZero() {
		found.where("runs.created_at < ?", micros(filter.To))
	}
	query := fmt.Sprintf("SELECT %s%s ORDER BY runs.id DESC LIMIT $%d", found.columns, found.from(), len(found.args)+1)
	runs, cut, err := some(ctx, tx.conn, tx.scanRun, runsWithinBudget(), query, append(found.args, cursor.Size+1)...)
	tail := page.Cut(runs, cursor.Size)
	tail.More = tail.More || cut
	return tail, err
}

// runsWithinBudget keeps runs until their bodies are too large together; the
// first is always kept.
func runsWithinBudget() func(jobs.Run) bool {
	total := 0
	return func(run jobs.Run) bool {
		first := total == 0
		total++
		if run.Result != nil {
			total += len(run.Result.Body)
		}
		if run.Request != nil && run.Request.Body != nil {
			total += len(*run.Request.Body)
		}
		return first || total <= maxRunsBytes
	}
}

// InsertRuns writes pending runs. A job that has a run for an instant already
// gets no other.
func (tx *Tx) InsertRuns(ctx context.Context, runs []jobs.Run) error {
	rows := make([][]any, len(runs))
	for i, r := range runs {
		rows[i] = []any{r.ID, r.Account, r.JobUID, r.JobKey, r.Lane, string(r.Trigger), r.RerunOf, microsOrNull(r.ScheduledFor),
			string(r.Status), micros(r.CreatedAt)}
	}
	return inserts(ctx, tx, `INSERT INTO runs (id, account_id, job_uid, job_key, lane, trigger, rerun_of, scheduled_for, status, created_at) VALUES`,
		`ON CONFLICT DO NOTHING`, rows)
}

// notBeforeQueued is an instant of a transaction, or when a run was queued if
// that was later: it may have been queued by another transaction that began
// after this one and ended before.
func notBeforeQueued(instant string) string {
	return `CASE WHEN runs.created_at > ` + instant + ` THEN runs.created_at ELSE ` + instant + ` END`
}

// CancelRun ends a run that has not ended and tells whether it did.
func (tx *Tx) CancelRun(ctx context.Context, account, id string, at time.Time) (bool, error) {
	ended, err := all(ctx, tx.conn, scanString, `UPDATE runs SET status = 'CANCELED', finished_at = `+notBeforeQueued("$3")+`
		WHERE account_id = $1 AND id = $2 AND status IN ('PENDING', 'RUNNING') RETURNING id`, account, id, micros(at))
	if err != nil || len(ended) == 0 || tx.dialect.notifyRun == "" {
		return len(ended) > 0, err
	}
	return true, tx.run(ctx, tx.dialect.notifyRun, id)
}

// The encodings of a body.
const (
	rawBody     = "raw"
	deflateBody = "deflate"
)

// deflaters are expensive to make and are used again.
//
//nolint:gochecknoglobals // a pool holds no state
var deflaters = sync.Pool{New: func() any {
	writer, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is valid
	return writer
}}

// compact compresses a body when that makes it smaller.
func compact(body string) (encoding string, stored []byte) {
	var small bytes.Buffer
	writer := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(writer)
	writer.Reset(&small)
	_, err := io.WriteString(writer, body)
	if err != nil || writer.Close() != nil || small.Len() >= len(body) {
		return rawBody, []byte(body)
	}
	return deflateBody, small.Bytes()
}

func expand(encoding string, stored []byte) (string, error) {
	if encoding != deflateBody {
		return string(stored), nil
	}
	body, err := io.ReadAll(flate.NewReader(bytes.NewReader(stored)))
	if err != nil {
		return "", fmt.Errorf("a stored body is damaged: %w", err)
	}
	return string(body), nil
}
