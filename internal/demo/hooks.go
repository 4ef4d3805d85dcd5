package demo

import (
	"context"
	"net/url"
	"path"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// deliver sends the deliveries of webhooks that are due now, in the steps of the courier and the worker: release, claim,
// finish. The receiver is not asked; its behavior says what it would have answered.
func (h *history) deliver(ctx context.Context) error {
	const lease, many = "demo", 1000
	if err := h.db.Courier().Write(ctx, "", func(ctx context.Context, tx webhooks.CourierTx) error {
		_, err := tx.ReleaseDeliveries(ctx, many)
		return err
	}); err != nil {
		return err
	}
	deliveries := h.db.Deliveries(webhooks.Composer{})
	var ended []worker.Outcome
	if err := deliveries.Write(ctx, "", func(ctx context.Context, tx worker.Tx) error {
		claimed, err := h.claim(ctx, tx, lease, many)
		if err != nil {
			return err
		}
		messages, err := tx.Configurations(ctx, claimed)
		for id, message := range messages {
			ended = append(ended, h.answer(id, message.Plain().URL, tx))
		}
		return err
	}); err != nil || len(ended) == 0 {
		return err
	}
	_, err := deliveries.FinishBusy(ctx, h.account, lease, ended)
	return err
}

// claim gives the due deliveries of all webhooks to a worker, and returns their ids.
func (h *history) claim(ctx context.Context, tx worker.Tx, lease string, limit int) (ids []string, err error) {
	lanes, err := tx.PendingLanes(ctx, h.account, "", limit)
	if err != nil {
		return nil, err
	}
	for _, lane := range lanes {
		claims, err := tx.ClaimRuns(ctx, lane, lease, limit)
		if err != nil {
			return nil, err
		}
		for _, each := range claims {
			ids = append(ids, each.Run)
		}
	}
	return ids, nil
}

// answer returns what the receiver would have answered to a message now.
func (h *history) answer(delivery, target string, tx worker.Tx) worker.Outcome {
	parsed, _ := url.Parse(target) // the server has checked the URL
	b := behaviors()[path.Base(parsed.Path)]
	took := b.takes(h.chance.Float64())
	status, body := b.answers(h.chance.Float64(), age(h.now.Sub(tx.Now())))
	return worker.Outcome{Run: delivery, Status: jobs.Succeeded, FinishedAt: tx.Now().Add(took),
		Result: &jobs.Result{Status: status, Body: body, Timings: &jobs.Timings{Total: float64(took.Microseconds()) / 1000}}}
}
