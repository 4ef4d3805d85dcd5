package app

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/internal/egress"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/webhooks"
)

const (
	// deliveriesInFlight bounds the requests of webhooks in flight on a node. Requests of runs have a limit of
	// their own, so that neither queue delays the other.
	deliveriesInFlight = 512
	// ofOneWebhook bounds the requests of one webhook in flight. Even if all webhooks of an account hang, other requests
	// of the account fit into its share of a node.
	ofOneWebhook = 4
	// readAnswer is how much of an answer is read: enough to keep its beginning, so that a stream without an end costs nothing.
	readAnswer = 4 << 10
)

// wireDeliveries connects the engine of webhooks: a commit with due deliveries wakes the worker that sends them. So
// does the courier when it has released waiting deliveries.
func (a *App) wireDeliveries() *worker.Worker {
	log := a.log.With("queue", "webhooks")
	limits := limits(deliveriesInFlight)
	limits.Lane = ofOneWebhook
	sending := &worker.Worker{
		Store: a.db.Deliveries(webhooks.Composer{PublicURL: a.settings.PublicURL}), Sender: deliverySender{sender{a.egress}}, Limits: limits,
		Log: log, Observe: deliveryObserver{a}, Now: a.options.Now, Paused: a.clock.isWrong, Alone: a.settings.Database == "", Unmetered: true, Once: true,
	}
	a.courier = &webhooks.Courier{Store: a.db.Courier(), Log: log, Queued: sending.Wake, Ended: a.metrics.CountSurplusDeliveries, Paused: a.clock.isWrong,
		MaxUnfinished: webhooks.MaxUnfinished}
	a.db.OnDeliveries(sending.Wake)
	return sending
}

// deliverySender sends the messages of webhooks, with exactly the headers that were composed.
type deliverySender struct{ sender }

// Send sends a message. The status of the answer counts even if its body does not end in time, or breaks off: the target has the
// message, and would get it again.
func (s deliverySender) Send(ctx context.Context, order worker.Order) (jobs.Result, error) {
	answer, err := s.send(ctx, order, egress.Request{Headers: asHeaders(order.Configuration.Plain().Headers), ReadAtMost: readAnswer})
	if _, failed := errors.AsType[*worker.SendError](err); failed && answer.Status != 0 {
		return answer, nil
	}
	return answer, err
}

// deliveryObserver passes the reports of the worker of webhooks to the metrics.
type deliveryObserver struct{ app *App }

func (o deliveryObserver) RunFinished(status jobs.Status, _ jobs.Reason) {
	outcome := "failed"
	if status == jobs.Succeeded {
		outcome = "succeeded"
	}
	o.app.metrics.CountDelivery(outcome)
}
func (o deliveryObserver) InFlight(requests int)     { o.app.metrics.SetDeliveriesInFlight(requests) }
func (o deliveryObserver) QueueDepth(deliveries int) { o.app.metrics.SetDeliveryQueueDepth(deliveries) }
func (o deliveryObserver) Unhealthy(found []jobs.Unhealthy) {
	o.app.metrics.SetWebhookHealth(healthLabels(found))
}
