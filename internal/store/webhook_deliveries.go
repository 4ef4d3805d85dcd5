package store

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// Courier returns the transactions of a webhooks.Courier.
func (db *DB) Courier() Transactions[webhooks.CourierReadTx, webhooks.CourierTx] {
	return NewTransactions(db, func(tx *ReadTx) webhooks.CourierReadTx { return tx }, func(tx *Tx) webhooks.CourierTx { return tx }).ForLoops()
}

// InsertDeliveries stores events and their deliveries. The caller holds the account's lock.
func (tx *Tx) InsertDeliveries(ctx context.Context, account string, planned []webhooks.Planned) error {
	var events, deliveries [][]any
	leaders := map[[2]string]string{}
	for _, each := range planned {
		data, err := encode(each.Event.Data)
		if err != nil {
			return err
		}
		events = append(events, []any{each.StoredID, account, micros(each.Event.At), data})
		for _, delivery := range each.Deliveries {
			status, group, leader, err := tx.place(ctx, delivery, leaders)
			if err != nil {
				return err
			}
			tx.delivers = tx.delivers || status == webhooks.Pending
			deliveries = append(deliveries, []any{delivery.ID, account, delivery.Webhook, each.StoredID, delivery.Type, delivery.Lane, string(status), micros(delivery.DueAt), group, leader,
				micros(each.Event.At)})
		}
	}
	if err := inserts(ctx, tx, `INSERT INTO webhook_events (id, account_id, at, data) VALUES`, `ON CONFLICT (id) DO NOTHING`, events); err != nil {
		return err
	}
	return inserts(ctx, tx, `INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, type, lane, status, due_at, group_key, joined_to, created_at) VALUES`,
		`ON CONFLICT (id) DO NOTHING`, deliveries)
}

// place returns the status of a new delivery. In a group, the first delivery waits and is the leader; later deliveries
// join it until it is claimed. leaders caches the ids of leaders.
func (tx *Tx) place(ctx context.Context, delivery webhooks.PlannedDelivery, leaders map[[2]string]string) (status webhooks.DeliveryStatus, group, leader *string, err error) {
	if delivery.Group == "" {
		return webhooks.Pending, nil, nil, nil
	}
	of := [2]string{delivery.Webhook, delivery.Group}
	if leaders[of] == "" {
		// The lock keeps the leader from being claimed before this transaction has committed.
		found, err := all(ctx, tx.conn, scanString, `SELECT id FROM webhook_deliveries WHERE webhook_id = $1 AND group_key = $2 AND status = 'waiting' AND attempt = 0
			ORDER BY id LIMIT 1`+tx.dialect.forNoKeyUpdate, delivery.Webhook, delivery.Group)
		if err != nil {
			return "", nil, nil, err
		}
		if len(found) == 0 {
			leaders[of] = delivery.ID
			return webhooks.Waiting, &delivery.Group, nil, nil
		}
		leaders[of] = found[0]
	}
	return webhooks.Joined, nil, new(leaders[of]), nil
}

// CancelDeliveries cancels the unfinished deliveries of a webhook, except those that are being sent.
func (tx *Tx) CancelDeliveries(ctx context.Context, webhook string) error {
	return tx.run(ctx, `UPDATE webhook_deliveries SET status = 'canceled' WHERE webhook_id = $1 AND status IN ('waiting', 'pending')`, webhook)
}

const deliveryColumns = `id, account_id, webhook_id, type, status, due_at, created_at,
	1 + (SELECT count(*) FROM webhook_deliveries AS joined WHERE joined.joined_to = webhook_deliveries.id)`

func scanDelivery(r row) (d webhooks.Delivery, err error) {
	var due time.Time
	err = r.Scan(&d.ID, &d.Account, &d.Webhook, &d.Type, &d.Status, asTime(&due), asTime(&d.CreatedAt), &d.Events)
	if d.Status == webhooks.Waiting || d.Status == webhooks.Pending {
		d.DueAt = &due
	}
	d.Status = d.Status.Shown()
	return d, err
}

