package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Store runs the transactions in which webhooks are read and written.
type Store = transaction.Store[ReadTx, Tx]

// ListFilter selects webhooks. Zero members do not filter.
type ListFilter struct{ Search string }

// DeliveryFilter selects deliveries of a webhook. Zero members do not filter.
type DeliveryFilter struct {
	Webhook string
	Status  DeliveryStatus
}

// ReadTx has the reads of this package.
type ReadTx interface {
	accounts.AuthorityTx
	Webhook(ctx context.Context, account, id string) (Webhook, error)
	Webhooks(ctx context.Context, account string, filter ListFilter, request page.Request) (page.List[Webhook], error)
	// Deliveries returns the deliveries of a webhook before the cursor, newest first.
	Deliveries(ctx context.Context, account string, filter DeliveryFilter, cursor page.Cursor) (page.Tail[Delivery], error)
	Delivery(ctx context.Context, account, webhook, id string) (Delivery, error)
}

// Tx has the reads and writes of this package in one transaction.
type Tx interface {
	ReadTx
	accounts.HistoryTx
	changes.Recorder
	CountWebhooks(ctx context.Context, account string) (int, error)
	// WebhookExists reports whether an account of the server has a webhook with an id.
	WebhookExists(ctx context.Context, id string) (bool, error)
	InsertWebhook(ctx context.Context, webhook Webhook) error
	UpdateWebhook(ctx context.Context, webhook Webhook) error
	DeleteWebhook(ctx context.Context, webhook Webhook) error
	// CancelDeliveries cancels the deliveries of a webhook that are not over.
	CancelDeliveries(ctx context.Context, webhook string) error
	// InsertDeliveries stores events and their deliveries.
	InsertDeliveries(ctx context.Context, account string, planned []Planned) error
	// Redeliver makes deliveries of a webhook pending again, as if they were new, if they have ended or wait for another
	// attempt. It returns their number.
	Redeliver(ctx context.Context, webhook Webhook, what Redelivery) (int, error)
}

// Redelivery selects the deliveries to send again: one delivery, or all of a range.
type Redelivery struct {
	ID       string
	From, To time.Time // From is included, To is not
	// Delivered includes the ones that succeeded.
	Delivered bool
}

// MaxRedelivered is how many deliveries one request sends again.
const MaxRedelivered = 10_000

// Redelivered says how many deliveries will be sent again.
type Redelivered struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Queued int       `json:"queued"`
}

// Service reads and writes webhooks, and checks every write. All of it requires ADMIN or higher, because webhooks send
// what happens in the account elsewhere.
type Service struct{ Store Store }

// Webhooks lists the webhooks of the caller's account.
func (s *Service) Webhooks(ctx context.Context, caller accounts.Caller, filter ListFilter, request page.Request) (page.List[Webhook], error) {
	return accounts.List(ctx, s.Store, caller, ReadTx.Webhooks, filter, request)
}

// Webhook returns one webhook.
func (s *Service) Webhook(ctx context.Context, caller accounts.Caller, id string) (Webhook, error) {
	return accounts.Get(ctx, s.Store, caller, ReadTx.Webhook, id)
}

// Create creates a webhook. Its secret is in the result, and nowhere afterward.
func (s *Service) Create(ctx context.Context, caller accounts.Caller, draft Draft) (Webhook, error) {
	wanted := draft.validate()
	id := draft.newID()
	if err := draft.Problems.Err(); err != nil {
		return Webhook{}, err
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Webhook, error) {
		webhook := wanted
		webhook.ID, webhook.Account = id, caller.Account
		webhook.CreatedAt, webhook.UpdatedAt = tx.Now(), tx.Now()
		webhook.Secrets = Secrets{Current: newSecret(), CreatedAt: tx.Now()}
		webhook.NewSecret = webhook.Secrets.Current
		if count, err := tx.CountWebhooks(ctx, caller.Account); err != nil {
			return Webhook{}, err
		} else if count >= MaxWebhooks {
			return Webhook{}, fault.RowLimit("platform.webhook_rows", MaxWebhooks, "An account may have %d webhooks. Delete some that are not used.", MaxWebhooks)
		}
		if taken, err := tx.WebhookExists(ctx, webhook.ID); err != nil {
			return Webhook{}, err
		} else if taken {
			return Webhook{}, fault.New(fault.AlreadyExists, "There is a webhook with the id %s already. Send another id, or none.", id).At(fault.Pointer("/data/id"))
		}
		if err := tx.InsertWebhook(ctx, webhook); err != nil {
			return Webhook{}, err
		}
		return webhook, changes.Record(ctx, tx, caller.Account, caller.Actor(), Kind, webhook.ID, nil, &webhook)
	})
}

