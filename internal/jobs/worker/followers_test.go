package worker_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// newPair creates a worker and a follower that sends deliveries of webhooks.
func newPair(t *testing.T, db *store.DB, change ...func(*worker.Worker)) (leader, follower *rig) {
	t.Helper()
	follower = newRig(t, db, func(w *worker.Worker) { w.Store, w.Unmetered, w.Once = db.Deliveries(webhooks.Composer{}), true, true })
	leader = newRig(t, db, append(change, func(w *worker.Worker) { w.Followers = []*worker.Worker{follower.Worker} })...)
	return leader, follower
}

// tell records changes, of which the account's webhooks get events.
func tell(t *testing.T, db *store.DB, account string, count int) {
	t.Helper()
	err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
		made := make([]changes.Change, count)
		for i := range made {
			made[i] = changes.Change{Kind: "flag", Key: fmt.Sprint("f", i), Action: changes.Created, Actor: changes.System()}
		}
		return tx.RecordChanges(ctx, account, made...)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// deliveries returns the ids of a webhook's deliveries with a status, sorted; "" is any.
func deliveries(t *testing.T, db *store.DB, hook webhooks.Webhook, status webhooks.DeliveryStatus) (ids []string) {
	t.Helper()
	err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
		found, err := tx.Deliveries(ctx, hook.Account, webhooks.DeliveryFilter{Webhook: hook.ID, Status: status}, page.Cursor{Size: 20_000})
		for _, each := range found.Items {
			ids = append(ids, each.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	return ids
}

// TestFollowers_NoDeliveryIsLost: nodes die with deliveries claimed, and others send them, with the same ids.
func TestFollowers_NoDeliveryIsLost(t *testing.T) {
	t.Parallel()
	total := suite.Scale(200, 10_000)
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		hook := storetest.NewWebhook(account, "http://hook.test/", webhooks.Standard)
		storetest.AddWebhooks(t, db, hook)
		tell(t, db, account, total)
		made := deliveries(t, db, hook, webhooks.Pending)
		var claimed []worker.Claim
		err := db.Deliveries(webhooks.Composer{}).Write(t.Context(), "", func(ctx context.Context, tx worker.Tx) (err error) { // by nodes that were killed
			for _, boot := range []string{"dead", "deader"} {
				if err := tx.Beat(ctx, boot, boot); err != nil {
					return err
				}
				more, err := tx.ClaimRuns(ctx, hook.Lane(), boot, total/4)
				if err != nil {
					return err
				}
				claimed = append(claimed, more...)
			}
			return nil
		})
		if err != nil || len(made) != total || len(claimed) != total/4*2 {
			t.Fatal(len(made), len(claimed), err)
		}
		mortal := func(w *worker.Worker) { w.Intervals.LostAfter = 500 * time.Millisecond }
		first, firstHooks := newPair(t, db, mortal)
		second, secondHooks := newPair(t, db, mortal)
		first.start(t)
		second.start(t)
		storetest.Wait(t, soon, "all are delivered", func() bool { return len(deliveries(t, db, hook, webhooks.Delivered)) == total })
		sent := slices.Concat(firstHooks.sender.order(), secondHooks.sender.order())
		slices.Sort(sent)
		if !slices.Equal(slices.Compact(sent), made) {
			t.Errorf("%d ids were sent, %d made", len(sent), len(made))
		}
	})
}

// TestFollowers_NeitherTakesThePlaceOfTheOther: deliveries go on while the limit of runs is used up, and the other way
// round.
func TestFollowers_NeitherTakesThePlaceOfTheOther(t *testing.T) {
	t.Parallel()
	db := storetest.OpenSealed(t, storetest.New(t, "sqlite"))
	account := storetest.NewTenant(t, db, "pro").Account.ID
	slow, quick := storetest.NewWebhook(account, "http://slow.test/", webhooks.Standard), storetest.NewWebhook(account, "http://quick.test/", webhooks.Standard)
	storetest.AddWebhooks(t, db, slow, quick)
	few := worker.Limits{Node: 4, Account: 4, Host: 2}
	leader, follower := newPair(t, db, func(w *worker.Worker) { w.Limits = few })
	follower.Limits = few
	open, openRuns := follower.sender.hold("slow.test"), leader.sender.hold("held")
	defer open()
	defer openRuns()
	leader.start(t)
	tell(t, db, account, 10)
	follower.Wake()
	storetest.Wait(t, soon, "the quick webhook is told although the slow one hangs", func() bool { return len(deliveries(t, db, quick, webhooks.Delivered)) == 10 })
	run := storetest.Queue(t, db, newJob(t, db, account, "run.test"), 1)[0]
	leader.Wake()
	leader.ended(t, account, run, "SUCCEEDED")
	storetest.Queue(t, db, newJob(t, db, account, "held"), 10)
	leader.Wake()
	storetest.Wait(t, soon, "runs hang", func() bool { return leader.sender.inFlight("held") > 0 })
	tell(t, db, account, 1)
	follower.Wake()
	storetest.Wait(t, soon, "the quick webhook is told although runs hang", func() bool { return len(deliveries(t, db, quick, webhooks.Delivered)) == 11 })
	if follower.sender.peak("slow.test") > 2 {
		t.Error("more requests are in flight to a host than its limit allows")
	}
}

// TestFollowers_PartitionedNodeAborts: a follower lives and dies with its leader's heartbeats.
func TestFollowers_PartitionedNodeAborts(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	behind, proxy := database.ThroughProxy(t)
	near, far := storetest.OpenSealed(t, database), storetest.OpenSealed(t, behind)
	account := storetest.NewTenant(t, near, "pro").Account.ID
	hook := storetest.NewWebhook(account, "http://hook.test/", webhooks.Standard)
	storetest.AddWebhooks(t, near, hook)
	mortal := func(w *worker.Worker) { w.Intervals.AbortAfter, w.Intervals.LostAfter = time.Second, 4*time.Second }
	cut, cutHooks := newPair(t, far, mortal)
	cutHooks.sender.hold("hook.test")
	cut.start(t)
	tell(t, near, account, 1)
	storetest.Wait(t, soon, "the request is made", func() bool { return cutHooks.sender.inFlight("hook.test") == 1 })
	other, _ := newPair(t, near, mortal)
	other.start(t)
	storetest.Wait(t, soon, "both beat", func() bool { return nodes(t, near) == 2 })
	proxy.Down()
	defer proxy.Up()
	storetest.Wait(t, soon, "the other node delivers it", func() bool { return len(deliveries(t, near, hook, webhooks.Delivered)) == 1 })
	if cutHooks.sender.cause(cutHooks.sender.order()[0]) == nil {
		t.Error("the request was not aborted before")
	}
}
