package signalbox

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// WebhookFormat is the form of a webhook's messages.
type WebhookFormat string

// The formats. WebhookStandard is Standard Webhooks 1.0, which [VerifyWebhook] checks.
const (
	WebhookStandard  WebhookFormat = "standard"
	WebhookSlack     WebhookFormat = "slack"
	WebhookTeams     WebhookFormat = "teams"
	WebhookDiscord   WebhookFormat = "discord"
	WebhookPagerDuty WebhookFormat = "pagerduty"
)

// WebhookState says whether the deliveries of a webhook arrive.
type WebhookState string

// The states. WebhookFailing: the last attempt failed. WebhookDisabled: nothing is sent.
const (
	WebhookOK       WebhookState = "ok"
	WebhookFailing  WebhookState = "failing"
	WebhookDisabled WebhookState = "disabled"
)

// Webhook sends events of the account to another system.
type Webhook struct {
	Resource
	Name   string        `json:"name"`
	URL    string        `json:"url"`
	Format WebhookFormat `json:"format"`
	// Events are types of events, prefixes such as "change.*", or "*".
	Events  []string      `json:"events"`
	Filter  WebhookFilter `json:"filter"`
	Headers []JobHeader   `json:"headers"`
	Enabled bool          `json:"enabled"`
	State   WebhookState  `json:"state"`
	// LastDelivery is the newest delivery; nil for none.
	LastDelivery *LastDelivery `json:"last_delivery"`
	Timestamps
	// Secret signs the messages. Only the responses to Create and RotateSecret have it.
	Secret string `json:"secret"`
}

// WebhookFilter selects events. An empty list selects all.
type WebhookFilter struct {
	// Environments selects the events of these environments. An event without an environment, or of all of them, passes too.
	Environments []string `json:"environments"`
	// IDs selects the events of resources with these ids, or patterns such as "nightly-*".
	IDs []string `json:"ids"`
}

// LastDelivery is the newest delivery of a webhook.
type LastDelivery struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Status    DeliveryStatus `json:"status"`
	CreatedAt time.Time      `json:"created_at"`
}

// WebhookDraft creates or changes a webhook.
type WebhookDraft struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// An empty Format is WebhookStandard.
	Format  WebhookFormat `json:"format,omitempty"`
	Events  []string      `json:"events"`
	Filter  WebhookFilter `json:"filter"`
	Headers []JobHeader   `json:"headers,omitempty"`
	// A nil Enabled is true.
	Enabled *bool `json:"enabled,omitempty"`
}

// Draft returns a draft of the webhook's current state.
func (w Webhook) Draft() WebhookDraft {
	return WebhookDraft{Name: w.Name, URL: w.URL, Format: w.Format, Events: w.Events, Filter: w.Filter, Headers: w.Headers, Enabled: &w.Enabled}
}

// WebhookParams select a page of webhooks.
type WebhookParams struct {
	SearchParams
}

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// The states. A pending delivery waits for its next attempt. A canceled delivery was still pending when its webhook was
// disabled.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliverySending   DeliveryStatus = "sending"
	DeliveryDelivered DeliveryStatus = "delivered"
	DeliveryFailed    DeliveryStatus = "failed"
	DeliveryCanceled  DeliveryStatus = "canceled"
)

// Delivery is a message to a webhook. Its id is the webhook-id of every attempt.
type Delivery struct {
	Resource
	Webhook string         `json:"webhook"`
	Type    string         `json:"type"`
	Status  DeliveryStatus `json:"status"`
	// Events is how many events the message has.
	Events    int       `json:"events"`
	CreatedAt time.Time `json:"created_at"`
	// NextAttemptAt is nil when the delivery has ended or is being sent.
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	// Attempts are the last attempts, oldest first.
	Attempts []DeliveryAttempt `json:"attempts"`
}

// DeliveryAttempt is one request of a delivery.
type DeliveryAttempt struct {
	At             time.Time `json:"at"`
	Status         *int      `json:"status"` // nil without an answer
	DurationMillis int64     `json:"duration_ms"`
	Error          *string   `json:"error"`
	// Answer is the beginning of the answer's body; nil for none.
	Answer *string `json:"answer"`
}

