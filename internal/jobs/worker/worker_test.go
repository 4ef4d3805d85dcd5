package worker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestWorker_RecordsEveryOutcome(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	r := newRig(t, db)
	r.sender.answer = func(order worker.Order) (jobs.Result, error) {
		if order.Account != account {
			t.Errorf("%s is a request of %q", order.Run, order.Account)
		}
		switch hostOf(order) {
		case "fine":
			return jobs.Result{Status: 204, Body: "ok"}, nil
		case "broken":
			return jobs.Result{Status: 500, Body: "no"}, nil
		case "slow":
			return jobs.Result{}, &worker.SendError{Reason: jobs.Timeout, Detail: "It took too long.\x00\xff"}
		case "private":
			return jobs.Result{}, &worker.SendError{Reason: jobs.SSRFBlocked, Detail: "No."}
		}
		return jobs.Result{}, errors.New("a bug")
	}
	r.start(t)
	for host, want := range map[string]string{"fine": "SUCCEEDED", "broken": "FAILED NON_SUCCESS_STATUS", "slow": "FAILED TIMEOUT",
		"private": "FAILED SSRF_BLOCKED", "odd": "FAILED CONNECTION_ERROR"} {
		t.Run(host, func(t *testing.T) {
			id := storetest.Queue(t, db, newJob(t, db, account, host), 1)[0]
			r.Wake()
			run := r.ended(t, account, id, want)
			if (run.Result != nil) != (host == "fine" || host == "broken") || run.StartedAt == nil || run.FinishedAt == nil {
				t.Errorf("%+v", run)
			}
			storetest.Wait(t, soon, "it is counted", func() bool { return r.observer.count(want) == 1 })
		})
	}
}

func TestClaim_ThreeWorkersAttemptRunsOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		const runs = 600
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		storetest.Queue(t, db, newJob(t, db, account, "a"), runs/2)
		storetest.Queue(t, db, newJob(t, db, account, "b"), runs/2)
		sender := newSender()
		for range 3 {
			newRig(t, db, func(w *worker.Worker) { w.Sender = sender }).start(t)
		}
		storetest.Wait(t, soon, "all runs are done", func() bool { return unfinished(t, db) == 0 })
		seen := map[string]bool{}
		for _, run := range sender.order() {
			if seen[run] {
				t.Errorf("%s was sent twice", run)
			}
			seen[run] = true
		}
		if len(seen) != runs {
			t.Errorf("%d of %d were sent", len(seen), runs)
		}
		used := meter(t, db, account)
		if used != runs {
			t.Errorf("%d were metered", used)
		}
	})
}

// unfinished counts pending and running runs in one transaction: two counts would miss a run that
// is claimed between them.
func unfinished(t *testing.T, db *store.DB) int {
	t.Helper()
	count := 0
	err := db.Worker().Snapshot(t.Context(), func(ctx context.Context, tx worker.ReadTx) error {
		nodes, err := tx.Nodes(ctx)
		if err != nil {
			return err
		}
		for _, node := range nodes {
			owned, err := tx.Owned(ctx, node.Boot)
			if err != nil {
				return err
			}
			count += len(owned)
		}
		pending, err := tx.CountPending(ctx, 1_000_000)
		count += pending
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func meter(t *testing.T, db *store.DB, account string) (used int) {
	t.Helper()
	err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		used, err = tx.RunsUsed(ctx, account, jobs.Period(tx.Now()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return used
}

func TestClaim_QuotaIsExact(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		const included, left, runs = 3000, 70, 200 // the free plan's
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "free").Account.ID
		err := db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
			return tx.MeterRuns(ctx, account, jobs.Period(tx.Now()), included-left)
		})
		if err != nil {
			t.Fatal(err)
		}
		sender := newSender()
		for i := range 4 {
			storetest.Queue(t, db, newJob(t, db, account, fmt.Sprint("h", i)), runs/4)
		}
		var observers []*observer
		for range 3 {
			observers = append(observers, newRig(t, db, func(w *worker.Worker) { w.Sender = sender }).start(t).observer)
		}
		storetest.Wait(t, soon, "all runs are done", func() bool { return unfinished(t, db) == 0 })
		if sent, used := sender.count(""), meter(t, db, account); sent != left || used != included {
			t.Errorf("%d were sent, %d are metered", sent, used)
		}
		storetest.Wait(t, soon, "the refused are counted", func() bool {
			refused := 0
			for _, each := range observers {
				refused += each.count("FAILED QUOTA_EXCEEDED")
			}
			return refused == runs-left
		})
	})
}

