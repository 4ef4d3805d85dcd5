// Package backlog lets River do a backlog of jobs that each make one HTTP call. Its module requires the oldest River
// that the programs use; each program requires the version of its database's driver.
package backlog

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/signalbox/signalbox/bench/caller"
)

// Database is a new database that River works on.
type Database[Tx any] struct {
	Driver riverdriver.Driver[Tx]
	// Count runs a query for one number.
	Count func(ctx context.Context, query string) (int, error)
	// Filled is called when all jobs are inserted.
	Filled func(ctx context.Context) error
	Close  func()
}

// Main is the program: it reads the flags, opens their database and prints the
// seconds that the backlog took.
func Main[Tx any](open func(ctx context.Context, name string) (Database[Tx], error)) {
	var o options
	name := flag.String("database", "", "a new database: a URL, or a file")
	flag.StringVar(&o.url, "url", "", "URL to call")
	flag.IntVar(&o.jobs, "jobs", 50_000, "jobs in the backlog")
	flag.DurationVar(&o.rest, "rest", 0, "insert jobs one by one with this pause instead, and print when")
	flag.BoolVar(&o.tuned, "tuned", false, "use the tuned configuration")
	flag.Parse()
	ctx := context.Background()
	database, err := open(ctx, *name)
	if err == nil {
		err = run(ctx, database, o)
		database.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

type options struct {
	url   string
	jobs  int
	tuned bool
	rest  time.Duration
}

// workers returns how many jobs run at once: 100 as in River's documented example,
// or in the tuned configuration the number that was fastest.
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

// Kind is the name of the job.
func (args) Kind() string { return "call" }

type worker struct {
	river.WorkerDefaults[args]

	call *caller.Caller
	left *atomic.Int64   // calls to make
	done chan<- struct{} // closed when none is left
}

// Work makes the call.
func (w *worker) Work(ctx context.Context, job *river.Job[args]) error {
	err := w.call.Call(ctx, strconv.FormatInt(job.ID, 10))
	if w.left.Add(-1) == 0 {
		close(w.done)
	}
	return err
}

func run[Tx any](ctx context.Context, database Database[Tx], o options) error {
	if err := migrate(ctx, database.Driver); err != nil {
		return err
	}
	called := make(chan struct{})
	client, err := river.NewClient(database.Driver, o.config(called))
	if err != nil {
		return err
	}
	if o.rest > 0 {
		return oneByOne(ctx, client, o, called)
	}
	if err := fill(ctx, database.Driver, o.jobs); err != nil {
		return err
	}
	if err := database.Filled(ctx); err != nil {
		return err
	}
	started := time.Now()
	if err := client.Start(ctx); err != nil {
		return err
	}
	<-called
	if err := waitForAll(ctx, database, o.jobs); err != nil {
		return err
	}
	fmt.Println(time.Since(started).Seconds())
	return client.Stop(ctx)
}

// oneByOne inserts jobs on an idle system, and prints the id of each and when its
// insertion began.
func oneByOne[Tx any](ctx context.Context, client *river.Client[Tx], o options, called <-chan struct{}) error {
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

func migrate[Tx any](ctx context.Context, driver riverdriver.Driver[Tx]) error {
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// fill uses a client that only inserts: on SQLite, a client with queues fails to
// insert many jobs.
func fill[Tx any](ctx context.Context, driver riverdriver.Driver[Tx], jobs int) error {
	client, err := river.NewClient(driver, &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
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

// waitForAll returns when every job is recorded as completed. It is called after all
// calls are made, so that its queries do not slow them down.
func waitForAll[Tx any](ctx context.Context, database Database[Tx], jobs int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		left, err := database.Count(ctx, "SELECT count(*) FROM (SELECT 1 FROM river_job WHERE state <> 'completed' LIMIT 1) AS one")
		if err != nil {
			return err
		}
		if left == 0 {
			break
		}
	}
	completed, err := database.Count(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'")
	if err != nil || completed == jobs {
		return err
	}
	return fmt.Errorf("%d of %d jobs completed", completed, jobs)
}
