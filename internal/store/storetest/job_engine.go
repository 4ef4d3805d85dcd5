package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
)

// write runs a transaction and returns its result.
func write[T any](t *testing.T, db *store.DB, fn func(context.Context, *store.Tx) (T, error)) (found T) {
	t.Helper()
	do(t, db, "", func(ctx context.Context, tx *store.Tx) (err error) {
		found, err = fn(ctx, tx)
		return err
	})
	return found
}

func finish(t *testing.T, db *store.DB, lease string, outcomes ...worker.Outcome) []string {
	t.Helper()
	owned, err := db.Worker().FinishRuns(t.Context(), lease, outcomes)
	must(t, err)
	return owned
}

// loseRuns fails the runs of a worker, whose accounts must not be busy.
func loseRuns(t *testing.T, db *store.DB, lease, detail string) int {
	t.Helper()
	return write(t, db, func(ctx context.Context, tx *store.Tx) (int, error) {
		lost, busy, err := tx.LoseRuns(ctx, lease, detail)
		same(t, len(busy), 0)
		return lost, err
	})
}

func claim(t *testing.T, db *store.DB, lane, lease string, limit int) (ids []string) {
	t.Helper()
	for _, each := range write(t, db, func(ctx context.Context, tx *store.Tx) ([]worker.Claim, error) {
		return tx.ClaimRuns(ctx, lane, lease, limit)
	}) {
		ids = append(ids, each.Run)
	}
	slices.Sort(ids)
	return ids
}

func jobEngine(t *testing.T, shared *store.DB) {
	for name, part := range map[string]func(*testing.T, *store.DB){
		"chains": chains, "overlaps": overlaps, "held runs beside others": heldBesideOthers,
		"lateness": lateness, "lateness after several runs": latenessAfterSeveral,
		"firing": firing, "claims": claiming, "pending runs follow their job to another host": moving, "turns of accounts and lanes": turns, "outcomes need the lease": outcomes, "runs that are put back": puttingBack,
		"limits of what is pending": pendingLimits, "metering": metering, "lost nodes": nodes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, OpenSealed(t, New(t, shared.Name())))
		})
	}
}

func puttingBack(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	job := NewJob(account, "j", "http://a/")
	AddJobs(t, db, job)
	run := Queue(t, db, job, 1)[0]
	putBack := func(lease string) bool {
		return write(t, db, func(ctx context.Context, tx *store.Tx) (bool, error) { return tx.PutBack(ctx, run, lease) })
	}
	same(t, putBack("boot"), false) // no worker owns the run yet
	same(t, claim(t, db, job.Lane(), "boot", 1), []string{run})
	same(t, putBack("another"), false)
	same(t, putBack("boot"), true)
	found := ReadRun(t, db, account, run)
	if found.Status != jobs.Pending || found.StartedAt != nil || found.JobVersion != nil {
		t.Errorf("it is %+v", found)
	}
	same(t, claim(t, db, job.Lane(), "later", 1), []string{run})
}

func nextDue(t *testing.T, db *store.DB) (due *time.Time) {
	t.Helper()
	must(t, db.Scheduler().Read(t.Context(), func(ctx context.Context, tx scheduler.ReadTx) (err error) {
		agenda, err := tx.Agenda(ctx)
		due = agenda.Fire
		return err
	}))
	return due
}

func firing(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	same(t, nextDue(t, db), nil)
	var written []jobs.Job
	for i := range 300 {
		job := NewJob(account, fmt.Sprint("j", i), "http://a/")
		next := at(1000 - i)
		job.NextRunAt = &next
		written = append(written, job)
	}
	AddJobs(t, db, written...)
	same(t, *nextDue(t, db), at(701))
	due := write(t, db, func(ctx context.Context, tx *store.Tx) ([]jobs.Due, error) { return tx.DueJobs(ctx, at(999), 1000) })
	same(t, len(due), 299)
	same(t, due[0], jobs.Due{Origin: jobs.Origin{Account: account, UID: written[299].UID, Key: "j299", Lane: written[299].Lane(), Overlap: jobs.OverlapAllow}, Schedule: "* * * * *", ScheduledAt: at(701)})
	same(t, len(write(t, db, func(ctx context.Context, tx *store.Tx) ([]jobs.Due, error) { return tx.DueJobs(ctx, at(999), 7) })), 7)
	firings := make([]jobs.Firing, len(due))
	for i, job := range due {
		firings[i] = jobs.Firing{Due: job, ScheduledFor: job.ScheduledAt}
		if i > 0 {
			next := at(2000 + i)
			firings[i].Next = &next
		}
	}
	busy := write(t, db, func(ctx context.Context, tx *store.Tx) ([]string, error) {
		return tx.LockActiveJobs(ctx, []string{account, newID()})
	})
	same(t, len(busy), 0)
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.AdvanceJobs(ctx, firings) })
	same(t, *nextDue(t, db), at(1000))
	ended := readJob(t, db, account, due[0].Key)
	same(t, []any{ended.Enabled, ended.NextRunAt, ended.Version}, []any{false, (*time.Time)(nil), 1})
	upcoming := func(after string, limit int) []jobs.Due {
		return list(t, db, (*store.ReadTx).Upcoming, at(1000), after, limit)
	}
	later := upcoming("", 1000)
	same(t, len(later), 298)
	same(t, upcoming(later[9].UID, 5), later[10:15])
	stale := later[1]
	stale.ScheduledAt = at(1)
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
		return tx.PullForward(ctx, []jobs.Sooner{{Due: later[0], Next: at(1500)}, {Due: stale, Next: at(1500)}})
	})
	same(t, *readJob(t, db, account, later[0].Key).NextRunAt, at(1500))
	same(t, *readJob(t, db, account, stale.Key).NextRunAt, later[1].ScheduledAt)
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
		pulled := later[0]
		pulled.ScheduledAt = at(1500)
		return tx.PullForward(ctx, []jobs.Sooner{{Due: pulled, Next: later[0].ScheduledAt}})
	})
	again := readJob(t, db, account, due[5].Key)
	same(t, []any{again.Enabled, *again.NextRunAt}, []any{true, at(2005)})
}