// Replace changes a webhook.
func (s *Service) Replace(ctx context.Context, caller accounts.Caller, id string, draft Draft, match changes.Match[Webhook]) (Webhook, error) {
	wanted := draft.validate()
	if err := draft.Problems.Err(); err != nil {
		return Webhook{}, err
	}
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Webhook, error) {
		return s.change(ctx, tx, caller, id, match, func(before Webhook) Webhook {
			after := wanted
			after.Account, after.ID, after.CreatedAt, after.Secrets = before.Account, before.ID, before.CreatedAt, before.Secrets
			after.LastDelivery = before.LastDelivery
			if before.Enabled && after.Enabled {
				after.FailingSince = before.FailingSince
			}
			return after
		})
	})
}

// RotateSecret gives a webhook a new secret. For a day, messages are signed with the earlier secret
// too.
func (s *Service) RotateSecret(ctx context.Context, caller accounts.Caller, id string) (Webhook, error) {
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Webhook, error) {
		webhook, err := s.change(ctx, tx, caller, id, nil, func(before Webhook) Webhook {
			after := before
			after.Secrets = before.Secrets.rotate(tx.Now())
			return after
		})
		webhook.NewSecret = webhook.Secrets.Current
		return webhook, err
	})
}

// change replaces a webhook by the result of edit. Disabling a webhook cancels its waiting deliveries.
func (s *Service) change(ctx context.Context, tx Tx, caller accounts.Caller, id string, match changes.Match[Webhook], edit func(Webhook) Webhook) (Webhook, error) {
	target := accounts.Target(ctx, caller, Kind, id, match, tx.Webhook)
	target.Hidden = differs
	return changes.Replace(ctx, tx, target, func(before Webhook) (Webhook, error) {
		after := edit(before)
		after.UpdatedAt = tx.Now()
		return after, nil
	}, func(_, after Webhook) error {
		if !after.Enabled {
			if err := tx.CancelDeliveries(ctx, after.ID); err != nil {
				return err
			}
		}
		return tx.UpdateWebhook(ctx, after)
	})
}

// Delete removes a webhook. Its waiting deliveries are never sent.
func (s *Service) Delete(ctx context.Context, caller accounts.Caller, id string, match changes.Match[Webhook]) error {
	return accounts.Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) error {
		return changes.Delete(ctx, tx, accounts.Target(ctx, caller, Kind, id, match, tx.Webhook), func(webhook Webhook) error {
			return tx.DeleteWebhook(ctx, webhook)
		})
	})
}

// Test sends the event webhook.test to a webhook, also to a disabled one, and returns its delivery, which is pending.
func (s *Service) Test(ctx context.Context, caller accounts.Caller, id string) (Delivery, error) {
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Delivery, error) {
		webhook, err := tx.Webhook(ctx, caller.Account, id)
		if err != nil {
			return Delivery{}, err
		}
		planned := Tested(webhook, caller.Actor(), uuid.NewString(), tx.Now()).To(webhook)
		if err := tx.InsertDeliveries(ctx, caller.Account, []Planned{planned}); err != nil {
			return Delivery{}, err
		}
		return tx.Delivery(ctx, caller.Account, id, planned.Deliveries[0].ID)
	})
}

// Deliveries lists the deliveries of a webhook, newest first.
func (s *Service) Deliveries(ctx context.Context, caller accounts.Caller, filter DeliveryFilter, cursor page.Cursor) (page.Tail[Delivery], error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (page.Tail[Delivery], error) {
		if _, err := tx.Webhook(ctx, caller.Account, filter.Webhook); err != nil {
			return page.Tail[Delivery]{}, err
		}
		return tx.Deliveries(ctx, caller.Account, filter, cursor)
	})
}

// Redeliver sends one delivery again, with the same id.
func (s *Service) Redeliver(ctx context.Context, caller accounts.Caller, webhook, id string) (Delivery, error) {
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Delivery, error) {
		target, err := tx.Webhook(ctx, caller.Account, webhook)
		if err != nil {
			return Delivery{}, err
		}
		if _, err := tx.Redeliver(ctx, target, Redelivery{ID: id, Delivered: true}); err != nil {
			return Delivery{}, err
		}
		return tx.Delivery(ctx, caller.Account, webhook, id)
	})
}

// RedeliverRange sends the deliveries of a range again, up to MaxRedelivered.
func (s *Service) RedeliverRange(ctx context.Context, caller accounts.Caller, webhook string, what Redelivery) (Redelivered, error) {
	return accounts.Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller accounts.Caller) (Redelivered, error) {
		target, err := tx.Webhook(ctx, caller.Account, webhook)
		if err != nil {
			return Redelivered{}, err
		}
		queued, err := tx.Redeliver(ctx, target, what)
		return Redelivered{From: what.From, To: what.To, Queued: queued}, err
	})
}
