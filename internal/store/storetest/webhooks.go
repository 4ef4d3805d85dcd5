package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// NewWebhook returns a webhook that gets every event.
func NewWebhook(account, url string, format webhooks.Format) webhooks.Webhook {
	return webhooks.Webhook{Account: account, ID: newID(), Name: oddText, URL: url, Format: format, Events: []string{"*"}, Filter: webhooks.Filter{IDs: []string{"*"}},
		Headers: []webhooks.Header{{Name: "X-A", Value: oddText}}, Enabled: true, CreatedAt: at(1), UpdatedAt: at(2),
		Secrets: webhooks.Secrets{Current: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", CreatedAt: at(1)}}
}

// AddWebhooks writes webhooks.
func AddWebhooks(t testing.TB, db *store.DB, added ...webhooks.Webhook) {
	t.Helper()
	do(t, db, added[0].Account, func(ctx context.Context, tx *store.Tx) error {
		for _, webhook := range added {
			if err := tx.InsertWebhook(ctx, webhook); err != nil {
				return err
			}
		}
		return nil
	})
}

// hookTest is a database with a clock, and a webhook.
type hookTest struct {
	*testing.T
	db      *store.DB
	now     *time.Time
	account string
	hook    webhooks.Webhook
}

func newHookTest(t *testing.T, kind string, format webhooks.Format) hookTest {
	t.Helper()
	now := at(0)
	db := OpenSealed(t, New(t, kind), func(o *store.Options) { o.Now = func() time.Time { return now } })
	account := newAccount(t, db).ID
	hook := NewWebhook(account, "http://hook.test/path", format)
	AddWebhooks(t, db, hook)
	return hookTest{t, db, &now, account, hook}
}

// change records a change of a resource.
func (t hookTest) change(kind, key string) {
	t.Helper()
	do(t, t.db, t.account, func(ctx context.Context, tx *store.Tx) error {
		return tx.RecordChanges(ctx, t.account, changes.Change{Kind: kind, Key: key, Action: changes.Created, Actor: changes.System(), After: json.RawMessage(`{"name":"x"}`)})
	})
}

// tx runs a transaction of a worker that sends deliveries.
func (t hookTest) tx(fn func(context.Context, worker.Tx) error) {
	t.Helper()
	must(t, t.db.Deliveries(webhooks.Composer{}).Write(t.Context(), "", fn))
}

// claim claims the pending deliveries of the webhook.
func (t hookTest) claim(lease string) (ids []string) {
	t.Helper()
	t.tx(func(ctx context.Context, tx worker.Tx) error {
		claims, err := tx.ClaimRuns(ctx, t.hook.Lane(), lease, 5000)
		ids = nil
		for _, each := range claims {
			same(t, []string{each.Account, each.Lane, each.Request}, []string{t.account, t.hook.Lane(), each.Run})
			ids = append(ids, each.Run)
		}
		return err
	})
	slices.Sort(ids)
	return ids
}

// finish ends the attempt of a delivery with a status, or without an answer for 0.
func (t hookTest) finish(id, lease string, status int) []string {
	t.Helper()
	outcome := worker.Outcome{Run: id, Status: jobs.Succeeded, FinishedAt: t.now.Add(20 * time.Millisecond), Result: &jobs.Result{Status: status, Body: strings.Repeat("é", 1024)}}
	if status == 0 {
		outcome.Status, outcome.Reason, outcome.Error, outcome.Result = jobs.Failed, new(jobs.ConnectionError), new("refused"), nil
	}
	owned, err := t.db.Deliveries(webhooks.Composer{}).FinishRuns(t.Context(), lease, []worker.Outcome{outcome})
	must(t, err)
	return owned
}

func (t hookTest) read() webhooks.Webhook {
	t.Helper()
	return find(t, t.db, (*store.ReadTx).Webhook, t.account, t.hook.ID)
}

// all returns the deliveries of the webhook, newest first.
func (t hookTest) all() []webhooks.Delivery {
	t.Helper()
	return list(t, t.db, (*store.ReadTx).Deliveries, t.account, webhooks.DeliveryFilter{Webhook: t.hook.ID}, page.Cursor{Size: 1000}).Items
}

func (t hookTest) types() (types []string) {
	t.Helper()
	for _, delivery := range t.all() {
		types = append(types, delivery.Type)
	}
	slices.Sort(types)
	return types
}

// unhealthy returns the webhooks that metrics name.
func (t hookTest) unhealthy() (found []jobs.Unhealthy) {
	t.Helper()
	t.tx(func(ctx context.Context, tx worker.Tx) (err error) {
		found, err = tx.UnhealthyJobs(ctx, 10)
		return err
	})
	return found
}

func (t hookTest) release() int {
	t.Helper()
	return write(t.T, t.db, func(ctx context.Context, tx *store.Tx) (int, error) { return tx.ReleaseDeliveries(ctx, 100) })
}

// bodies returns the bodies of claimed deliveries.
func (t hookTest) bodies(ids ...string) (bodies []string) {
	t.Helper()
	t.tx(func(ctx context.Context, tx worker.Tx) error {
		found, err := tx.Configurations(ctx, ids)
		bodies = nil
		for _, id := range ids {
			bodies = append(bodies, *found[id].Plain().Body)
		}
		return err
	})
	return bodies
}

func webhookConcept(t *testing.T, shared *store.DB) {
	for name, part := range map[string]func(*testing.T, string){
		"stored": storedWebhooks, "attempts": deliveryAttempts, "disabled": disabledWebhooks, "joined": joinedDeliveries, "lost nodes": lostDeliveries,
		"again": redeliveries, "id used again": reusedIDs, "surplus": surplusDeliveries, "old": oldDeliveries, "jobs": jobEvents, "silent services": silentServices, "silence after an outage": silenceAfterOutage,
		"no webhooks": noWebhooks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, shared.Name())
		})
	}
}