// Deliveries returns the deliveries of a webhook before the cursor, newest first.
func (tx *ReadTx) Deliveries(ctx context.Context, account string, filter webhooks.DeliveryFilter, cursor page.Cursor) (page.Tail[webhooks.Delivery], error) {
	found := list{columns: deliveryColumns, table: "webhook_deliveries", byDefault: "id DESC"}.of(account)
	found.where("webhook_id = ?", filter.Webhook)
	found.where("joined_to IS NULL")
	if cursor.After != "" {
		found.where("id < ?", cursor.After)
	}
	if filter.Status == webhooks.Pending {
		found.where("status IN ('waiting', 'pending')")
	} else {
		found.equals("status", string(filter.Status))
	}
	tail, err := tailOf(ctx, tx, found, cursor.Size, scanDelivery, func(webhooks.Delivery) int { return 0 })
	if err != nil {
		return tail, err
	}
	return tail, tx.addAttempts(ctx, tail.Items)
}

// Delivery returns one delivery of a webhook.
func (tx *ReadTx) Delivery(ctx context.Context, account, webhook, id string) (webhooks.Delivery, error) {
	found, err := one(ctx, tx.conn, fault.Missing(webhooks.KindDelivery, id), scanDelivery,
		`SELECT `+deliveryColumns+` FROM webhook_deliveries WHERE account_id = $1 AND webhook_id = $2 AND id = $3 AND joined_to IS NULL`, account, webhook, id)
	if err != nil {
		return found, err
	}
	several := []webhooks.Delivery{found}
	err = tx.addAttempts(ctx, several)
	return several[0], err
}

// shownAttempts is how many attempts of a delivery are shown.
const shownAttempts = 20

// addAttempts adds the last attempts of deliveries.
func (tx *ReadTx) addAttempts(ctx context.Context, found []webhooks.Delivery) error {
	ids, places := make([]string, len(found)), map[string]int{}
	for i, delivery := range found {
		ids[i], places[delivery.ID] = delivery.ID, i
		found[i].Attempts = []webhooks.Attempt{}
	}
	_, err := among(ctx, tx, func(r row) (string, error) {
		var id string
		var attempt webhooks.Attempt
		err := r.Scan(&id, asTime(&attempt.At), &attempt.Status, &attempt.DurationMS, &attempt.Error, &attempt.Answer)
		if err == nil {
			to := &found[places[id]]
			to.Attempts = append(to.Attempts, attempt)
		}
		return id, err
	}, `SELECT delivery_id, at, status, duration_ms, error, answer FROM webhook_attempts WHERE $1 = '' AND delivery_id `, "", ids)
	for i := range found {
		attempts := found[i].Attempts
		slices.SortFunc(attempts, func(a, b webhooks.Attempt) int { return a.At.Compare(b.At) })
		found[i].Attempts = attempts[max(0, len(attempts)-shownAttempts):]
	}
	return err
}

// Redeliver makes deliveries of a webhook pending again if they have ended or wait for another attempt, and returns
// their number. It skips deliveries of another account's deleted webhook with the same id.
func (tx *Tx) Redeliver(ctx context.Context, w webhooks.Webhook, what webhooks.Redelivery) (int, error) {
	over, args := `'failed', 'canceled'`, []any{w.ID, micros(tx.now), w.Lane(), webhooks.MaxRedelivered, w.Account}
	if what.Delivered {
		over += `, 'delivered'`
	}
	which := `id = $6`
	if what.ID != "" {
		args = append(args, what.ID)
	} else { // ids begin with the time, and have an index
		which = `created_at >= $6 AND created_at < $7 AND id >= $8 AND id < $9`
		args = append(args, micros(what.From), micros(what.To), firstID(what.From), firstID(what.To.Add(time.Millisecond)))
	}
	count, err := tx.affect(ctx, `UPDATE webhook_deliveries SET status = 'pending', attempt = 0, due_at = $2, lane = $3 WHERE id IN (SELECT id FROM webhook_deliveries
		WHERE webhook_id = $1 AND account_id = $5 AND joined_to IS NULL AND (status IN (`+over+`) OR status = 'waiting' AND attempt > 0) AND `+which+` ORDER BY id LIMIT $4)`, args...)
	tx.delivers = tx.delivers || count > 0
	return count, err
}

// NextDelivery returns when the next waiting delivery is due; nil if none waits.
func (tx *ReadTx) NextDelivery(ctx context.Context) (due *time.Time, err error) {
	return scalar(ctx, tx.conn, func(r row) (*time.Time, error) {
		var at *time.Time
		err := r.Scan(asTimeOrNull(&at))
		return at, err
	}, `SELECT min(due_at) FROM webhook_deliveries WHERE status = 'waiting'`)
}

