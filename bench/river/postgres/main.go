// Command postgres lets River work off a backlog on PostgreSQL, each job one
// HTTP call, and prints the seconds it took.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/signalbox/signalbox/bench/caller"
)

func main() {
	var o options
	flag.StringVar(&o.database, "database", "", "URL of an empty database")
	flag.StringVar(&o.url, "url", "", "URL to call")
	flag.IntVar(&o.jobs, "jobs", 50_000, "jobs in the backlog")
	flag.DurationVar(&o.rest, "rest", 0, "insert jobs one by one with this pause instead, and print when")
	flag.BoolVar(&o.tuned, "tuned", false, "use the tuned configuration")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

type options struct {
	database, url string
	jobs          int
	tuned         bool
	rest          time.Duration
}

// workers is how many jobs run at once: River's documented example has 100,
// the tuned configuration what was fastest here.
func (o options) workers() int {
	if o.tuned {
		return 1000
	}
	return 100
}

func (o options) config(done chan<- struct{}) *river.Config {
	var left atomic.Int64
	left.Store(int64(o.jobs))
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{call: caller.New(o.url, o.workers()), left: &left, done: done})
	config := &river.Config{
		Logger:  slog.New(slog.DiscardHandler),
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: o.workers()}},
		Workers: workers,
	}
	if o.tuned {
		config.FetchCooldown, config.FetchPollInterval = time.Millisecond, 5*time.Millisecond
	}
	return config
}

// args is a job without arguments: all call the same URL.
type args struct{}

func (args) Kind() string { return "call" }

type worker struct {
	river.WorkerDefaults[args]

	call *caller.Caller
	left *atomic.Int64   // calls to make
	done chan<- struct{} // closed when none is left
}

func (w *worker) Work(ctx context.Context, job *river.Job[args]) error {
	err := w.call.Call(ctx, strconv.FormatInt(job.ID, 10))
	if w.left.Add(-1) == 0 {
		close(w.done)
	}
	return err
}

func run(ctx context.Context, o options) error {
	pool, err := pgxpool.New(ctx, o.database)
	if err != nil {
		return err
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	if err := migrate(ctx, driver); err != nil {
		return err
	}
	called := make(chan struct{})
	client, err := river.NewClient(driver, o.config(called))
	if err != nil {
		return err
	}
	if o.rest > 0 {
		return oneByOne(ctx, client, o, called)
	}
	if err := fill(ctx, client, o.jobs); err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, "ANALYZE river_job"); err != nil {
		return err
	}
	started := time.Now()
	if err := client.Start(ctx); err != nil {
		return err
	}
	<-called
	if err := waitForAll(ctx, pool, o.jobs); err != nil {
		return err
	}
	fmt.Println(time.Since(started).Seconds())
	return client.Stop(ctx)
}

// oneByOne inserts jobs while nothing else is to be done, and prints the id of
// each and when it began to.
func oneByOne(ctx context.Context, client *river.Client[pgx.Tx], o options, called <-chan struct{}) error {
	if err := client.Start(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(o.rest)
	defer tick.Stop()
	for range o.jobs {
		<-tick.C
		at := time.Now().UnixNano()
		inserted, err := client.Insert(ctx, args{}, nil)
		if err != nil {
			return err
		}
		fmt.Println(inserted.Job.ID, at)
	}
	<-called
	return client.Stop(ctx)
}

func migrate(ctx context.Context, driver *riverpgxv5.Driver) error {
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func fill(ctx context.Context, client *river.Client[pgx.Tx], jobs int) error {
	const batch = 5000
	for done := 0; done < jobs; done += batch {
		params := make([]river.InsertManyParams, min(batch, jobs-done))
		for i := range params {
			params[i].Args = args{}
		}
		if _, err := client.InsertManyFast(ctx, params); err != nil {
			return err
		}
	}
	return nil
}

// waitForAll returns when every job is recorded as completed. It is asked when
// all calls are made, so that asking does not slow them down.
func waitForAll(ctx context.Context, pool *pgxpool.Pool, jobs int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		var left int
		if err := pool.QueryRow(ctx, "SELECT count(*) FROM (SELECT FROM river_job WHERE state <> 'completed' LIMIT 1) AS one").Scan(&left); err != nil {
			return err
		}
		if left == 0 {
			break
		}
	}
	var completed int
	if err := pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'").Scan(&completed); err != nil || completed == jobs {
		return err
	}
	return fmt.Errorf("%d of %d jobs completed", completed, jobs)
}
