package api

import (
	"net/http"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/webhooks"
)

func webhookResource() resource[webhooks.Webhook, webhooks.Draft, webhooks.ListFilter] {
	return describe(webhooks.Kind, func(webhook webhooks.Webhook) (string, any) { return webhook.ID, webhook.Show() },
		func(c *call) webhooks.ListFilter { return webhooks.ListFilter{Search: c.query.Search()} }, webhookDraft)
}

func deliveryResource() resource[webhooks.Delivery, none, webhooks.DeliveryFilter] {
	return describe(webhooks.KindDelivery, func(delivery webhooks.Delivery) (string, any) { return delivery.ID, delivery }, deliveryFilter, noDraft)
}

func deliveryFilter(c *call) webhooks.DeliveryFilter {
	return webhooks.DeliveryFilter{Webhook: c.id,
		Status: oneOf(c, "status", webhooks.Pending, webhooks.Sending, webhooks.Delivered, webhooks.Failed, webhooks.Canceled)}
}

func webhookDraft(envelope *jsonapi.Envelope) webhooks.Draft {
	attributes := envelope.Attributes
	draft := webhooks.Draft{
		ID:      envelope.ID,
		Name:    attributes.String("name"),
		URL:     attributes.String("url"),
		Format:  attributes.String("format"),
		Events:  attributes.Strings("events"),
		Filter:  webhookFilter(attributes),
		Headers: webhookHeaders(attributes),
		Enabled: attributes.Bool("enabled"),
	}
	attributes.Know("secret") // callers may send the response of a creation back
	draft.Problems = envelope.Done()
	return draft
}

// webhookFilter reads the filter. An unknown member is refused: a misspelled one must not select everything.
func webhookFilter(attributes *jsonapi.Object) optional.Value[webhooks.FilterDraft] {
	object, sent := attributes.Object("filter", `{"environments": ["production"], "ids": ["nightly-*"]}`).Get()
	if !sent {
		return optional.Value[webhooks.FilterDraft]{}
	}
	object.Unknown("environments", "ids")
	return optional.Of(webhooks.FilterDraft{Environments: object.Strings("environments"), IDs: object.Strings("ids")})
}

// webhookHeaders reads headers in the form of a job's headers.
func webhookHeaders(attributes *jsonapi.Object) []webhooks.HeaderDraft {
	sent := jobHeaders(attributes)
	headers := make([]webhooks.HeaderDraft, len(sent))
	for i, header := range sent {
		headers[i] = webhooks.HeaderDraft{Header: webhooks.Header(header.Header), NameAt: header.NameAt, ValueAt: header.ValueAt}
	}
	return headers
}

// redeliver sends one delivery again.
func (a *API) redeliver(c *call) (reply, error) {
	if err := c.nothing(); err != nil {
		return reply{}, err
	}
	id := c.stored(c.request.PathValue("delivery"))
	if !isUUID(id) {
		return reply{}, fault.Missing(webhooks.KindDelivery, id)
	}
	delivery, err := a.Webhooks.Redeliver(c.ctx(), c.caller, c.id, id)
	return deliveryResource().answer(http.StatusOK, delivery, err)
}

// redeliverRange sends the deliveries of a range again.
func (a *API) redeliverRange(c *call) (reply, error) {
	body, err := c.objectOrNothing()
	if err != nil {
		return reply{}, err
	}
	from, to, delivered := body.Time("from"), body.Time("to"), body.Bool("include_delivered")
	for _, each := range []struct {
		name string
		time optional.Value[time.Time]
	}{{"from", from}, {"to", to}} {
		if each.time.Pointer() == nil {
			body.Refuse(each.name, "is required: a date and time such as 2026-05-01T12:00:00Z")
		}
	}
	problems := c.done()
	if err := problems.Err(); err != nil {
		return reply{}, err
	}
	if what := (webhooks.Redelivery{From: *from.Pointer(), To: *to.Pointer(), Delivered: delivered.Or(false)}); what.From.Before(what.To) {
		queued, err := a.Webhooks.RedeliverRange(c.ctx(), c.caller, c.id, what)
		return one(http.StatusOK, jsonapi.Resource{ID: c.id, Type: webhooks.KindRedelivery, Attributes: queued}, err)
	}
	return reply{}, fault.New(fault.Validation, "to must be later than from.").At(fault.Pointer("/to"))
}
