package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// Webhooks returns the transactions of package webhooks.
func (db *DB) Webhooks() Transactions[webhooks.ReadTx, webhooks.Tx] {
	return NewTransactions(db, func(tx *ReadTx) webhooks.ReadTx { return tx }, func(tx *Tx) webhooks.Tx { return tx })
}

const webhookColumns = `webhooks.id, webhooks.account_id, name, format, events, filter, enabled, failing_since, sealed, webhooks.created_at, updated_at`

func (tx *ReadTx) scanWebhook(r row) (w webhooks.Webhook, err error) {
	var hidden []byte
	if err := r.Scan(&w.ID, &w.Account, &w.Name, &w.Format, asJSON(&w.Events), asJSON(&w.Filter), &w.Enabled, asTimeOrNull(&w.FailingSince), &hidden,
		asTime(&w.CreatedAt), asTime(&w.UpdatedAt)); err != nil {
		return w, err
	}
	return w, tx.unsealWebhook(&w, hidden)
}

// unsealWebhook decrypts the URL, the headers and the secrets of a webhook.
func (tx *ReadTx) unsealWebhook(w *webhooks.Webhook, hidden []byte) error {
	text, err := tx.ring.Unseal(webhookRows.place(w.ID), hidden)
	if err != nil {
		return err
	}
	var plain webhooks.Hidden
	err = decode(string(text), &plain)
	w.URL, w.Headers, w.Secrets = plain.URL, plain.Headers, plain.Secrets
	return err
}

// Webhook returns a webhook of an account.
func (tx *ReadTx) Webhook(ctx context.Context, account, id string) (webhooks.Webhook, error) {
	found, err := one(ctx, tx.conn, fault.Missing(webhooks.Kind, id), tx.scanWebhook,
		`SELECT `+webhookColumns+` FROM webhooks WHERE account_id = $1 AND id = $2`, account, id)
	if err != nil {
		return found, err
	}
	several := []webhooks.Webhook{found}
	err = tx.addLastDeliveries(ctx, several)
	return several[0], err
}

// Webhooks lists the webhooks of an account.
func (tx *ReadTx) Webhooks(ctx context.Context, account string, filter webhooks.ListFilter, request page.Request) (page.List[webhooks.Webhook], error) {
	found := list{columns: webhookColumns, table: "webhooks", byDefault: "name", tie: "id", sorts: sorts("name", "created_at", "updated_at")}.of(account)
	found.search(filter.Search)
	list, err := pageOf(ctx, tx, found, request, tx.scanWebhook)
	if err != nil {
		return list, err
	}
	return list, tx.addLastDeliveries(ctx, list.Items)
}

// addLastDeliveries adds the newest delivery of each webhook of an account. The deliveries of a deleted webhook stay, and another
// account may use its id again.
func (tx *ReadTx) addLastDeliveries(ctx context.Context, found []webhooks.Webhook) error {
	if len(found) == 0 {
		return nil
	}
	ids := make([]string, len(found))
	for i, webhook := range found {
		ids[i] = webhook.ID
	}
	last := map[string]*webhooks.LastDelivery{}
	_, err := all(ctx, tx.conn, func(r row) (string, error) {
		var webhook string
		var delivery webhooks.LastDelivery
		err := r.Scan(&webhook, &delivery.ID, &delivery.Type, &delivery.Status, asTime(&delivery.CreatedAt))
		delivery.Status = delivery.Status.Shown()
		last[webhook] = &delivery
		return webhook, err
	}, tx.dialect.firstOf(`webhook_id, id, type, status, created_at`, `webhook_deliveries`,
		`SELECT d.id FROM webhook_deliveries AS d WHERE d.account_id = $1 AND d.webhook_id = listed.value AND d.joined_to IS NULL ORDER BY d.id DESC LIMIT 1`),
		found[0].Account, tx.dialect.texts(ids))
	for i := range found {
		found[i].LastDelivery = last[found[i].ID]
	}
	return err
}

// CountWebhooks counts the webhooks of an account.
func (tx *Tx) CountWebhooks(ctx context.Context, account string) (int, error) {
	return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM webhooks WHERE account_id = $1`, account)
}

// WebhookExists reports whether an account of the server has a webhook with an id.
func (tx *Tx) WebhookExists(ctx context.Context, id string) (bool, error) {
	count, err := scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM webhooks WHERE id = $1`, id)
	return count > 0, err
}