func storedWebhooks(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	got := t.read()
	same(t, got, t.hook)
	other := newAccount(outer, t.db).ID
	lacks(outer, t.db, (*store.ReadTx).Webhook, other, t.hook.ID)
	t.hook.URL, t.hook.Enabled, t.hook.Name, t.hook.UpdatedAt = "http://b.test/", false, "b", at(5)
	do(t, t.db, t.account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateWebhook(ctx, t.hook) })
	same(t, t.read(), t.hook)
	listed := list(t, t.db, (*store.ReadTx).Webhooks, t.account, webhooks.ListFilter{Search: "B"}, page.Request{Number: 1, Size: 10, Total: true})
	same(t, listed.Items, []webhooks.Webhook{t.hook})
	same(t, list(t, t.db, (*store.ReadTx).Webhooks, other, webhooks.ListFilter{}, page.Request{Number: 1, Size: 10}).Items, nil)
	same(t, write(outer, t.db, func(ctx context.Context, tx *store.Tx) (int, error) { return tx.CountWebhooks(ctx, t.account) }), 1)
	t.change("flag", "f") // it is disabled
	same(t, len(t.all()), 0)
	exists := func() bool {
		return write(outer, t.db, func(ctx context.Context, tx *store.Tx) (bool, error) { return tx.WebhookExists(ctx, t.hook.ID) })
	}
	same(t, exists(), true)
	do(t, t.db, t.account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteWebhook(ctx, t.hook) })
	same(t, exists(), false)
	lacks(outer, t.db, (*store.ReadTx).Webhook, t.account, t.hook.ID)
	must(t, t.db.Webhooks().Read(t.Context(), func(ctx context.Context, tx webhooks.ReadTx) error {
		_, err := tx.Webhooks(ctx, other, webhooks.ListFilter{}, page.Request{Number: 1, Size: 1})
		return err
	}))
}

