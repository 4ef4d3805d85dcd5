package webhooks

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/hosts"
)

// The JSON:API types of this package.
const (
	Kind           = "webhook"
	KindDelivery   = "webhook_delivery"
	KindRedelivery = "webhook_redelivery"
)

// Limits of an account's webhooks.
const (
	MaxWebhooks = 50
	maxName     = 200
	maxPatterns = 100
	maxPattern  = 255
	// maxPatternText bounds the characters of all globs of a filter. Matching takes time in the transactions that events happen
	// in: a glob of 255 characters may take 0.2 ms for each event.
	maxPatternText = 500
	maxHeaders     = 100
)

// Format is the form of the messages that a webhook sends.
type Format string

// The formats.
const (
	Standard  Format = "standard" // Standard Webhooks 1.0
	Slack     Format = "slack"
	Teams     Format = "teams"
	Discord   Format = "discord"
	PagerDuty Format = "pagerduty"
)

// Formats returns every format.
func Formats() []Format { return []Format{Standard, Slack, Teams, Discord, PagerDuty} }

// Joins reports whether a message of this format may have several events, as messages for chats have.
func (f Format) Joins() bool { return f == Slack || f == Teams || f == Discord }

// State is the state of a webhook.
type State string

// The states.
const (
	OK       State = "ok"
	Failing  State = "failing"  // the last attempt failed
	Disabled State = "disabled" // nothing is sent
)

// Header is a header of the messages of a webhook.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Filter selects events. An empty list selects all.
type Filter struct {
	Environments []string `json:"environments"`
	IDs          []string `json:"ids"` // globs
}

// shown returns the filter without null lists.
func (f Filter) shown() Filter { return Filter{orEmpty(f.Environments), orEmpty(f.IDs)} }

// Hidden is the part of a webhook that is stored encrypted: a URL is as good as a password for most chat systems.
type Hidden struct {
	URL     string   `json:"url"`
	Headers []Header `json:"headers"`
	Secrets Secrets  `json:"secrets"`
}

// Webhook is a subscription of another system to what happens in an account.
type Webhook struct {
	Account   string    `json:"-"`
	ID        string    `json:"-"`
	Name      string    `json:"name"`
	URL       string    `json:"url"`
	Format    Format    `json:"format"`
	Events    []string  `json:"events"`
	Filter    Filter    `json:"filter"`
	Headers   []Header  `json:"headers"`
	Enabled   bool      `json:"enabled"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`

	Secrets Secrets `json:"-"`
	// FailingSince is the first of the failures since the last success; nil for none.
	FailingSince *time.Time    `json:"-"`
	LastDelivery *LastDelivery `json:"-"`
	// NewSecret is the secret that this write has made; "" for none.
	NewSecret string `json:"-"`
}

// LastDelivery is the newest delivery of a webhook.
type LastDelivery struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Status    DeliveryStatus `json:"status"`
	CreatedAt time.Time      `json:"created_at"`
}

// Hidden returns the part of the webhook that is stored encrypted.
func (w Webhook) Hidden() Hidden { return Hidden{w.URL, w.Headers, w.Secrets} }

// State returns the state of the webhook.
func (w Webhook) State() State {
	switch {
	case !w.Enabled:
		return Disabled
	case w.FailingSince != nil:
		return Failing
	}
	return OK
}

// Lane returns the queue of the webhook's deliveries: account, host and webhook. So one webhook does not delay others of the
// same host.
func (w Webhook) Lane() string { return w.Account + ":" + hosts.Destination(w.URL) + "#" + w.ID }

// Subscription returns the part of the webhook that decides which events it gets.
func (w Webhook) Subscription() Subscription {
	return Subscription{ID: w.ID, Format: w.Format, Events: w.Events, Filter: w.Filter, Lane: w.Lane()}
}

// Recorded returns the webhook as the history stores it: without values of headers, and with no more of the URL than its
// host. A new secret shows by its time.
func (w Webhook) Recorded() any {
	w.URL = redactURL(w.URL)
	w.Filter = w.Filter.shown()
	w.Headers = slices.Clone(orEmpty(w.Headers))
	for i := range w.Headers {
		w.Headers[i].Value = hosts.Redacted
	}
	return struct {
		Webhook

		State    State     `json:"state"`
		SecretAt time.Time `json:"secret_created_at"`
	}{w, w.recordedState(), w.Secrets.CreatedAt}
}

// recordedState returns the state for the history, without Failing, which changes often.
func (w Webhook) recordedState() State {
	if w.Enabled {
		return OK
	}
	return Disabled
}

// redactURL returns the scheme and the host of a URL.
func redactURL(text string) string {
	target, err := url.Parse(text)
	if err != nil {
		return hosts.Redacted
	}
	shown := target.Scheme + "://" + target.Host
	if strings.TrimPrefix(target.RequestURI(), "/") != "" || target.User != nil || target.Fragment != "" {
		shown += "/" + hosts.Redacted
	}
	return shown
}

// differs reports whether a member that the history does not show has changed.
func differs(before, after Webhook) bool {
	return before.URL != after.URL || !slices.Equal(before.Headers, after.Headers) || before.Secrets.Current != after.Secrets.Current
}

// Shown is a webhook as its readers see it.
type Shown struct {
	Webhook

	State        State         `json:"state"`
	LastDelivery *LastDelivery `json:"last_delivery"`
	Secret       string        `json:"secret,omitempty"`
}

// Show returns the webhook as its readers see it.
func (w Webhook) Show() Shown {
	w.Events, w.Headers = orEmpty(w.Events), orEmpty(w.Headers)
	w.Filter = w.Filter.shown()
	return Shown{w, w.State(), w.LastDelivery, w.NewSecret}
}

// Definition returns the members that the ETag covers: all but the observed ones. Every reader of a webhook
// may see them.
func (s Shown) Definition() any {
	s.State, s.LastDelivery, s.Secret = "", nil, ""
	return s
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