// InsertWebhook stores a new webhook.
func (tx *Tx) InsertWebhook(ctx context.Context, w webhooks.Webhook) error {
	hidden, err := tx.sealWebhook(w)
	if err != nil {
		return err
	}
	if err := tx.run(ctx, `INSERT INTO webhooks (id, account_id, name, search, format, events, filter, lane, enabled, failing_since, sealed, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`, w.ID, w.Account, w.Name, searchable(w.ID, w.Name), string(w.Format), asJSON(w.Events), asJSON(w.Filter),
		w.Lane(), w.Enabled, microsOrNull(w.FailingSince), hidden, micros(w.CreatedAt), micros(w.UpdatedAt)); err != nil {
		return err
	}
	return tx.countEnabledWebhooks(ctx, w.Account)
}

// UpdateWebhook stores a changed webhook. Its unsent deliveries go to the new destination.
func (tx *Tx) UpdateWebhook(ctx context.Context, w webhooks.Webhook) error {
	hidden, err := tx.sealWebhook(w)
	if err != nil {
		return err
	}
	if err := tx.run(ctx, `UPDATE webhooks SET name = $2, search = $3, format = $4, events = $5, filter = $6, lane = $7, enabled = $8, failing_since = $9, sealed = $10, updated_at = $11
		WHERE id = $1`, w.ID, w.Name, searchable(w.ID, w.Name), string(w.Format), asJSON(w.Events), asJSON(w.Filter), w.Lane(), w.Enabled, microsOrNull(w.FailingSince), hidden,
		micros(w.UpdatedAt)); err != nil {
		return err
	}
	if err := tx.run(ctx, `UPDATE webhook_deliveries SET lane = $2 WHERE webhook_id = $1 AND status IN ('waiting', 'pending') AND lane <> $2`, w.ID, w.Lane()); err != nil {
		return err
	}
	return tx.countEnabledWebhooks(ctx, w.Account)
}

func (tx *Tx) sealWebhook(w webhooks.Webhook) ([]byte, error) {
	text, err := json.Marshal(w.Hidden())
	if err != nil {
		return nil, err
	}
	return tx.ring.Seal(webhookRows.place(w.ID), text)
}

// countEnabledWebhooks stores how many webhooks of an account are enabled. The caller holds the account's lock.
func (tx *Tx) countEnabledWebhooks(ctx context.Context, account string) error {
	return tx.run(ctx, `UPDATE accounts SET webhooks = (SELECT count(*) FROM webhooks WHERE account_id = $1 AND enabled = TRUE) WHERE id = $1`, account)
}

// DeleteWebhook removes a webhook. Its deliveries can no longer be reached; retention removes them.
func (tx *Tx) DeleteWebhook(ctx context.Context, w webhooks.Webhook) error {
	if err := tx.CancelDeliveries(ctx, w.ID); err != nil {
		return err
	}
	if err := tx.run(ctx, `DELETE FROM webhooks WHERE id = $1`, w.ID); err != nil {
		return err
	}
	return tx.countEnabledWebhooks(ctx, w.Account)
}

// emit stores the deliveries of recorded changes and other events to the webhooks of an account. The caller holds the
// account's lock, so that events of one group join the same delivery.
func (tx *Tx) emit(ctx context.Context, account string, made []changes.Change, others ...webhooks.Event) error {
	subscriptions, err := all(ctx, tx.conn, func(r row) (s webhooks.Subscription, err error) {
		err = r.Scan(&s.ID, &s.Format, asJSON(&s.Events), asJSON(&s.Filter), &s.Lane)
		return s, err
	}, `SELECT id, format, events, filter, lane FROM webhooks WHERE account_id = $1 AND enabled = TRUE ORDER BY id`, account)
	if err != nil || len(subscriptions) == 0 {
		return err
	}
	return tx.InsertDeliveries(ctx, account, webhooks.Plan(subscriptions, made, others))
}

// tellFailures tells webhooks of failed runs, and of accounts that have used up the runs of their
// plan.
func (tx *Tx) tellFailures(ctx context.Context, verdicts []verdict) error {
	events, exhausted := map[string][]webhooks.Event{}, map[string]jobs.Run{}
	for _, each := range verdicts {
		if !each.isTold() {
			continue
		}
		run := each.run
		failed := webhooks.FailedRun{Account: run.Account, Run: run.ID, Job: run.JobKey, Host: each.host, Reason: string(*run.Reason), Attempt: run.Attempt,
			Final: each.Next == nil, At: *run.FinishedAt}
		if run.Error != nil {
			failed.Detail = *run.Error
		}
		events[run.Account] = append(events[run.Account], failed.Event())
		if *run.Reason == jobs.QuotaExceeded {
			exhausted[run.Account] = run
		}
	}
	for account, run := range exhausted {
		first, err := tx.exhaust(ctx, account, jobs.Period(tx.now))
		if err != nil {
			return err
		}
		if first {
			events[account] = append(events[account], webhooks.Exhausted(account, jobs.Period(tx.now), *run.Error, tx.now))
		}
	}
	for account, of := range events {
		if err := tx.emit(ctx, account, nil, of...); err != nil {
			return err
		}
	}
	return nil
}

