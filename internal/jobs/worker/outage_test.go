package worker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// TestFollowers_DeadHostIsOneMessage: many jobs of one host begin to fail. A chat gets one message, and a program one for
// each job.
func TestFollowers_DeadHostIsOneMessage(t *testing.T) {
	t.Parallel()
	failing := suite.Scale(200, 1000)
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := storetest.OpenSealed(t, database)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		chat, program := storetest.NewWebhook(account, "http://chat.test/", webhooks.Slack), storetest.NewWebhook(account, "http://program.test/", webhooks.Standard)
		chat.Events, program.Events = []string{webhooks.JobFailing}, []string{webhooks.JobFailing}
		storetest.AddWebhooks(t, db, chat, program)
		several := make([]jobs.Job, failing)
		for i := range several {
			several[i] = storetest.NewJob(account, fmt.Sprint("job-", i), "http://dead.test/")
			several[i].Alerts = new(jobs.DefaultAlerts())
		}
		for batch := range slices.Chunk(several, 100) { // a transaction may take 20 s
			storetest.AddJobs(t, db, batch...)
		}
		for _, job := range several {
			storetest.Queue(t, db, job, 1)
		}
		leader, _ := newPair(t, db)
		leader.sender.answer = func(worker.Order) (jobs.Result, error) {
			return jobs.Result{}, &worker.SendError{Reason: jobs.ConnectionError, Detail: "connection refused"}
		}
		leader.start(t)
		storetest.Wait(t, soon, "the program is told of every job", func() bool { return len(deliveries(t, db, program, webhooks.Delivered)) == failing })
		checkOneMessage(t, db, chat, failing)
	})
}

// checkOneMessage fails unless one message tells all events.
func checkOneMessage(t *testing.T, db *store.DB, chat webhooks.Webhook, events int) {
	t.Helper()
	var told page.Tail[webhooks.Delivery]
	var messages map[string]jobs.Configuration
	err := db.Deliveries(webhooks.Composer{}).Read(t.Context(), func(ctx context.Context, tx worker.ReadTx) (err error) {
		messages, err = tx.Configurations(ctx, deliveries(t, db, chat, ""))
		return err
	})
	if err == nil {
		err = db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
			told, err = tx.Deliveries(ctx, chat.Account, webhooks.DeliveryFilter{Webhook: chat.ID}, page.Cursor{Size: 10})
			return err
		})
	}
	if err != nil || len(told.Items) != 1 || len(messages) != 1 || told.Items[0].Events != events {
		t.Fatalf("%d messages, %+v, %v", len(messages), told.Items, err)
	}
	body := *messages[told.Items[0].ID].Plain().Body
	if !strings.Contains(body, fmt.Sprintf("%d events of host dead.test:80: job.failing", events)) || !strings.Contains(body, fmt.Sprintf("… and %d more", events-10)) {
		t.Error(body)
	}
}