func moving(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	job := NewJob(account, "j", "http://a/")
	AddJobs(t, db, job)
	ids := Queue(t, db, job, 3)
	was := job.Lane()
	same(t, claim(t, db, was, "boot", 1), ids[:1])
	job.Configuration, job.RequestID = jobs.NewConfiguration(jobs.Plain{URL: "http://b/"}), newID()
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.InsertJobRequest(ctx, job); err != nil {
			return err
		}
		return tx.UpdateJob(ctx, job)
	})
	same(t, claim(t, db, was, "boot", 3), nil)
	same(t, claim(t, db, job.Lane(), "boot", 3), ids[1:])
	same(t, ReadRun(t, db, account, ids[0]).Lane, was)
}

func claiming(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	job := NewJob(account, "j", "http://a/")
	AddJobs(t, db, job)
	ids := Queue(t, db, job, 10)
	pending := func() int {
		return of(t, db, (*store.ReadTx).CountPending, 100)
	}
	same(t, pending(), 10)
	same(t, of(t, db, (*store.ReadTx).CountPending, 3), 3)
	claims := write(t, db, func(ctx context.Context, tx *store.Tx) ([]worker.Claim, error) {
		return tx.ClaimRuns(ctx, job.Lane(), "boot", 1)
	})
	same(t, claims, []worker.Claim{{Run: ids[0], Account: account, Lane: job.Lane(), Job: "j", Request: job.RequestID}})
	run := ReadRun(t, db, account, ids[0])
	same(t, []any{run.Status, *run.JobVersion, run.StartedAt != nil}, []any{jobs.Running, 1, true})
	same(t, claim(t, db, job.Lane(), "boot", 4), ids[1:5])
	same(t, claim(t, db, jobs.Lane(account, "b:80"), "boot", 4), nil)
	refusedRuns := write(t, db, func(ctx context.Context, tx *store.Tx) (int, error) {
		return tx.RefuseRuns(ctx, job.Lane(), oddText, 3)
	})
	same(t, refusedRuns, 3)
	run = ReadRun(t, db, account, ids[5])
	same(t, []any{run.Status, *run.Reason, *run.Error, run.StartedAt}, []any{jobs.Failed, jobs.QuotaExceeded, oddText, (*time.Time)(nil)})
	same(t, pending(), 2)
	read := of(t, db, (*store.ReadTx).Configurations, []string{job.RequestID, newID()})
	same(t, len(read), 1)
	same(t, read[job.RequestID].Plain(), job.Configuration.Plain())
	db.SealWith(newRing(t)) // a ring that cannot open the configuration
	same(t, len(of(t, db, (*store.ReadTx).Configurations, []string{job.RequestID})), 0)
}

func turns(t *testing.T, db *store.DB) {
	accounts, hosts := []string{}, []string{"a", "b", "c.d", "~"}
	lanes := map[string][]string{}
	for range 3 {
		account := newAccount(t, db).ID
		accounts = append(accounts, account)
		for i, host := range hosts {
			job := NewJob(account, fmt.Sprint("j", i), "http://"+host+"/")
			lanes[account] = append(lanes[account], job.Lane())
			AddJobs(t, db, job)
			Queue(t, db, job, 3)
		}
	}
	slices.Sort(accounts)
	for _, test := range []struct {
		after string
		limit int
		want  []string
	}{{"", 9, accounts}, {"", 2, accounts[:2]}, {accounts[0], 9, accounts[1:]}, {accounts[2], 9, nil}} {
		t.Run(fmt.Sprintf("%d of at most %d", len(test.want), test.limit), func(t *testing.T) {
			same(t, write(t, db, func(ctx context.Context, tx *store.Tx) ([]string, error) {
				return tx.PendingAccounts(ctx, test.after, test.limit)
			}), test.want)
		})
	}
	own := lanes[accounts[1]]
	for _, test := range []struct {
		after string
		limit int
		want  []string
	}{{"", 9, own}, {"", 2, own[:2]}, {own[1], 9, own[2:]}, {own[3], 9, nil}} {
		t.Run(fmt.Sprintf("%d of at most %d", len(test.want), test.limit), func(t *testing.T) {
			same(t, write(t, db, func(ctx context.Context, tx *store.Tx) ([]string, error) {
				return tx.PendingLanes(ctx, accounts[1], test.after, test.limit)
			}), test.want)
		})
	}
}