// ReleaseDeliveries makes due deliveries claimable, and returns their number.
func (tx *Tx) ReleaseDeliveries(ctx context.Context, limit int) (int, error) {
	return tx.affect(ctx, `UPDATE webhook_deliveries SET status = 'pending' WHERE id `+tx.dialect.oneOf(`SELECT id FROM webhook_deliveries
		WHERE status = 'waiting' AND due_at <= $1 ORDER BY due_at LIMIT $2`+tx.dialect.skipLocked), micros(tx.now), limit)
}

// releaseLost makes the deliveries of a lost worker pending again. Their attempts do not count, because nobody
// knows whether they were made.
func (tx *Tx) releaseLost(ctx context.Context, lease string) error {
	return tx.run(ctx, `UPDATE webhook_deliveries SET status = 'pending', lease = NULL, attempt = attempt - 1 WHERE status = 'sending' AND lease = $1`, lease)
}

// DeliveryStore is the store of a worker that sends deliveries in place of runs.
type DeliveryStore struct {
	Transactions[worker.ReadTx, worker.Tx]
}

// Deliveries returns the store of a worker that sends deliveries.
func (db *DB) Deliveries(composer webhooks.Composer) DeliveryStore {
	transactions := NewTransactions(db,
		func(tx *ReadTx) worker.ReadTx { return deliveryReads{tx, composer} },
		func(tx *Tx) worker.Tx { return deliveryWrites{tx, composer} })
	transactions.priority = db.dialect.deliveries
	return DeliveryStore{transactions}
}

// pendingDeliveries is SQL for the rows that workers of deliveries claim.
const pendingDeliveries = `webhook_deliveries WHERE status = 'pending'`

// deliveryReads shows deliveries to a worker as if they were runs.
type deliveryReads struct {
	*ReadTx
	composer webhooks.Composer
}

// Owned returns the deliveries that a worker sends.
func (tx deliveryReads) Owned(ctx context.Context, lease string) ([]string, error) {
	return all(ctx, tx.conn, scanString, `SELECT id FROM webhook_deliveries WHERE lease = $1 AND status = 'sending'`, lease)
}

// OwnedOf returns the ids among deliveries that a worker is sending.
func (tx deliveryReads) OwnedOf(ctx context.Context, lease string, deliveries []string) ([]string, error) {
	return among(ctx, tx.ReadTx, scanString, `SELECT id FROM webhook_deliveries WHERE lease = $1 AND status = 'sending' AND id `, lease, deliveries)
}