func deliveryAttempts(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	woken := 0
	t.db.OnDeliveries(func() { woken++ })
	t.change("flag", "f")
	same(t, woken, 1)
	t.tx(func(ctx context.Context, tx worker.Tx) error {
		accounts, err := tx.PendingAccounts(ctx, "", 10)
		same(t, accounts, []string{t.account})
		must(t, err)
		lanes, err := tx.PendingLanes(ctx, t.account, "", 10)
		same(t, lanes, []string{t.hook.Lane()})
		count, failed := tx.CountPending(ctx, 10)
		must(t, failed)
		same(t, count, 1)
		return err
	})
	ids := t.claim("boot")
	same(t, len(ids), 1)
	same(t, len(t.claim("boot")), 0)
	if body := t.bodies(ids...)[0]; !strings.Contains(body, `"type":"change.flag"`) || !strings.Contains(body, `"seq":1`) {
		t.Error(body)
	}
	same(t, len(t.finish(ids[0], "another", 200)), 0) // the lease is another's
	same(t, t.finish(ids[0], "boot", 0), ids)
	got := find3(t, t.account, t.hook.ID, ids[0])
	same(t, []any{got.Status, got.Events, *got.Attempts[0].Error, got.Attempts[0].DurationMS}, []any{webhooks.Pending, 1, "refused", int64(20)})
	if wait := got.DueAt.Sub(*t.now); wait < 4*time.Second || wait > 6*time.Second {
		t.Errorf("the second attempt is %s later", wait)
	}
	same(t, t.read().State(), webhooks.Failing)
	same(t, t.unhealthy(), []jobs.Unhealthy{{Account: t.account, Key: t.hook.ID, State: "failing"}})
	same(t, t.release(), 0)
	next := of(t, t.db, func(tx *store.ReadTx, ctx context.Context, _ int) (*time.Time, error) { return tx.NextDelivery(ctx) }, 0)
	*t.now = *next
	same(t, t.release(), 1)
	same(t, t.claim("boot"), ids)
	t.tx(func(ctx context.Context, tx worker.Tx) error { // no resources to send it
		back, err := tx.PutBack(ctx, ids[0], "boot")
		same(t, back, true)
		return err
	})
	same(t, t.claim("boot"), ids)
	same(t, t.finish(ids[0], "boot", 204), ids)
	got = find3(t, t.account, t.hook.ID, ids[0])
	same(t, []any{got.Status, len(got.Attempts), *got.Attempts[1].Status, len(*got.Attempts[1].Answer)}, []any{webhooks.Delivered, 2, 204, 1024})
	read := t.read()
	same(t, []any{read.State(), read.LastDelivery.ID, read.LastDelivery.Status}, []any{webhooks.OK, ids[0], webhooks.Delivered})
	same(t, t.unhealthy(), nil)
}

func find3(t hookTest, account, hook, id string) webhooks.Delivery {
	t.Helper()
	return get(t, t.db, func(ctx context.Context, tx *store.ReadTx) (webhooks.Delivery, error) {
		return tx.Delivery(ctx, account, hook, id)
	})
}

func disabledWebhooks(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	watcher := NewWebhook(t.account, "http://watcher.test/", webhooks.Standard)
	watcher.Events = []string{"change.webhook"}
	AddWebhooks(t, t.db, watcher)
	t.change("flag", "f")
	t.change("flag", "g")
	ids := t.claim("boot")
	same(t, t.finish(ids[0], "boot", 500), ids[:1])
	*t.now = t.now.Add(5*24*time.Hour + time.Second)
	same(t, t.finish(ids[1], "boot", 500), ids[1:])
	same(t, t.read().State(), webhooks.Disabled)
	for _, delivery := range t.all() {
		if delivery.Status != webhooks.Failed && delivery.Status != webhooks.Canceled {
			t.Errorf("%+v", delivery)
		}
	}
	same(t, t.unhealthy(), []jobs.Unhealthy{{Account: t.account, Key: t.hook.ID, State: "disabled"}})
	found, err := t.db.History().Changes(t.Context(), t.account, changes.Filter{Kind: webhooks.Kind, Key: t.hook.ID}, 0, 10)
	must(t, err)
	if len(found.Items) != 1 || !strings.Contains(*found.Items[0].Note, "five days") || strings.Contains(string(found.Items[0].After), "path") {
		t.Errorf("%+v", found.Items)
	}
	told := list(t, t.db, (*store.ReadTx).Deliveries, t.account, webhooks.DeliveryFilter{Webhook: watcher.ID, Status: webhooks.Pending}, page.Cursor{Size: 10}).Items
	same(t, len(told), 1) // another webhook hears of it
	t.hook = watcher
	gone := t.claim("boot")
	same(t, t.finish(gone[0], "boot", 410), gone)
	same(t, t.read().State(), webhooks.Disabled)
}