func outcomes(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	job := NewJob(account, "j", "http://a/")
	AddJobs(t, db, job)
	ids := Queue(t, db, job, 300)
	claim(t, db, job.Lane(), "mine", 299)
	claim(t, db, job.Lane(), "other", 1)
	cancel(t, db, account, ids[0])
	owned := of(t, db, (*store.ReadTx).Owned, "mine")
	same(t, len(owned), 298)
	for lease, want := range map[string][]string{"mine": {ids[1]}, "other": {ids[299]}, "none": nil} {
		t.Run(lease, func(t *testing.T) {
			some := write(t, db, func(ctx context.Context, tx *store.Tx) ([]string, error) {
				return tx.OwnedOf(ctx, lease, []string{ids[0], ids[1], ids[299]})
			})
			same(t, some, want)
		})
	}
	reason, detail := jobs.Timeout, oddText
	all := make([]worker.Outcome, len(ids))
	for i, id := range ids {
		all[i] = worker.Outcome{Run: id, Status: jobs.Failed, Reason: &reason, Error: &detail, FinishedAt: at(90)}
	}
	same(t, len(finish(t, db, "mine", all...)), 298)
	same(t, len(finish(t, db, "mine", all...)), 0)
	same(t, finish(t, db, "mine"), nil)
	for id, want := range map[string]jobs.Status{ids[0]: jobs.Canceled, ids[1]: jobs.Failed, ids[299]: jobs.Running} {
		same(t, ReadRun(t, db, account, id).Status, want)
	}
	run := ReadRun(t, db, account, ids[1])
	same(t, []any{*run.Reason, *run.Error, *run.FinishedAt}, []any{jobs.Timeout, oddText, at(90)})
}

func metering(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	for _, more := range []int{0, 5, 7} {
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.MeterRuns(ctx, account, "2031-02", more) })
	}
	for period, want := range map[string]int{"2031-02": 12, "2031-03": 0} {
		t.Run(period, func(t *testing.T) {
			same(t, find(t, db, (*store.ReadTx).RunsUsed, account, period), want)
		})
	}
}

func nodes(t *testing.T, db *store.DB) {
	ctx, account := t.Context(), newAccount(t, db).ID
	job := NewJob(account, "j", "http://a/")
	AddJobs(t, db, job)
	beat := func(boot string) {
		do(t, db, "", func(ctx context.Context, tx *store.Tx) error { return tx.Beat(ctx, boot, "n") })
	}
	known := func() (known []worker.Node) {
		must(t, db.Worker().Read(ctx, func(ctx context.Context, tx worker.ReadTx) (err error) { known, err = tx.Nodes(ctx); return err }))
		return known
	}
	lives := func(boot string) (lives, settled bool) {
		return write(t, db, func(ctx context.Context, tx *store.Tx) (bool, error) { return tx.Lives(ctx, boot) }),
			write(t, db, func(ctx context.Context, tx *store.Tx) (bool, error) { return tx.Settled(ctx, boot) })
	}
	beat("boot")
	before := known()[0]
	same(t, []string{before.Boot, before.Name}, []string{"boot", "n"})
	for boot, want := range map[string]bool{"boot": true, "nobody": false} {
		alive, settled := lives(boot)
		same(t, []bool{alive, settled}, []bool{want, want})
	}
	beat("boot")
	giveUp := func(node worker.Node) bool {
		return write(t, db, func(ctx context.Context, tx *store.Tx) (bool, error) { return tx.GiveUp(ctx, node) })
	}
	isSilent := func(node worker.Node) bool {
		return write(t, db, func(ctx context.Context, tx *store.Tx) (bool, error) { return tx.IsSilent(ctx, node) })
	}
	same(t, []bool{isSilent(before), giveUp(before)}, []bool{false, false})
	same(t, []bool{isSilent(known()[0]), giveUp(known()[0])}, []bool{true, true})
	same(t, len(known()), 0)
	beat("boot")
	same(t, known()[0].Beat > before.Beat, true)
	ids := Queue(t, db, job, 3)
	claim(t, db, job.Lane(), "boot", 2)
	claim(t, db, job.Lane(), "other", 1)
	same(t, loseRuns(t, db, "boot", oddText), 2)
	run := ReadRun(t, db, account, ids[0])
	same(t, []any{run.Status, *run.Reason, *run.Error}, []any{jobs.Failed, jobs.WorkerLost, oddText})
	same(t, ReadRun(t, db, account, ids[2]).Status, jobs.Running)
}
