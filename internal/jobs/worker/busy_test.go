package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// pair is a database with two accounts, of which a test makes the first busy.
type pair struct {
	database   storetest.Database
	db         *store.DB
	busy, free jobs.Job
}

func newAccounts(t *testing.T, plan string) pair {
	t.Helper()
	database := storetest.New(t, "postgres")
	p := pair{database: database, db: storetest.OpenSealed(t, database)}
	for i, job := range []*jobs.Job{&p.busy, &p.free} {
		*job = storetest.NewJob(storetest.NewTenant(t, p.db, []string{plan, "pro"}[i]).Account.ID, "j", "http://"+[]string{"busy", "free"}[i]+"/")
		job.Alerts = new(jobs.DefaultAlerts())
		storetest.AddJobs(t, p.db, *job)
	}
	return p
}

// events returns the actions that the history has of the health of a job.
func (p pair) events(t *testing.T, job jobs.Job) (actions []changes.Action) {
	t.Helper()
	found, err := p.db.History().Changes(t.Context(), job.Account, changes.Filter{Kind: jobs.KindHealth, Key: job.Key}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range found.Items {
		actions = append(actions, change.Action)
	}
	return actions
}

// told fails unless the history of each job tells once that it fails.
func (p pair) told(t *testing.T) {
	t.Helper()
	for _, job := range []jobs.Job{p.busy, p.free} {
		if got := p.events(t, job); len(got) != 1 || got[0] != jobs.Failing {
			t.Errorf("the history of %s has %v", job.Lane(), got)
		}
	}
}

// refuse answers every request with 500.
func refuse(worker.Order) (jobs.Result, error) { return jobs.Result{Status: 500}, nil }

// Outcomes of an account whose lock, or whose job, another transaction holds do not delay those of other accounts.
func TestOutcomes_BusyAccountDelaysNoOther(t *testing.T) {
	t.Parallel()
	storetest.Need(t, "postgres")
	for name, lock := range map[string]string{
		"account": `SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE`,
		"job":     `SELECT 1 FROM jobs WHERE account_id = $1 FOR UPDATE`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newAccounts(t, "pro")
			const busy = 400
			r := newRig(t, p.db, func(w *worker.Worker) { w.Limits.Account = 8 })
			r.sender.answer = refuse
			end := p.database.Busy(t, lock, p.busy.Account)
			defer end()
			waiting := storetest.Queue(t, p.db, p.busy, busy)
			r.start(t)
			storetest.Wait(t, soon, "requests of the busy account were made", func() bool { return r.sender.count("busy") >= 8 })
			for range 3 {
				r.ended(t, p.free.Account, storetest.Queue(t, p.db, p.free, 1)[0], "FAILED NON_SUCCESS_STATUS")
			}
			if r.sender.count("busy") == busy { // more than 8, because some were made before the account was known as busy
				t.Error("the outcomes that wait for the busy account have no bound")
			}
			if got := outcome(storetest.ReadRun(t, p.db, p.busy.Account, waiting[0])); got != "RUNNING" {
				t.Errorf("the run of the busy account is %s", got)
			}
			end()
			for _, run := range waiting {
				r.ended(t, p.busy.Account, run, "FAILED NON_SUCCESS_STATUS")
			}
			p.told(t)
			if got := r.observer.count("FAILED NON_SUCCESS_STATUS"); got != busy+3 {
				t.Errorf("%d outcomes were counted", got)
			}
		})
	}
}

// Runs of a busy account that its plan no longer includes do not delay the claims of other accounts.
func TestClaim_BusyAccountDelaysNoOther(t *testing.T) {
	t.Parallel()
	p := newAccounts(t, "free")
	if err := p.db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		return tx.MeterRuns(ctx, p.busy.Account, jobs.Period(tx.Now()), 1_000_000)
	}); err != nil {
		t.Fatal(err)
	}
	end := p.database.BusyAccount(t, p.busy.Account)
	defer end()
	refused := storetest.Queue(t, p.db, p.busy, 1)[0]
	r := newRig(t, p.db).start(t)
	r.ended(t, p.free.Account, storetest.Queue(t, p.db, p.free, 1)[0], "SUCCEEDED")
	end()
	r.ended(t, p.busy.Account, refused, "FAILED QUOTA_EXCEEDED")
}

// The runs of a lost node are lost, except those of a busy account, which follow.
func TestLiveness_BusyAccountDelaysNoOther(t *testing.T) {
	t.Parallel()
	p := newAccounts(t, "pro")
	waiting, free := storetest.Queue(t, p.db, p.busy, 1)[0], storetest.Queue(t, p.db, p.free, 1)[0]
	if err := p.db.Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		for _, job := range []jobs.Job{p.busy, p.free} {
			if _, err := tx.ClaimRuns(ctx, job.Lane(), "dead", 1); err != nil {
				return err
			}
		}
		return tx.Beat(ctx, "dead", "elsewhere")
	}); err != nil {
		t.Fatal(err)
	}
	end := p.database.BusyAccount(t, p.busy.Account)
	defer end()
	r := newRig(t, p.db, func(w *worker.Worker) { w.Intervals.LostAfter = 500 * time.Millisecond }).start(t)
	r.ended(t, p.free.Account, free, "FAILED WORKER_LOST")
	if got := outcome(storetest.ReadRun(t, p.db, p.busy.Account, waiting)); got != "RUNNING" || nodes(t, p.db) != 2 {
		t.Errorf("the run of the busy account is %s", got)
	}
	end()
	r.ended(t, p.busy.Account, waiting, "FAILED WORKER_LOST")
	storetest.Wait(t, soon, "the node is removed", func() bool { return nodes(t, p.db) == 1 })
	p.told(t)
}

// Answers to the messages of a busy account, whose webhook begins to fail, do not delay those of other accounts.
func TestFollowers_BusyAccountDelaysNoOther(t *testing.T) {
	t.Parallel()
	storetest.Need(t, "postgres")
	for name, lock := range map[string]string{
		"account": `SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE`,
		"webhook": `WITH locked AS (SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE) UPDATE webhooks SET name = 'new' FROM locked WHERE account_id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newAccounts(t, "pro")
			hooks := []webhooks.Webhook{storetest.NewWebhook(p.busy.Account, "http://busy/", webhooks.Standard), storetest.NewWebhook(p.free.Account, "http://free/", webhooks.Standard)}
			for _, hook := range hooks {
				storetest.AddWebhooks(t, p.db, hook)
				tell(t, p.db, hook.Account, 3)
			}
			end := p.database.Busy(t, lock, p.busy.Account)
			defer end()
			leader, follower := newPair(t, p.db)
			follower.sender.answer = refuse
			leader.start(t)
			storetest.Wait(t, soon, "all messages are sent", func() bool { return follower.sender.count("") == 6 })
			attempted := func(hook webhooks.Webhook) int { return len(deliveries(t, p.db, hook, webhooks.Pending)) }
			sending := func(hook webhooks.Webhook) int { return len(deliveries(t, p.db, hook, webhooks.Sending)) }
			storetest.Wait(t, soon, "the answers of the free account are stored", func() bool { return sending(hooks[1]) == 0 && attempted(hooks[1]) == 3 })
			if sending(hooks[0]) != 3 {
				t.Error("the answers of the busy account were stored")
			}
			end()
			storetest.Wait(t, soon, "those of the busy account follow", func() bool { return sending(hooks[0]) == 0 && attempted(hooks[0]) == 3 })
		})
	}
}
