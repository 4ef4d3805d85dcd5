package growth

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/bench/caller"
	"github.com/signalbox/signalbox/bench/servers"
)

// target is a Signalbox whose database has a size.
type target struct {
	size     size
	store    servers.Store
	sink     *servers.Sink
	folder   string
	database string // "" is SQLite
	server   *servers.Server
	client   *http.Client
	db       *sql.DB
	cleanups []func()
	filled   time.Duration // how long copying the rows took
	made     int           // resources that operations created
}

// newTarget fills a database. Its server is stopped.
func newTarget(ctx context.Context, folder string, store servers.Store, sink *servers.Sink, s size) (*target, error) {
	made := &target{size: s, store: store, sink: sink, folder: folder, client: &http.Client{Transport: &http.Transport{}}}
	if err := made.fill(ctx); err != nil {
		made.close()
		return nil, err
	}
	return made, nil
}

func (t *target) start(ctx context.Context) (err error) {
	t.server, err = servers.StartSignalbox(ctx, t.folder, t.database, "--allow-networks", "127.0.0.0/8", "--rate-limit", "0")
	return err
}

func (t *target) close() {
	t.client.CloseIdleConnections()
	if t.server != nil {
		t.server.Stop()
	}
	for _, each := range slices.Backward(t.cleanups) {
		each()
	}
}

// fill creates the templates over the API, stops the server, and copies them in the database.
func (t *target) fill(ctx context.Context) (err error) {
	var drop func()
	if t.database, drop, err = t.store.NewDatabase(ctx); err != nil {
		return err
	}
	t.cleanups = append(t.cleanups, drop)
	if err := t.start(ctx); err != nil {
		return err
	}
	err = t.createTemplates(ctx)
	t.server.Stop()
	t.server = nil
	if err != nil {
		return err
	}
	if t.db, err = t.store.Open(t.folder, t.database); err != nil {
		return err
	}
	t.cleanups = append(t.cleanups, func() { _ = t.db.Close() }) // the database is removed anyway
	began := time.Now()
	for _, each := range t.copies() {
		if err := t.copyRows(ctx, each); err != nil {
			return fmt.Errorf("filling %s: %w", each.table, err)
		}
	}
	if err := t.storeTotals(ctx); err != nil {
		return err
	}
	err = t.tidy(ctx)
	t.filled = time.Since(began)
	return err
}

// createTemplates creates a flag, a job and an ended run.
func (t *target) createTemplates(ctx context.Context) error {
	if _, err := t.send(ctx, http.MethodPost, "/api/v1/flags", flagBody("template")); err != nil {
		return err
	}
	if _, err := t.send(ctx, http.MethodPost, "/api/v1/jobs", t.jobBody("template")); err != nil {
		return err
	}
	if err := t.sink.Reset(ctx); err != nil {
		return err
	}
	run, err := t.runNow(ctx)
	if err != nil {
		return err
	}
	if err := t.sink.WaitFor(ctx, 1); err != nil {
		return err
	}
	return t.ended(ctx, run)
}

// ended waits until a run has ended.
func (t *target) ended(ctx context.Context, run string) error {
	const tries, pause = 500, 10 * time.Millisecond
	for range tries {
		text, err := t.send(ctx, http.MethodGet, "/api/v1/runs/"+run, "")
		if err != nil {
			return err
		}
		if strings.Contains(string(text), `"SUCCEEDED"`) {
			return nil
		}
		time.Sleep(pause)
	}
	return fmt.Errorf("the run %s did not succeed", run)
}

func (t *target) runNow(ctx context.Context) (string, error) {
	text, err := t.send(ctx, http.MethodPost, "/api/v1/jobs/template/actions/run", "")
	if err != nil {
		return "", err
	}
	var run struct{ Data struct{ ID string } }
	return run.Data.ID, json.Unmarshal(text, &run)
}

func flagBody(key string) string {
	return fmt.Sprintf(`{"data":{"id":%q,"type":"flag","attributes":{"type":"BOOLEAN","default":false,"environments":{"production":{"rules":[
		{"description":"Pro users","logic":{"==":[{"var":"user.plan"},"pro"]},"value":true}]}}}}}`, key)
}

// jobBody returns a job that fires on the first of January.
func (t *target) jobBody(key string) string {
	return fmt.Sprintf(`{"data":{"id":%q,"type":"job","attributes":{"name":"a job","schedule":"0 0 1 1 *",
		"configuration":{"method":"POST","url":%q,"body":%q}}}}`, key, t.sink.URL(2), caller.Body)
}

// copied says how the rows of a table are copied.
type copied struct {
	table, template string // the condition of the rows to copy
	count           int
	values          map[string]string // SQL for the columns that differ; n is the number of the copy
}

