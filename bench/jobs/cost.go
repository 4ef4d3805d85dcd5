package jobs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

const (
	// beforeVariable names the binary of an earlier commit, which takes turns with the binary that is measured.
	beforeVariable = "SIGNALBOX_BENCH_BEFORE"
	costRuns       = 20_000 // of a backlog with small answers
	costLargeRuns  = 4_000  // of a backlog with large answers
	costJobs       = 5_000  // that fire together
	costTurns      = 2
)

// Cost measures the rates of runs and, on PostgreSQL, the cost of a run: bytes and records of the write-ahead log, new
// versions of rows, and the share of updates that are HOT. The figures include everything that PostgreSQL does at the
// same time, such as vacuuming.
func Cost(ctx context.Context, out io.Writer) error { return run(ctx, out, (*bench).costs) }

func (b *bench) costs(ctx context.Context) error {
	binaries := map[string]string{"now": os.Getenv(servers.BinaryVariable)}
	turns := []string{"now"}
	if before := os.Getenv(beforeVariable); before != "" {
		binaries["before"], turns = before, []string{"before", "now"}
	}
	defer os.Setenv(servers.BinaryVariable, binaries["now"])
	fmt.Fprintf(b.out, "\nwhat a run costs\n%-9s %-9s %-26s %9s %11s %9s %9s %9s %9s\n", "store", "server", "what", "runs /s", "cpu µs/run", "log bytes", "records", "new rows", "HOT")
	for range costTurns {
		for _, who := range turns {
			if err := os.Setenv(servers.BinaryVariable, binaries[who]); err != nil {
				return err
			}
			if err := b.cost(ctx, who); err != nil {
				return err
			}
		}
	}
	return nil
}

// cost measures with one binary.
func (b *bench) cost(ctx context.Context, who string) error {
	for _, s := range b.stores {
		for _, c := range []struct {
			what       string
			runs, size int
		}{{"claim and outcome", costRuns, small}, {"claim and outcome, 64 KiB", costLargeRuns, large}} {
			if err := b.costOfBacklog(ctx, s, who, c.what, c.runs, c.size); err != nil {
				return err
			}
		}
		if err := b.costOfFiring(ctx, s, who); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) costOfBacklog(ctx context.Context, s servers.Store, who, what string, runs, size int) error {
	box, err := b.newBox(ctx, s, size)
	if err != nil {
		return err
	}
	defer box.close()
	if err := box.queue(ctx, runs); err != nil {
		return err
	}
	return box.costOf(ctx, who, what, runs, runs)
}

// costOfFiring measures jobs that fire for the first time, and then once more: the first success of a job stores its health.
func (b *bench) costOfFiring(ctx context.Context, s servers.Store, who string) error {
	box, err := b.newBox(ctx, s, small)
	if err != nil {
		return err
	}
	defer box.close()
	if err := box.copyJobs(ctx, costJobs, time.Now().UTC().AddDate(0, 1, 0)); err != nil {
		return err
	}
	for i, what := range []string{"a job's first run", "a job's later run"} {
		if err := box.makeDue(ctx); err != nil {
			return err
		}
		if err := box.costOf(ctx, who, what, costJobs, (i+1)*costJobs); err != nil {
			return err
		}
	}
	return nil
}

// makeDue makes all copies of the template fire at once.
func (x *box) makeDue(ctx context.Context) error {
	return x.execute(ctx, fmt.Sprintf(`UPDATE jobs SET next_run_at = %d WHERE key <> 'template'`, time.Now().UnixMicro()))
}

// databaseWork counts what PostgreSQL has written since it was started.
type databaseWork struct{ bytes, records, rows, updates, hot int64 }

func (x *box) databaseWork(ctx context.Context) (w databaseWork, err error) {
	if x.store.IsFile() {
		return w, nil
	}
	err = x.db.QueryRowContext(ctx, `SELECT wal_bytes, wal_records, (SELECT sum(n_tup_ins + n_tup_upd) FROM pg_stat_user_tables),
		(SELECT sum(n_tup_upd) FROM pg_stat_user_tables), (SELECT sum(n_tup_hot_upd) FROM pg_stat_user_tables) FROM pg_stat_wal`).
		Scan(&w.bytes, &w.records, &w.rows, &w.updates, &w.hot)
	return w, err
}

// costOf starts the server, waits until it has done a number of runs, and prints their cost. all is how many runs must
// have succeeded by then, earlier ones included.
func (x *box) costOf(ctx context.Context, who, what string, runs, all int) error {
	before, err := x.settled(ctx)
	if err != nil {
		return err
	}
	if err := x.bench.sink.Reset(ctx); err != nil {
		return err
	}
	started := time.Now()
	if err := x.start(ctx); err != nil {
		return err
	}
	if err := x.drained(ctx, runs); err != nil {
		return err
	}
	took := time.Since(started)
	made := speed{runs, took, x.stop()}
	after, err := x.settled(ctx)
	if err != nil {
		return err
	}
	each := func(a, b int64) float64 { return float64(b-a) / float64(runs) }
	fmt.Fprintf(x.bench.out, "%-9s %-9s %-26s %9.0f %11.0f %9.0f %9.1f %9.1f %8.0f%%\n", x.store.Name, who, what, made.rate(), made.cost(), each(before.bytes, after.bytes),
		each(before.records, after.records), each(before.rows, after.rows), 100*float64(after.hot-before.hot)/float64(cmp.Or(after.updates-before.updates, 1)))
	succeeded, err := x.number(ctx, `SELECT count(*) FROM runs WHERE status = 'SUCCEEDED'`)
	if err == nil && succeeded != int64(all) {
		var why string
		_ = x.db.QueryRowContext(ctx, `SELECT COALESCE(max(failure_reason || ': ' || error), '') FROM runs`).Scan(&why) // best effort: the count alone is an error too
		err = fmt.Errorf("%d of %d runs succeeded: %s", succeeded, all, why)
	}
	return err
}

// settled waits until PostgreSQL's statistics are complete: a process reports its work when it ends.
func (x *box) settled(ctx context.Context) (databaseWork, error) {
	const pause, idle = 300 * time.Millisecond, 2
	x.db.SetMaxIdleConns(0) // ends the processes of this program's connections
	x.db.SetMaxIdleConns(idle)
	last, err := x.databaseWork(ctx)
	for err == nil && !x.store.IsFile() {
		time.Sleep(pause)
		var now databaseWork
		if now, err = x.databaseWork(ctx); now == last {
			return now, err
		}
		last = now
	}
	return last, err
}