// surplusDeliveries checks that a webhook keeps its newest unfinished deliveries up to a limit, whatever state they wait in.
func surplusDeliveries(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	for i := range 6 {
		*t.now = t.now.Add(time.Second)
		t.change("flag", fmt.Sprint("f", i))
	}
	ids := t.claim("boot")
	for _, id := range ids[:3] { // one is delivered, two wait for another attempt, one is being sent, two are pending
		t.finish(id, "boot", map[bool]int{true: 200, false: 500}[id == ids[0]])
	}
	t.tx(func(ctx context.Context, tx worker.Tx) error {
		for _, id := range ids[4:] {
			if _, err := tx.PutBack(ctx, id, "boot"); err != nil {
				return err
			}
		}
		return nil
	})
	other := NewWebhook(t.account, "http://other.test", webhooks.Standard)
	AddWebhooks(t, t.db, other)
	ended := 0
	courier := &webhooks.Courier{Store: t.db.Courier(), Log: slog.New(slog.DiscardHandler), Ended: func(deliveries int) { ended += deliveries }, MaxUnfinished: 4}
	must(t, courier.EndSurplus(t.Context()))
	same(t, ended, 0)
	t.change("flag", "of both")
	courier.MaxUnfinished = 3
	overfull := webhooks.Overfull{Account: t.account, Webhook: t.hook.ID}
	same(t, of(t, t.db, (*store.ReadTx).OverfullWebhooks, 3), []webhooks.Overfull{overfull})
	same(t, list(t, t.db, (*store.ReadTx).SurplusDeliveries, overfull, 3, 1), ids[2:3])
	for range 2 {
		must(t, courier.EndSurplus(t.Context()))
	}
	same(t, ended, 2)
	var states []string
	for _, delivery := range t.all() {
		states = append(states, string(delivery.Status))
	}
	same(t, states, []string{"pending", "pending", "pending", "sending", "failed", "failed", "delivered"})
	failed := t.all()[5]
	last := failed.Attempts[len(failed.Attempts)-1]
	if len(failed.Attempts) != 2 || last.Status != nil || last.Answer != nil || *last.Error != "It was not sent, because the webhook had more than 3 unfinished deliveries." {
		t.Errorf("%+v", failed)
	}
	same(t, len(list(t, t.db, (*store.ReadTx).Deliveries, t.account, webhooks.DeliveryFilter{Webhook: other.ID, Status: webhooks.Pending}, page.Cursor{Size: 10}).Items), 1)
	do(t, t.db, t.account, func(ctx context.Context, tx *store.Tx) error { // it can be sent again, but not ended again meanwhile
		queued, err := tx.Redeliver(ctx, t.hook, webhooks.Redelivery{ID: failed.ID})
		same(t, queued, 1)
		return err
	})
	same(t, t.claim("later")[0], failed.ID)
	do(t, t.db, t.account, func(ctx context.Context, tx *store.Tx) error {
		count, err := tx.EndDeliveries(ctx, []string{failed.ID, ids[0]}, "why")
		same(t, count, 0)
		return err
	})
	same(t, t.finish(failed.ID, "later", 200), []string{failed.ID})
}