// copies returns what a database of this size has. A job shares the stored request of the template.
func (t *target) copies() []copied {
	const account, flag, job, key = "3", "0", "1", "4" // the first digit of ids of each kind
	s := t.size
	ofAccount := fmt.Sprintf(`(n - 1) / %d + 1`, max(s.each, 1))
	shared := s.others * s.each
	_, run := t.store.Series(s.ended)
	return []copied{
		{"flags", "key = 'template'", own - 1, map[string]string{"key": `'flag-' || n`, "name": `'Flag ' || n`, "search": `'flag-' || n`}},
		{"jobs", "key = 'template'", own - 1, map[string]string{"uid": t.id(job, "n"), "key": `'job-' || n`, "search": `'job-' || n`}},
		{"run_history", "job_key = 'template'", s.ended - 1, map[string]string{"id": run, "job_uid": t.id(job, fmt.Sprintf("n %% %d + 1", own-1)),
			"job_key": fmt.Sprintf(`'job-' || (n %% %d + 1)`, own-1), "trigger": `'SCHEDULE'`, "scheduled_for": `created_at + n`}},
		{"accounts", "1 = 1", s.others, map[string]string{"id": t.id(account, "n"), "key": `'account-' || n`, "history_bytes": "0"}},
		{"environments", "1 = 1", s.others, map[string]string{"account_id": t.id(account, "n")}},
		{"api_keys", "1 = 1", s.others, map[string]string{"id": t.id(key, "n"), "account_id": t.id(account, "n"), "hash": `'hash-' || n`}},
		{"flags", "key = 'template'", shared, map[string]string{"account_id": t.id(account, ofAccount), "key": `'flag-' || n`, "search": `'flag-' || n`}},
		{"jobs", "key = 'template'", shared, map[string]string{"uid": t.id(flag, "n"), "account_id": t.id(account, ofAccount), "key": `'job-' || n`, "search": `'job-' || n`}},
	}
}

// id returns SQL for an id that has the number of an expression.
func (t *target) id(kind, number string) string {
	hex := `lpad(to_hex(` + number + `), 12, '0')`
	if t.store.IsFile() {
		hex = `printf('%012x', ` + number + `)`
	}
	return `'0000000` + kind + `-0000-7000-8000-' || ` + hex
}

// copyRows copies rows with one statement.
func (t *target) copyRows(ctx context.Context, c copied) error {
	if c.count == 0 {
		return nil
	}
	columns, err := t.columns(ctx, c.table)
	if err != nil {
		return err
	}
	values := slices.Clone(columns)
	for i, column := range columns {
		if value, differs := c.values[column]; differs {
			values[i] = value
		}
	}
	for column := range maps.Keys(c.values) {
		if !slices.Contains(columns, column) {
			return fmt.Errorf("there is no column %s", column)
		}
	}
	numbers, _ := t.store.Series(c.count)
	_, err = t.db.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM (SELECT * FROM %s WHERE %s AND %s) AS template, %s`,
		c.table, strings.Join(columns, ", "), strings.Join(values, ", "), c.table, c.template, t.ofTemplate(c.table), numbers))
	return err
}

// ofTemplate returns the condition of rows that belong to the measured account, whose key is not that of a copy.
func (t *target) ofTemplate(table string) string {
	column := "account_id"
	if table == "accounts" {
		column = "id"
	}
	return column + ` = (SELECT id FROM accounts WHERE key NOT LIKE 'account-%')`
}

func (t *target) columns(ctx context.Context, table string) ([]string, error) {
	rows, err := t.db.QueryContext(ctx, `SELECT * FROM `+table+` WHERE 1 = 0`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err == nil {
		err = rows.Err()
	}
	return columns, err
}

// storeTotals stores the totals of the rows, so that the server finds them right when it starts.
func (t *target) storeTotals(ctx context.Context) error {
	for what, from := range map[string]string{"flags": "flags", "jobs": "jobs", "enabled jobs": "jobs"} {
		if _, err := t.db.ExecContext(ctx, fmt.Sprintf(`INSERT INTO account_totals (account_id, what, amount) SELECT account_id, '%s', count(*) FROM %s
			WHERE 1 = 1 GROUP BY account_id ON CONFLICT (account_id, what) DO UPDATE SET amount = excluded.amount`, what, from)); err != nil {
			return err
		}
	}
	return nil
}

// tidy does at once what the database would do by itself after a while.
func (t *target) tidy(ctx context.Context) error {
	statement := `VACUUM ANALYZE`
	if t.store.IsFile() {
		statement = `PRAGMA wal_checkpoint(TRUNCATE)`
	}
	_, err := t.db.ExecContext(ctx, statement)
	return err
}
