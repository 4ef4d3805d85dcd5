package store_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// A list by status is read from an index, however rare the status is: here one of 20,000 runs has it.
func TestRuns_ByStatusUseIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		raw := database.Raw(t)
		for status, index := range map[jobs.Status]string{jobs.Pending: "run_queue_by_account", jobs.Running: "run_queue_by_account",
			jobs.Succeeded: "runs_succeeded", jobs.Failed: "runs_unusual", jobs.Canceled: "runs_unusual"} {
			t.Run(string(status), func(t *testing.T) {
				others := map[jobs.Status]jobs.Status{jobs.Pending: jobs.Running, jobs.Running: jobs.Pending, jobs.Succeeded: jobs.Failed}
				table, owner := "run_history", account
				if status == jobs.Pending || status == jobs.Running {
					table, owner = "run_queue", "another"
				}
				fillRuns(t, raw, table, owner, string(cmp.Or(others[status], jobs.Succeeded)), string(status))
				query, args := store.RunsQuery(account, jobs.RunFilter{Status: status})
				plan := explain(t, raw, database.Kind, query, args...)
				sorted := strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE")
				if !strings.Contains(plan, index) || sorted && index != "runs_unusual" { // SQLite sorts what a condition with IN finds
					t.Errorf("%s: %s", status, plan)
				}
			})
		}
		fillRuns(t, raw, "run_queue", account, string(jobs.Pending), string(jobs.Running))
		lane := explain(t, raw, database.Kind, `SELECT id FROM run_queue WHERE status = 'PENDING' AND lane <> '' AND lane >= $1 AND lane <= $1 ORDER BY lane, id LIMIT $2`, account+":host", 10)
		if !strings.Contains(lane, "run_queue_by_lane") {
			t.Errorf("a claim reads %s", lane)
		}
	})
}

// What a job shows of its runs is read from the index of the job's runs, however many other runs exist.
func TestJobs_RunsUseIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		account := storetest.NewTenant(t, database.Open(t), "pro").Account.ID
		raw := database.Raw(t)
		fillRuns(t, raw, "run_history", account, "SUCCEEDED", "FAILED")
		last := store.LastRunsQuery()
		for query, args := range map[string][]any{last: {account, "uid"}, store.FinishedRunsQuery: {account, "rare", "uid", "0", 0}} {
			if plan := explain(t, raw, database.Kind, query, args...); !strings.Contains(plan, "runs_by_job") {
				t.Errorf("%s reads %s", query, plan)
			}
		}
		if plan := explain(t, raw, database.Kind, store.RunHoursQuery, account, "0", 0, 10); !strings.Contains(plan, "runs_by_account") {
			t.Errorf("the runs of all jobs are counted by %s", plan)
		}
	})
}

// A similar key is found in an index, without statistics too, which SQLite never gathers.
func TestSimilarKey_UsesIndex(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	database.Open(t)
	for _, kind := range []string{"flag", "logger", "log_group", "config", "job", "environment", "service", "context_type"} {
		t.Run(kind, func(t *testing.T) {
			query, err := store.SimilarKeyQuery(kind)
			if err != nil {
				t.Fatal(err)
			}
			if plan := explain(t, database.Raw(t), database.Kind, query, "account", "key"); !strings.Contains(plan, "s_by_similarity") {
				t.Errorf("%s", plan)
			}
		})
	}
}

// Keys are found in the index of keys, even without statistics. Without them, an index with the account first and the
// key later looks as good to PostgreSQL, which would then read all keys of the account to find one.
func TestKeys_UseTheirIndex(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	database.Open(t)
	for table, columns := range map[string]string{"flags": "key", "loggers": "key, kind", "services": "key", "context_types": "key, name"} {
		t.Run(table, func(t *testing.T) {
			condition := "TRUE"
			if table == "flags" || table == "loggers" {
				condition = "deleted_at IS NULL"
			}
			plan := explain(t, database.Raw(t), database.Kind, store.ByKeysQuery(columns, table, condition), "account", []string{"key"})
			if !strings.Contains(plan, table+"_pkey") {
				t.Errorf("%s", plan)
			}
		})
	}
}

// fillRuns replaces all runs of a table by many with one status and one with another.
func fillRuns(t *testing.T, raw *sql.DB, table, account, many, one string) {
	t.Helper()
	for _, statement := range []string{`DELETE FROM ` + table,
		fmt.Sprintf(`INSERT INTO `+table+` (id, account_id, job_uid, job_key, lane, trigger, status, created_at)
			WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
			SELECT 'run' || n, '%s', 'job', 'job', '%[1]s:host', 'SCHEDULE', CASE WHEN n = 7 THEN '%[3]s' ELSE '%[2]s' END, n FROM numbers`, account, many, one),
		`ANALYZE`} {
		if _, err := raw.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// querier is a database or a connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func explain(t *testing.T, raw querier, kind, query string, args ...any) (plan string) {
	t.Helper()
	prefix := "EXPLAIN QUERY PLAN "
	if kind == "postgres" {
		prefix = "EXPLAIN "
	}
	rows, err := raw.QueryContext(t.Context(), prefix+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		line, skipped := "", 0
		into := []any{&line}
		if kind == "sqlite" {
			into = []any{&skipped, &skipped, &skipped, &line}
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		plan += line + "\n"
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan
}

// Pending runs are counted in an index, even if one account has all of them and the others have none.
func TestPendingRuns_UseIndex(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	account, raw := storetest.NewTenant(t, database.Open(t), "pro").Account.ID, database.Raw(t)
	fillRuns(t, raw, "run_queue", account, "PENDING", "RUNNING")
	plan := explain(t, raw, database.Kind, store.PendingRunsQuery(), 100_000, []string{account, "another"})
	if !strings.Contains(plan, "run_queue_by_account") {
		t.Errorf("it reads %s", plan)
	}
}

// Outcomes find their runs by ids and match them by hashing, also where the statistics of a long queue say that it is empty.
func TestFinishRuns_EmptyStatistics(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	account, raw := storetest.NewTenant(t, database.Open(t), "pro").Account.ID, database.Raw(t)
	fillRuns(t, raw, "run_queue", account, "RUNNING", "PENDING")
	for _, statement := range []string{`ALTER TABLE run_queue SET (autovacuum_enabled = off)`, `CREATE TABLE kept AS SELECT * FROM run_queue`, `DELETE FROM run_queue`,
		`VACUUM (TRUNCATE off, ANALYZE) run_queue`, `INSERT INTO run_queue SELECT * FROM kept`} {
		if _, err := raw.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := raw.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	query, before := store.OutcomesQuery()
	if _, err := conn.ExecContext(t.Context(), strings.ReplaceAll(before, ", true)", ", false)")); err != nil { // for the session
		t.Fatal(err)
	}
	texts := make([]string, 500)
	for i := range texts {
		texts[i] = fmt.Sprint("run", i)
	}
	plan := explain(t, conn, database.Kind, query, texts, texts, texts, texts, texts, make([]int64, len(texts)), texts)
	if !strings.Contains(plan, "Hash Join") || !strings.Contains(plan, "Index Cond: (id = ANY") || !strings.Contains(plan, "Index Scan using run_queue_pkey") || strings.Contains(plan, "Seq Scan") {
		t.Errorf("%s", plan)
	}
}