func joinedDeliveries(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Slack)
	for i := range 30 {
		t.change("flag", fmt.Sprint("f", i))
	}
	t.change("config", "c")
	same(t, len(t.claim("boot")), 0)
	same(t, t.release(), 0)
	shown := t.all()
	same(t, []int{len(shown), max(shown[0].Events, shown[1].Events)}, []int{2, 30})
	*t.now = t.now.Add(30 * time.Second)
	same(t, t.release(), 2)
	t.change("flag", "later") // the message is closed
	ids := t.claim("boot")
	bodies := strings.Join(t.bodies(ids...), "\n")
	if !strings.Contains(bodies, "30 events of flag: change.flag") || !strings.Contains(bodies, "Config c: created") {
		t.Error(bodies)
	}
	same(t, len(t.all()), 3)
	for _, id := range ids {
		same(t, t.finish(id, "boot", 200), []string{id})
	}
}

func lostDeliveries(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	t.change("flag", "f")
	ids := t.claim("dead")
	t.tx(func(ctx context.Context, tx worker.Tx) error {
		owned, err := tx.Owned(ctx, "dead")
		same(t, owned, ids)
		must(t, err)
		owned, err = tx.OwnedOf(ctx, "dead", append([]string{"none"}, ids...))
		same(t, owned, ids)
		return err
	})
	must(t, t.db.Deliveries(webhooks.Composer{}).Read(t.Context(), func(ctx context.Context, tx worker.ReadTx) error {
		owned, err := tx.OwnedOf(ctx, "other", ids)
		same(t, owned, nil)
		return err
	}))
	loseRuns(outer, t.db, "dead", "gone")
	same(t, len(t.finish(ids[0], "dead", 200)), 0) // the dead node's outcome comes too late
	same(t, t.claim("boot"), ids)
	lost := worker.Outcome{Run: ids[0], Status: jobs.Failed, Reason: new(jobs.WorkerLost), Error: new("stopped"), FinishedAt: *t.now}
	owned, err := t.db.Deliveries(webhooks.Composer{}).FinishRuns(t.Context(), "boot", []worker.Outcome{lost})
	must(t, err)
	same(t, owned, ids)
	same(t, len(find3(t, t.account, t.hook.ID, ids[0]).Attempts), 0) // it does not count
	same(t, t.claim("boot"), ids)
}

func redeliveries(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	again := func(what webhooks.Redelivery) int {
		return write(outer, t.db, func(ctx context.Context, tx *store.Tx) (int, error) { return tx.Redeliver(ctx, t.hook, what) })
	}
	t.change("flag", "f")
	t.change("flag", "g")
	ids := t.claim("boot")
	same(t, again(webhooks.Redelivery{ID: ids[0], Delivered: true}), 0) // it is being sent
	t.finish(ids[0], "boot", 200)
	t.finish(ids[1], "boot", 500)
	do(t, t.db, t.account, func(ctx context.Context, tx *store.Tx) error { return tx.CancelDeliveries(ctx, t.hook.ID) })
	day := webhooks.Redelivery{From: t.now.Add(-time.Hour), To: t.now.Add(time.Hour)}
	same(t, again(webhooks.Redelivery{From: t.now.Add(time.Second), To: t.now.Add(time.Hour), Delivered: true}), 0)
	same(t, again(day), 1)
	same(t, t.claim("boot"), ids[1:])
	same(t, again(webhooks.Redelivery{ID: ids[0], Delivered: true}), 1)
	same(t, t.claim("boot"), ids[:1])
	t.finish(ids[0], "boot", 200)
	same(t, len(find3(t, t.account, t.hook.ID, ids[0]).Attempts), 2)
	same(t, t.finish(ids[1], "boot", 500), ids[1:])
	same(t, t.claim("boot"), nil) // it waits
	same(t, again(day), 1)
	same(t, t.claim("boot"), ids[1:])
	t.finish(ids[1], "boot", 200)
	planned := webhooks.Tested(t.hook, changes.System(), "1", *t.now).To(t.hook)
	do(t, t.db, t.account, func(ctx context.Context, tx *store.Tx) error {
		return tx.InsertDeliveries(ctx, t.account, []webhooks.Planned{planned, planned})
	})
	same(t, t.types(), []string{"change.flag", "change.flag", "webhook.test"})
}

