package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/signalbox/signalbox/bench/caller"
	"github.com/signalbox/signalbox/bench/servers"
)

// box is a Signalbox with one job, the template. While it is stopped its
// database can be filled with copies, faster than through the API.
type box struct {
	bench    *bench
	store    servers.Store
	folder   string
	database string // "" is SQLite
	server   *servers.Server
	db       *sql.DB
	cleanups []func()
}

// newBox returns a stopped Signalbox whose job calls the sink.
func (b *bench) newBox(ctx context.Context, s servers.Store, size int) (*box, error) {
	made := &box{bench: b, store: s}
	if err := made.prepare(ctx, size); err != nil {
		made.close()
		return nil, err
	}
	return made, b.sink.Reset(ctx)
}

func (x *box) prepare(ctx context.Context, size int) (err error) {
	if x.folder, err = os.MkdirTemp(x.bench.folder, "box-"); err != nil {
		return err
	}
	var drop func()
	if x.database, drop, err = x.store.NewDatabase(ctx); err != nil {
		return err
	}
	x.cleanups = append(x.cleanups, drop)
	if err = x.start(ctx); err != nil {
		return err
	}
	defer x.stop()
	if err = x.createTemplate(ctx, size); err != nil {
		return err
	}
	if x.db, err = x.store.Open(x.folder, x.database); err == nil {
		x.cleanups = append(x.cleanups, func() { _ = x.db.Close() }) // the database is removed anyway
	}
	return err
}

func (x *box) file() string { return servers.File(x.folder) }

func (x *box) start(ctx context.Context) (err error) {
	x.server, err = servers.StartSignalbox(ctx, x.folder, x.database, "--allow-networks", "127.0.0.0/8", "--rate-limit", "0")
	return err
}

// stop stops the server and returns the processor time that it has used.
func (x *box) stop() (used time.Duration) {
	if x.server != nil {
		used = x.server.Stop()
		x.server = nil
	}
	return used
}

func (x *box) close() {
	x.stop()
	for i := range x.cleanups {
		x.cleanups[len(x.cleanups)-1-i]()
	}
}

// createTemplate creates the template job. It fires on the first of January.
func (x *box) createTemplate(ctx context.Context, size int) error {
	body, err := json.Marshal(map[string]any{"data": map[string]any{"id": "template", "type": "job", "attributes": map[string]any{
		"name": "template", "schedule": "0 0 1 1 *", "configuration": map[string]any{
			"method": http.MethodPost, "url": x.bench.sink.URL(size), "body": caller.Body,
			"headers": []map[string]string{{"name": "Content-Type", "value": "application/json"}},
		},
	}}})
	if err != nil {
		return err
	}
	_, err = servers.Fetch(ctx, http.MethodPost, x.server.Address, "/api/v1/jobs", body)
	return err
}

// queue inserts pending runs of the template.
func (x *box) queue(ctx context.Context, runs int) error {
	numbers, id := x.store.Series(runs)
	now := time.Now().UnixMicro()
	return x.execute(ctx, fmt.Sprintf(`INSERT INTO run_queue (id, account_id, job_uid, job_key, lane, trigger, scheduled_for, status, created_at)
		SELECT %s, account_id, uid, key, lane, 'SCHEDULE', %d + n, 'PENDING', %d FROM jobs, %s WHERE key = 'template'`, id, now, now, numbers))
}

// copyJobs inserts copies of the template that are due at an instant, and again
// every year.
func (x *box) copyJobs(ctx context.Context, jobs int, due time.Time) error {
	numbers, id := x.store.Series(jobs)
	return x.execute(ctx, fmt.Sprintf(`INSERT INTO jobs (uid, account_id, key, name, enabled, schedule, request_id, lane, version, search, next_run_at, created_at, updated_at)
		SELECT %s, account_id, 'copy-' || n, name, enabled, '%d %d %d %d *', request_id, lane, version, search, %d, created_at, updated_at
		FROM jobs, %s WHERE key = 'template'`, id, due.Minute(), due.Hour(), due.Day(), due.Month(), due.UnixMicro(), numbers))
}

// execute changes the database. PostgreSQL then updates its statistics, as
// autovacuum would after a while; SQLite has no such step.
func (x *box) execute(ctx context.Context, statement string) error {
	_, err := x.db.ExecContext(ctx, statement)
	if err == nil && x.database != "" {
		_, err = x.db.ExecContext(ctx, "ANALYZE")
	}
	return err
}

func (x *box) number(ctx context.Context, query string) (n int64, err error) {
	err = x.db.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

// drained waits until the sink has received a request for every run and every run is recorded as ended.
func (x *box) drained(ctx context.Context, runs int) error {
	if err := x.bench.sink.WaitFor(ctx, runs); err != nil {
		return err
	}
	const open = `SELECT count(*) FROM (SELECT 1 FROM run_queue LIMIT 1) AS one`
	tick := time.NewTicker(5 * time.Millisecond) // without a pause, counting would keep one of the two processors busy
	defer tick.Stop()
	for range tick.C {
		if left, err := x.number(ctx, open); err != nil || left == 0 {
			return err
		}
	}
	return nil
}

// allSucceeded checks that every run succeeded, and that the sink received each run once.
func (x *box) allSucceeded(ctx context.Context, runs int) error {
	succeeded, err := x.number(ctx, `SELECT count(*) FROM runs WHERE status = 'SUCCEEDED'`)
	if err == nil && succeeded != int64(runs) {
		err = fmt.Errorf("%d of %d runs succeeded", succeeded, runs)
	}
	if err != nil {
		return err
	}
	return x.bench.checked(ctx, runs)
}