// CountPending counts the pending deliveries, up to a limit.
func (tx deliveryReads) CountPending(ctx context.Context, limit int) (int, error) {
	return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM (SELECT 1 FROM `+pendingDeliveries+` LIMIT $1) AS waiting`, limit)
}

// UnhealthyJobs returns the webhooks that are failing, or were disabled because they failed, up to a limit and always the same
// ones first.
func (tx deliveryReads) UnhealthyJobs(ctx context.Context, limit int) ([]jobs.Unhealthy, error) {
	return all(ctx, tx.conn, func(r row) (jobs.Unhealthy, error) {
		webhook := webhooks.Webhook{FailingSince: new(time.Time)}
		err := r.Scan(&webhook.Account, &webhook.ID, &webhook.Enabled)
		return jobs.Unhealthy{Account: webhook.Account, Key: webhook.ID, State: jobs.HealthState(webhook.State())}, err
	}, `SELECT account_id, id, enabled FROM webhooks WHERE failing_since IS NOT NULL ORDER BY id LIMIT $1`, limit)
}

// sentDelivery is a claimed delivery with its webhook and its events.
type sentDelivery struct {
	id      string
	webhook webhooks.Webhook
	hidden  []byte
	content webhooks.Content
}

// listedEvents bounds how many joined events of a message are read. A message lists fewer.
const listedEvents = 50

// Configurations composes the messages of claimed deliveries. Each id is read once, because a message is signed with
// the time.
func (tx deliveryReads) Configurations(ctx context.Context, ids []string) (map[string]jobs.Configuration, error) {
	claimed, err := among(ctx, tx.ReadTx, scanSent, `SELECT d.id, d.type, COALESCE(d.group_key, ''), e.at, e.data, w.id, w.account_id, w.format, w.sealed,
		(SELECT count(*) FROM webhook_deliveries AS joined WHERE joined.joined_to = d.id)
		FROM webhook_deliveries AS d JOIN webhook_events AS e ON e.id = d.event_id JOIN webhooks AS w ON w.id = d.webhook_id AND w.account_id = d.account_id
		WHERE $1 = '' AND d.id `, "", ids)
	if err != nil {
		return nil, err
	}
	found := make(map[string]jobs.Configuration, len(claimed))
	for _, each := range claimed {
		if each.content.Total > 1 {
			if err := tx.addJoined(ctx, &each); err != nil {
				return nil, err
			}
		}
		configuration, err := tx.compose(each)
		if err != nil {
			tx.log.Error("A message of a webhook cannot be composed; it is tried again later. If its secrets cannot be decrypted, restore the key that sealed them, or write the webhook again.",
				"webhook", each.webhook.ID, "delivery", each.id, "error", err)
			continue
		}
		found[each.id] = configuration
	}
	return found, nil
}

func scanSent(r row) (sent sentDelivery, err error) {
	var told webhooks.Told
	var data string
	err = r.Scan(&sent.id, &told.Type, &sent.content.Group, asTime(&told.At), &data, &sent.webhook.ID, &sent.webhook.Account, &sent.webhook.Format, &sent.hidden, &sent.content.Total)
	if err == nil {
		err = decode(data, &told.Data)
	}
	sent.content.Events, sent.content.Total = []webhooks.Told{told}, sent.content.Total+1
	return sent, err
}

// addJoined adds the events of the first deliveries that joined a delivery.
func (tx deliveryReads) addJoined(ctx context.Context, to *sentDelivery) error {
	joined, err := all(ctx, tx.conn, func(r row) (told webhooks.Told, err error) {
		var data string
		if err = r.Scan(&told.Type, asTime(&told.At), &data); err == nil {
			err = decode(data, &told.Data)
		}
		return told, err
	}, `SELECT d.type, e.at, e.data FROM webhook_deliveries AS d JOIN webhook_events AS e ON e.id = d.event_id WHERE d.joined_to = $1 ORDER BY d.id LIMIT $2`, to.id, listedEvents)
	to.content.Events = append(to.content.Events, joined...)
	return err
}

func (tx deliveryReads) compose(sent sentDelivery) (jobs.Configuration, error) {
	if err := tx.unsealWebhook(&sent.webhook, sent.hidden); err != nil {
		return jobs.Configuration{}, err
	}
	message, err := tx.composer.Compose(sent.webhook, sent.id, sent.content, tx.now)
	if err != nil {
		return jobs.Configuration{}, err
	}
	plain := jobs.Plain{Method: "POST", URL: message.URL, SuccessStatus: "2xx", TLSVerify: true, Body: &message.Body, Timeout: int(webhooks.Timeout / time.Second)}
	for _, header := range message.Headers {
		plain.Headers = append(plain.Headers, jobs.Header(header))
	}
	return jobs.NewConfiguration(plain), nil
}

// deliveryWrites lets a worker claim deliveries as if they were runs. Deliveries are not metered.
type deliveryWrites struct {
	*Tx
	composer webhooks.Composer
}

func (tx deliveryWrites) reads() deliveryReads { return deliveryReads{&tx.ReadTx, tx.composer} }

// Owned returns the deliveries that a worker sends.
func (tx deliveryWrites) Owned(ctx context.Context, lease string) ([]string, error) {
	return tx.reads().Owned(ctx, lease)
}

// OwnedOf returns the ids among deliveries that a worker is sending.
func (tx deliveryWrites) OwnedOf(ctx context.Context, lease string, deliveries []string) ([]string, error) {
	return tx.reads().OwnedOf(ctx, lease, deliveries)
}

// CountPending counts the pending deliveries, up to a limit.
func (tx deliveryWrites) CountPending(ctx context.Context, limit int) (int, error) {
	return tx.reads().CountPending(ctx, limit)
}

// UnhealthyJobs returns the webhooks that are failing.
func (tx deliveryWrites) UnhealthyJobs(ctx context.Context, limit int) ([]jobs.Unhealthy, error) {
	return tx.reads().UnhealthyJobs(ctx, limit)
}

// Configurations composes the messages of claimed deliveries.
func (tx deliveryWrites) Configurations(ctx context.Context, ids []string) (map[string]jobs.Configuration, error) {
	return tx.reads().Configurations(ctx, ids)
}

// PendingAccounts returns accounts with pending deliveries.
func (tx deliveryWrites) PendingAccounts(ctx context.Context, after string, limit int) ([]string, error) {
	return tx.pendingAccounts(ctx, pendingDeliveries, after, limit)
}

// PendingLanes returns the lanes of an account with pending deliveries.
func (tx deliveryWrites) PendingLanes(ctx context.Context, account, after string, limit int) ([]string, error) {
	return tx.lanesOf(ctx, pendingDeliveries, account, after, limit)
}

// ClaimRuns gives the oldest pending deliveries of a lane to a worker.
func (tx deliveryWrites) ClaimRuns(ctx context.Context, lane, lease string, limit int) ([]worker.Claim, error) {
	return all(ctx, tx.conn, scanClaim, `UPDATE webhook_deliveries SET status = 'sending', lease = $3, sent_at = $4, attempt = attempt + 1
		WHERE id `+tx.dialect.oneOf(`SELECT id FROM `+pendingDeliveries+` AND lane >= $1 AND lane <= $1 ORDER BY lane, id LIMIT $2`+tx.dialect.skipLocked)+`
		RETURNING id, account_id, lane, type, id`, lane, limit, lease, micros(tx.now))
}

// PutBack makes an unsent delivery pending again, and reports whether the worker still owned it.
func (tx deliveryWrites) PutBack(ctx context.Context, id, lease string) (bool, error) {
	changed, err := tx.affect(ctx, `UPDATE webhook_deliveries SET status = 'pending', lease = NULL, attempt = attempt - 1 WHERE id = $1 AND status = 'sending' AND lease = $2`, id, lease)
	return changed > 0, err
}

// sending is a delivery that is being sent, and its webhook.
type sending struct {
	id, account, webhook string
	attempt, attempts    int
	sentAt               time.Time
	enabled              bool // false too if the webhook was deleted
	failingSince         *time.Time
}

func scanSending(r row) (s sending, err error) {
	err = r.Scan(&s.id, &s.account, &s.webhook, &s.attempt, &s.attempts, asTime(&s.sentAt), &s.enabled, asTimeOrNull(&s.failingSince))
	return s, err
}

// Pack does nothing: only the beginning of an answer is stored.
func (s DeliveryStore) Pack(*worker.Outcome) {}

// FinishRuns stores the outcomes of deliveries that a worker still owns, and returns their ids. It waits for no account,
// like WorkerStore.FinishRuns.
func (s DeliveryStore) FinishRuns(ctx context.Context, lease string, outcomes []worker.Outcome) ([]string, error) {
	return finishing(ctx, s.db, writeOptions{priority: s.priority}, func(ctx context.Context, tx *Tx) (owned, busy []string, err error) {
		return tx.finishDeliveries(ctx, lease, outcomes, false)
	})
}

// FinishBusy is FinishRuns for the deliveries of one account, and waits for it.
func (s DeliveryStore) FinishBusy(ctx context.Context, account, lease string, outcomes []worker.Outcome) ([]string, error) {
	return finishing(ctx, s.db, writeOptions{priority: forDecisions, account: account}, func(ctx context.Context, tx *Tx) (owned, busy []string, err error) {
		return tx.finishDeliveries(ctx, lease, outcomes, true)
	})
}

// finished is a delivery whose attempt has ended, with its verdict.
type finished struct {
	sending
	webhooks.Verdict

	outcome worker.Outcome
}

// isLost reports whether the outcome of the attempt is unknown. Such an attempt is repeated and does not
// count.
func (f finished) isLost() bool {
	return f.outcome.Reason != nil && *f.outcome.Reason == jobs.WorkerLost
}

func (tx *Tx) finishDeliveries(ctx context.Context, lease string, outcomes []worker.Outcome, wait bool) (owned, busy []string, err error) {
	ends, err := tx.judgeDeliveries(ctx, lease, outcomes)
	if err != nil {
		return nil, nil, err
	}
	if busy, err = tx.lockWebhooks(ctx, ends, wait); err != nil || len(busy) > 0 { // before the rows, as writes of webhooks do
		return nil, busy, err
	}
	rows := make([][]any, len(ends))
	for i, end := range ends {
		attempt, attempts, status := end.attempt, end.attempts+1, end.Status
		if end.isLost() {
			attempt, attempts, status = end.attempt-1, end.attempts, webhooks.Pending
		}
		rows[i] = []any{end.id, string(status), attempt, attempts, micros(end.Next), lease}
		tx.delivers = tx.delivers || status == webhooks.Pending
	}
	owned, err = updates(ctx, tx, `UPDATE webhook_deliveries SET status = v.column2, attempt = v.column3, attempts = v.column4, due_at = v.column5, lease = NULL`,
		`WHERE webhook_deliveries.id = v.column1 AND webhook_deliveries.status = 'sending' AND webhook_deliveries.lease = v.column6 RETURNING webhook_deliveries.id`,
		[]string{"text", "text", "bigint", "bigint", "bigint", "text"}, rows)
	if err != nil {
		return nil, nil, err
	}
	ends = slices.DeleteFunc(ends, func(end finished) bool { return end.isLost() || !slices.Contains(owned, end.id) })
	if err := tx.insertAttempts(ctx, ends); err != nil {
		return nil, nil, err
	}
	return owned, nil, tx.settleWebhooks(ctx, ends)
}

// lockWebhooks locks the accounts of webhooks that begin to fail, have recovered, or are to be disabled. Writes of webhooks
// hold the lock of the account too. If lockWebhooks must not wait, it returns the deliveries of accounts that another
// transaction has locked.
func (tx *Tx) lockWebhooks(ctx context.Context, ends []finished, wait bool) (busy []string, err error) {
	if wait {
		return nil, tx.lockEach(ctx, changing(ends))
	}
	accounts := changing(ends)
	if err := tx.lockFree(ctx, accounts); err != nil {
		return nil, err
	}
	for _, end := range ends {
		if slices.Contains(accounts, end.account) && !tx.holds(end.account) {
			busy = append(busy, end.id)
		}
	}
	return busy, nil
}

// judgeDeliveries returns the attempts that the worker still owns with their verdicts, sorted by
// id.
func (tx *Tx) judgeDeliveries(ctx context.Context, lease string, outcomes []worker.Outcome) ([]finished, error) {
	byID, ids := make(map[string]worker.Outcome, len(outcomes)), make([]string, len(outcomes))
	for i, outcome := range outcomes {
		byID[outcome.Run], ids[i] = outcome, outcome.Run
	}
	found, err := among(ctx, &tx.ReadTx, scanSending, `SELECT d.id, d.account_id, d.webhook_id, d.attempt, d.attempts, d.sent_at, COALESCE(w.enabled, FALSE), w.failing_since
		FROM webhook_deliveries AS d LEFT JOIN webhooks AS w ON w.id = d.webhook_id AND w.account_id = d.account_id WHERE d.lease = $1 AND d.status = 'sending' AND d.id `, lease, ids)
	ends := make([]finished, len(found))
	for i, each := range found {
		outcome := byID[each.id]
		ends[i] = finished{each, outcomeOf(each, outcome).Judge(rand.Float64()), outcome} //nolint:gosec // jitter
		if ends[i].Status == webhooks.Waiting && !each.enabled {
			ends[i].Status = webhooks.Canceled
		}
	}
	slices.SortFunc(ends, func(a, b finished) int { return cmp.Compare(a.id, b.id) })
	return ends, err
}

func outcomeOf(delivery sending, outcome worker.Outcome) webhooks.Outcome {
	of := webhooks.Outcome{Attempt: delivery.attempt, At: outcome.FinishedAt, FailingSince: delivery.failingSince}
	if outcome.Result != nil {
		of.Status, of.RetryAfter = outcome.Result.Status, outcome.Result.Headers["retry-after"]
	}
	return of
}

// changing returns the accounts of webhooks whose row settleWebhooks may write, sorted.
func changing(ends []finished) []string {
	accounts := map[string]bool{}
	for _, end := range ends {
		if !end.isLost() && ((end.Status == webhooks.Delivered) != (end.failingSince == nil) || end.Disable != "" && end.enabled) {
			accounts[end.account] = true
		}
	}
	return slices.Sorted(maps.Keys(accounts))
}

func (tx *Tx) insertAttempts(ctx context.Context, ends []finished) error {
	rows := make([][]any, len(ends))
	for i, end := range ends {
		var status *int
		var answer, problem *string
		if result := end.outcome.Result; result != nil {
			status, answer = &result.Status, webhooks.Answer(result.Body)
		} else {
			problem = end.outcome.Error
		}
		rows[i] = []any{end.id, end.attempts + 1, micros(end.sentAt), status, max(0, end.outcome.FinishedAt.Sub(end.sentAt).Milliseconds()), problem, answer}
	}
	return inserts(ctx, tx, `INSERT INTO webhook_attempts (delivery_id, number, at, status, duration_ms, error, answer) VALUES`, ``, rows)
}

// settleWebhooks stores which webhooks began to fail or recovered, and disables the webhooks whose verdict says so.
func (tx *Tx) settleWebhooks(ctx context.Context, ends []finished) error {
	last, disable := map[string]finished{}, map[string]finished{}
	for _, end := range ends {
		if before, known := last[end.webhook]; !known || before.outcome.FinishedAt.Before(end.outcome.FinishedAt) {
			last[end.webhook] = end
		}
		if end.Disable != "" && end.enabled {
			disable[end.webhook] = end
		}
	}
	for _, id := range slices.Sorted(maps.Keys(last)) {
		end := last[id]
		var err error
		switch {
		case end.Status == webhooks.Delivered && end.failingSince != nil:
			err = tx.run(ctx, `UPDATE webhooks SET failing_since = NULL WHERE id = $1 AND account_id = $2`, id, end.account)
		case end.Status != webhooks.Delivered && end.failingSince == nil:
			err = tx.run(ctx, `UPDATE webhooks SET failing_since = $3 WHERE id = $1 AND account_id = $2 AND failing_since IS NULL`, id, end.account,
				micros(end.outcome.FinishedAt))
		}
		if err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(disable)) {
		if err := tx.disableWebhook(ctx, disable[id]); err != nil {
			return err
		}
	}
	return nil
}

// disableWebhook disables a webhook and records the change.
func (tx *Tx) disableWebhook(ctx context.Context, end finished) error {
	before, err := tx.Webhook(ctx, end.account, end.webhook)
	if fault.Is(err, fault.NotFound) || err == nil && !before.Enabled {
		return nil
	}
	if err != nil {
		return err
	}
	after := before
	after.Enabled, after.UpdatedAt = false, tx.now
	if err := tx.CancelDeliveries(ctx, after.ID); err != nil {
		return err
	}
	if err := tx.UpdateWebhook(ctx, after); err != nil {
		return err
	}
	actor := changes.System()
	actor.Note = end.Disable
	return changes.Record(ctx, tx, end.account, actor, webhooks.Kind, after.ID, &before, &after)
}

// RemoveDeliveries removes ended deliveries that were made before an instant, with their attempts, and events without a
// delivery, in batches like RemoveRuns.
func (db *DB) RemoveDeliveries(ctx context.Context, before time.Time, pace *Pace) (removed int, err error) {
	rows := agingRows{kind: "webhook_deliveries", column: "id", scan: scanIDTime, bound: atID, from: `webhook_deliveries WHERE ` + inAccount + ` AND status NOT IN ('waiting', 'pending', 'sending')`}
	return db.removeAged(ctx, before, pace, rows, func(account string, before time.Time) (int, error) { return db.removeDeliveries(ctx, account, before) })
}

func (db *DB) removeDeliveries(ctx context.Context, account string, before time.Time) (removed int, err error) {
	limit := firstID(before)
	for batch := retentionBatch; batch == retentionBatch; {
		err := db.write(ctx, writeOptions{priority: forObservations}, func(ctx context.Context, tx *Tx) error {
			old, err := all(ctx, tx.conn, scanString, `DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE account_id = $1 AND id < $2
				AND status NOT IN ('waiting', 'pending', 'sending') ORDER BY id LIMIT $3) RETURNING id`, account, limit, retentionBatch)
			if batch = len(old); err != nil || batch == 0 {
				return err
			}
			return tx.run(ctx, `DELETE FROM webhook_attempts WHERE $1 = '' AND delivery_id `+tx.dialect.among, "", tx.dialect.texts(old))
		})
		removed += batch
		if err != nil {
			return removed, err
		}
	}
	_, err = db.removeAll(ctx, `DELETE FROM webhook_events WHERE id IN (SELECT e.id FROM webhook_events AS e WHERE e.account_id = $3 AND e.at < $1
		AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.event_id = e.id) LIMIT $2) RETURNING id`, micros(before), account)
	return removed, err
}