// reusedIDs checks that a webhook with the id of another account's deleted webhook neither shows nor sends the
// deliveries of the deleted one.
func reusedIDs(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	t.change("flag", "f")
	claimed := t.claim("boot")
	t.change("flag", "g")
	canceled := t.all()[0].ID
	do(t, t.db, t.account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteWebhook(ctx, t.hook) })
	other := NewWebhook(newAccount(outer, t.db).ID, "http://other.test/", webhooks.Standard)
	other.ID = t.hook.ID
	AddWebhooks(t, t.db, other)
	if last := find(t, t.db, (*store.ReadTx).Webhook, other.Account, other.ID).LastDelivery; last != nil {
		t.Errorf("it shows the delivery %+v", last)
	}
	for _, what := range []webhooks.Redelivery{{From: t.now.Add(-time.Hour), To: t.now.Add(time.Hour), Delivered: true}, {ID: canceled, Delivered: true}} {
		same(t, write(outer, t.db, func(ctx context.Context, tx *store.Tx) (int, error) { return tx.Redeliver(ctx, other, what) }), 0)
	}
	t.tx(func(ctx context.Context, tx worker.Tx) error { // it was claimed before the webhook was deleted
		found, err := tx.Configurations(ctx, claimed)
		same(t, len(found), 0)
		return err
	})
	same(t, t.finish(claimed[0], "boot", 500), claimed)
	same(t, find(t, t.db, (*store.ReadTx).Webhook, other.Account, other.ID).State(), webhooks.OK)
}

func oldDeliveries(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	t.change("flag", "f")
	t.change("flag", "g")
	ids := t.claim("boot")
	t.finish(ids[0], "boot", 200)
	removed, err := t.db.RemoveDeliveries(t.Context(), t.now.Add(time.Hour), nil)
	must(t, err)
	same(t, removed, 1)
	same(t, len(t.all()), 1)
	if body := t.bodies(ids[1])[0]; !strings.Contains(body, `"type":"change.flag"`) {
		t.Error(body)
	}
	t.finish(ids[1], "boot", 200)
	removed, err = t.db.RemoveDeliveries(t.Context(), t.now.Add(-time.Hour), nil)
	must(t, err)
	same(t, removed, 0)
}

func jobEvents(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	t.hook.Events = []string{"job.*", "run.failed", "usage.exhausted"}
	do(t, t.db, t.account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateWebhook(ctx, t.hook) })
	job := NewJob(t.account, "j", "http://a/")
	job.Alerts = &jobs.Alerts{AfterFailures: 1, RecoverAfter: 1, RemindEvery: new(300)}
	AddJobs(t, t.db, job)
	end := func(outcome worker.Outcome) {
		outcome.Run, outcome.FinishedAt = Queue(t, t.db, job, 1)[0], *t.now
		claim(outer, t.db, job.Lane(), "boot", 1)
		finish(outer, t.db, "boot", outcome)
	}
	end(failed("", 500, nil))
	same(t, t.types(), []string{"job.failing", "run.failed"})
	markLate := func() int {
		return write(outer, t.db, func(ctx context.Context, tx *store.Tx) (int, error) {
			checked, err := tx.MarkLate(ctx, scheduler.LateBatch{}, 10)
			return checked.Jobs, err
		})
	}
	*t.now = t.now.Add(299 * time.Second)
	same(t, markLate(), 0)
	*t.now = t.now.Add(time.Second)
	same(t, []int{markLate(), markLate()}, []int{1, 0})
	same(t, t.types(), []string{"job.failing", "job.reminder", "run.failed"})
	*t.now = t.now.Add(650 * time.Second) // one reminder for what was missed
	same(t, []int{markLate(), markLate()}, []int{1, 0})
	end(worker.Outcome{Status: jobs.Succeeded, Result: &jobs.Result{Status: 200}})
	*t.now = t.now.Add(time.Hour)
	markLate()
	same(t, t.types(), []string{"job.failing", "job.recovered", "job.reminder", "job.reminder", "run.failed"})
	Queue(t, t.db, job, 2)
	for range 2 {
		write(outer, t.db, func(ctx context.Context, tx *store.Tx) (int, error) { return tx.RefuseRuns(ctx, job.Lane(), "used", 1) })
	}
	if got := t.types(); len(got) != 9 || got[8] != "usage.exhausted" { // two runs, one event of usage, failing again
		t.Error(got)
	}
}