// exhaust records that the runs of a month are used up, and reports whether this is new.
func (tx *Tx) exhaust(ctx context.Context, account, period string) (bool, error) {
	changed, err := tx.affect(ctx, `INSERT INTO job_usage (account_id, period, used, exhausted_at) VALUES ($1, $2, 0, $3)
		ON CONFLICT (account_id, period) DO UPDATE SET exhausted_at = excluded.exhausted_at WHERE job_usage.exhausted_at IS NULL`, account, period, micros(tx.now))
	return changed > 0, err
}

// NotePresence stores which services of accounts with webhooks are connected now.
func (tx *Tx) NotePresence(ctx context.Context) error {
	return tx.run(ctx, `INSERT INTO service_presence (account_id, service, environment, seen_at)
		SELECT DISTINCT account_id, service, COALESCE(environment, ''), CAST($1 AS BIGINT) FROM connections
		WHERE service IS NOT NULL AND boot IN (SELECT boot FROM worker_nodes) AND account_id IN (SELECT id FROM accounts WHERE webhooks > 0)
		ORDER BY 1, 2, 3
		ON CONFLICT (account_id, service, environment) DO UPDATE SET seen_at = excluded.seen_at, silent = FALSE`, micros(tx.now))
}

// QuietAccounts returns accounts with services that were last connected before an instant and are not known as silent.
func (tx *ReadTx) QuietAccounts(ctx context.Context, before time.Time) ([]string, error) {
	return all(ctx, tx.conn, scanString, `SELECT DISTINCT account_id FROM service_presence WHERE silent = FALSE AND seen_at < $1 ORDER BY account_id LIMIT 1000`, micros(before))
}

// quietService is a service that is not connected, and when it was last connected or reported.
type quietService struct {
	service, environment string
	seen                 time.Time
}

func scanQuiet(r row) (quiet quietService, err error) {
	var flags, loggers *time.Time
	err = r.Scan(&quiet.service, &quiet.environment, asTime(&quiet.seen), asTimeOrNull(&flags), asTimeOrNull(&loggers))
	quiet.seen = *later(later(&quiet.seen, flags), loggers)
	return quiet, err
}

// lastReport returns SQL for the time at which the service of a row of service_presence last reported to a table of sources.
func lastReport(sources string) string {
	return `(SELECT max(s.last_seen) FROM ` + sources + ` AS s WHERE s.account_id = p.account_id AND s.service = p.service AND (p.environment = '' OR s.environment = p.environment))`
}

// TellSilent tells webhooks of the services of an account that were last connected before an instant and have not
// reported since, and returns their number.
func (tx *Tx) TellSilent(ctx context.Context, account string, before time.Time) (int, error) {
	found, err := all(ctx, tx.conn, scanQuiet, `SELECT p.service, p.environment, p.seen_at, `+lastReport("flag_sources")+`, `+lastReport("logger_sources")+`
		FROM service_presence AS p WHERE p.account_id = $1 AND p.silent = FALSE AND p.seen_at < $2 ORDER BY p.service, p.environment LIMIT 100`, account, micros(before))
	if err != nil || len(found) == 0 {
		return 0, err
	}
	var events []webhooks.Event
	rows := make([][]any, len(found))
	for i, quiet := range found {
		silent := quiet.seen.Before(before)
		rows[i] = []any{account, quiet.service, quiet.environment, micros(quiet.seen), silent}
		if silent {
			events = append(events, webhooks.Silent(account, quiet.service, quiet.environment, quiet.seen, tx.now))
		}
	}
	if err := inserts(ctx, tx, `INSERT INTO service_presence (account_id, service, environment, seen_at, silent) VALUES`,
		`ON CONFLICT (account_id, service, environment) DO UPDATE SET seen_at = excluded.seen_at, silent = excluded.silent`, rows); err != nil {
		return 0, err
	}
	return len(events), tx.emit(ctx, account, nil, events...)
}