// DeliveryParams select deliveries of a webhook. The newest come first.
type DeliveryParams struct {
	// Status to list; empty lists all.
	Status DeliveryStatus
	// Size is the number of deliveries per page, up to 1000; 0 is the server's default.
	Size int
	// After is the Next of the previous page; empty selects the first page.
	After string
}

func (p DeliveryParams) query() url.Values {
	return filtered(cursorQuery(p.Size, p.After), "status", string(p.Status))
}

// Redelivery says how many deliveries will be sent again.
type Redelivery struct {
	Resource
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Queued int       `json:"queued"`
}

// WebhooksAPI manages the webhooks of the account. Every method needs the role ADMIN.
type WebhooksAPI struct{ webhooks collection[Webhook, *Webhook] }

// Get returns a webhook without its secret. [IsNotFound] reports that there is no webhook with this id.
func (a WebhooksAPI) Get(ctx context.Context, id string) (Webhook, error) {
	return a.webhooks.get(ctx, id)
}

// List returns one page of webhooks, by default in the order of their names. [Paging.Sort] takes name, created_at and
// updated_at.
func (a WebhooksAPI) List(ctx context.Context, params WebhookParams) (Page[Webhook], error) {
	return a.webhooks.list(ctx, params)
}

// All iterates over every webhook, starting at the page of params. It ends after the first error.
func (a WebhooksAPI) All(ctx context.Context, params WebhookParams) iter.Seq2[Webhook, error] {
	return a.webhooks.all(ctx, params)
}

// Create creates a webhook. Its response has the secret. An account may have 50: see [IsRowLimitReached].
func (a WebhooksAPI) Create(ctx context.Context, draft WebhookDraft, options ...WriteOption) (Webhook, error) {
	return a.webhooks.create(ctx, "", draft, options)
}

// Replace changes a webhook. Enabling it starts it again; disabling it cancels its waiting
// deliveries.
func (a WebhooksAPI) Replace(ctx context.Context, id string, draft WebhookDraft, options ...WriteOption) (Webhook, error) {
	return a.webhooks.replace(ctx, id, draft, options)
}

// Delete deletes a webhook. Its waiting deliveries are never sent.
func (a WebhooksAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.webhooks.delete(ctx, id, options)
}

// Test queues the event webhook.test and returns its pending delivery.
func (a WebhooksAPI) Test(ctx context.Context, id string) (Delivery, error) {
	return fetch[Delivery](ctx, a.webhooks.transport, post(nil, a.webhooks.path, id, "actions", "test"))
}

// RotateSecret creates a new secret and returns it. For 24 hours, messages are signed with the old secret too.
func (a WebhooksAPI) RotateSecret(ctx context.Context, id string) (Webhook, error) {
	return fetch[Webhook](ctx, a.webhooks.transport, post(nil, a.webhooks.path, id, "actions", "rotate_secret"))
}

// Deliveries returns one page of the deliveries of a webhook, the newest first.
func (a WebhooksAPI) Deliveries(ctx context.Context, id string, params DeliveryParams) (CursorPage[Delivery], error) {
	return cursorPage[Delivery](ctx, a.webhooks.transport, params.query(), a.webhooks.path, id, "deliveries")
}

// AllDeliveries iterates over the deliveries that params select, the newest first, starting at their page. It ends after
// the first error.
func (a WebhooksAPI) AllDeliveries(ctx context.Context, id string, params DeliveryParams) iter.Seq2[Delivery, error] {
	return allCursors[Delivery](ctx, a.webhooks.transport, params, a.webhooks.path, id, "deliveries")
}

// Redeliver sends a delivery again, with the same id. A delivery that has not ended is not changed.
func (a WebhooksAPI) Redeliver(ctx context.Context, id, delivery string) (Delivery, error) {
	return fetch[Delivery](ctx, a.webhooks.transport, post(nil, a.webhooks.path, id, "deliveries", delivery, "actions", "redeliver"))
}

// RedeliverRange sends failed and canceled deliveries again, and delivered ones if delivered is true. It selects the
// deliveries of events in [from, to), up to 10,000 at once.
func (a WebhooksAPI) RedeliverRange(ctx context.Context, id string, from, to time.Time, delivered bool) (Redelivery, error) {
	body := map[string]any{"from": from, "to": to, "include_delivered": delivered}
	return fetch[Redelivery](ctx, a.webhooks.transport, post(body, a.webhooks.path, id, "actions", "redeliver"))
}