func silentServices(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	boot := newID()
	connection := connections.Connection{ID: newID(), Account: t.account, Node: "n", Client: "c", Service: new("shop"), Environment: new("production"), ConnectedAt: at(1)}
	do(t, t.db, "", func(ctx context.Context, tx *store.Tx) error {
		must(t, tx.Beat(ctx, boot, "node"))
		must(t, tx.SaveConnections(ctx, boot, []connections.Connection{connection}))
		return tx.NotePresence(ctx)
	})
	courier := &webhooks.Courier{Store: t.db.Courier()}
	t.watch(courier, 65*time.Minute) // still connected
	same(t, len(t.all()), 0)
	do(t, t.db, "", func(ctx context.Context, tx *store.Tx) error { return tx.ClearConnections(ctx, boot) })
	t.watch(courier, time.Hour)
	same(t, len(t.all()), 0)
	same(t, of(t, t.db, (*store.ReadTx).QuietAccounts, t.now.Add(time.Second-time.Hour)), []string{t.account})
	t.watch(courier, 2*time.Minute)
	same(t, t.types(), []string{"service.silent"})
	do(t, t.db, t.account, func(ctx context.Context, tx *store.Tx) error {
		count, err := tx.TellSilent(ctx, t.account, *t.now)
		same(t, count, 0) // it was told
		return err
	})
}

// watch checks services every minute for some time.
func (t hookTest) watch(courier *webhooks.Courier, d time.Duration) {
	t.Helper()
	for until := t.now.Add(d); t.now.Before(until); {
		*t.now = t.now.Add(time.Minute)
		must(t, courier.CheckServices(t.Context()))
	}
}

// silenceAfterOutage checks that silence counts from when services can report again.
func silenceAfterOutage(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	boot := newID()
	connection := connections.Connection{ID: newID(), Account: t.account, Node: "n", Client: "c", Service: new("shop"), ConnectedAt: at(1)}
	do(t, t.db, "", func(ctx context.Context, tx *store.Tx) error {
		must(t, tx.Beat(ctx, boot, "node"))
		must(t, tx.SaveConnections(ctx, boot, []connections.Connection{connection}))
		must(t, tx.NotePresence(ctx))
		return tx.ClearConnections(ctx, boot)
	})
	*t.now = t.now.Add(2 * time.Hour)
	courier := &webhooks.Courier{Store: t.db.Courier()} // of a server that starts
	t.watch(courier, 59*time.Minute)
	*t.now = t.now.Add(10 * time.Minute) // without a database
	t.watch(courier, time.Hour)
	same(t, len(t.all()), 0)
	t.watch(courier, 2*time.Minute)
	same(t, t.types(), []string{"service.silent"})
}

// noWebhooks checks that an account without webhooks stores no delivery, and neither does a transaction
// that is rolled back.
func noWebhooks(outer *testing.T, kind string) {
	t := newHookTest(outer, kind, webhooks.Standard)
	other := newAccount(outer, t.db).ID
	do(t, t.db, other, func(ctx context.Context, tx *store.Tx) error {
		return tx.RecordChanges(ctx, other, changes.Change{Kind: "flag", Key: "f", Action: changes.Created, Actor: changes.System()})
	})
	undone := fmt.Errorf("undone")
	if err := t.db.Write(t.Context(), t.account, func(ctx context.Context, tx *store.Tx) error {
		must(t, tx.RecordChanges(ctx, t.account, changes.Change{Kind: "flag", Key: "f", Action: changes.Created, Actor: changes.System()}))
		return undone
	}); err == nil {
		t.Error("it was not undone")
	}
	same(t, len(t.all()), 0)
}