func TestAbort_CanceledRunStaysCanceled(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	r := newRig(t, db, func(w *worker.Worker) { w.Intervals.CancelCheck = time.Hour }) // it has to be told
	answer := map[string]func(){"slow": r.sender.hold("slow"), "deaf": r.sender.hold("deaf")}
	defer answer["deaf"]()
	r.sender.deaf["deaf"] = true
	r.start(t)
	for _, host := range []string{"slow", "deaf"} {
		t.Run(host, func(t *testing.T) {
			run := storetest.Queue(t, db, newJob(t, db, account, host), 1)[0]
			r.Wake()
			storetest.Wait(t, soon, "the request is made", func() bool { return r.sender.inFlight(host) == 1 })
			cancel(t, db, account, run)
			r.Abort(run)
			storetest.Wait(t, soon, "it is aborted", func() bool { return r.sender.cause(run) != nil })
			answer[host]() // the response comes anyway
			storetest.Wait(t, soon, "the request has ended", func() bool { return r.sender.inFlight(host) == 0 })
			r.settle(t, account)
			if got := outcome(storetest.ReadRun(t, db, account, run)); got != "CANCELED" {
				t.Errorf("the run to %s is %s", host, got)
			}
		})
	}
}

// settle waits until all outcomes so far are written: they are written in
// order, and here comes the last.
func (r *rig) settle(t *testing.T, account string) {
	t.Helper()
	run := storetest.Queue(t, r.db, newJob(t, r.db, account, "settling"), 1)[0]
	r.Wake()
	r.ended(t, account, run, "SUCCEEDED")
}

func TestAbort_CanceledOnAnotherNode(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		here, there := storetest.OpenSealed(t, database), storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, here, "pro").Account.ID
		for _, heard := range []bool{true, false} {
			t.Run(fmt.Sprint("heard: ", heard), func(t *testing.T) {
				if heard && database.Kind == "sqlite" {
					return // it has no other nodes, and no notifications
				}
				r := newRig(t, here, func(w *worker.Worker) {
					if heard {
						w.Intervals.CancelCheck = time.Hour
					}
				}).start(t)
				r.sender.hold("slow")
				if heard {
					listener := here.NewListener(func(string) {})
					listener.OnAbort(r.Abort)
					listener.Start(t.Context())
					t.Cleanup(listener.Stop)
					listening(t, database)
				}
				run := storetest.Queue(t, here, newJob(t, here, account, "slow"), 1)[0]
				r.Wake()
				storetest.Wait(t, soon, "the request is made", func() bool { return r.sender.inFlight("slow") == 1 })
				cancel(t, there, account, run)
				storetest.Wait(t, soon, "it is aborted", func() bool { return r.sender.cause(run) != nil })
				r.stop(t.Context())
				if got := outcome(storetest.ReadRun(t, there, account, run)); got != "CANCELED" {
					t.Errorf("the run is %s", got)
				}
			})
		}
	})
}

// listening waits until somebody listens.
func listening(t *testing.T, database storetest.Database) {
	t.Helper()
	raw := database.Raw(t)
	storetest.Wait(t, soon, "the listener listens", func() bool {
		var count int
		err := raw.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN signalbox_runs'`).Scan(&count)
		return err == nil && count > 0
	})
}

func TestStop_LetsRequestsFinish(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	r := newRig(t, db).start(t)
	open := r.sender.hold("slow")
	run := storetest.Queue(t, db, newJob(t, db, account, "slow"), 1)[0]
	r.Wake()
	storetest.Wait(t, soon, "the request is made", func() bool { return r.sender.inFlight("slow") == 1 })
	stopped := make(chan struct{})
	go func() { defer close(stopped); r.stop(t.Context()) }()
	late := storetest.Queue(t, db, newJob(t, db, account, "late"), 1)[0]
	open()
	<-stopped
	if got := outcome(storetest.ReadRun(t, db, account, run)); got != "SUCCEEDED" {
		t.Errorf("the run is %s", got)
	}
	if got := outcome(storetest.ReadRun(t, db, account, late)); got == "RUNNING" {
		t.Errorf("a run was left %s", got)
	}
	if left := nodes(t, db); left != 0 {
		t.Errorf("%d nodes are left", left)
	}
}

func nodes(t *testing.T, db *store.DB) (count int) {
	t.Helper()
	err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
		found, err := tx.Nodes(ctx)
		count = len(found)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func TestStop_AbortsAfterDeadline(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	r := newRig(t, db).start(t)
	r.sender.hold("slow")
	run := storetest.Queue(t, db, newJob(t, db, account, "slow"), 1)[0]
	r.Wake()
	storetest.Wait(t, soon, "the request is made", func() bool { return r.sender.inFlight("slow") == 1 })
	short, end := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer end()
	r.stop(short)
	if got := storetest.ReadRun(t, db, account, run); outcome(got) != "FAILED WORKER_LOST" {
		t.Errorf("the run is %s", outcome(got))
	}
}
