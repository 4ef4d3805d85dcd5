package jobs

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

// told is the number of runs of which webhooks are told.
const told = 20_000

// failures measures how webhooks that are told of failures slow runs down.
func (b *bench) failures(ctx context.Context) error {
	fmt.Fprintf(b.out, "\n%d runs, without and with a webhook that is told of failures\n%-9s %-16s %-12s %9s %9s %7s\n", told, "store", "the runs", "told of", "without /s", "with /s", "ratio")
	for _, s := range b.stores {
		for _, c := range []struct{ runs, success, events string }{
			{"succeed", "2xx", "run.failed"},
			{"all fail", "204", "job.failing"},
			{"all fail", "204", "run.failed"},
		} {
			without, err := b.failing(ctx, s, c.success, "")
			if err != nil {
				return err
			}
			with, err := b.failing(ctx, s, c.success, c.events)
			if err != nil {
				return err
			}
			fmt.Fprintf(b.out, "%-9s %-16s %-12s %9.0f %9.0f %6.2f×\n", s.Name, c.runs, c.events, without, with, with/without)
		}
	}
	return nil
}

// failing returns the runs per second of a job whose answers count as a success only with a status. "" is no webhook.
func (b *bench) failing(ctx context.Context, s servers.Store, success, events string) (float64, error) {
	box, err := b.newBox(ctx, s, small)
	if err != nil {
		return 0, err
	}
	defer box.close()
	if err := box.subscribe(ctx, success, events); err != nil {
		return 0, err
	}
	if err := box.queue(ctx, told); err != nil {
		return 0, err
	}
	started := time.Now()
	if err := box.start(ctx); err != nil {
		return 0, err
	}
	const open = `SELECT count(*) FROM runs WHERE status IN ('PENDING', 'RUNNING')`
	for left := int64(1); left > 0; {
		if left, err = box.number(ctx, open); err != nil {
			return 0, err
		}
	}
	return told / time.Since(started).Seconds(), nil
}

// subscribe sets the statuses that the template's jobs count as a success, and creates a webhook.
func (x *box) subscribe(ctx context.Context, success, events string) error {
	if err := x.start(ctx); err != nil {
		return err
	}
	defer x.stop()
	sink := x.bench.sink.URL(small)
	job := fmt.Sprintf(`{"data":{"type":"job","attributes":{"name":"template","schedule":"0 0 1 1 *","configuration":{"url":%q,"success_status":%q}}}}`, sink, success)
	if _, err := servers.Fetch(ctx, http.MethodPut, x.server.Address, "/api/v1/jobs/template", []byte(job)); err != nil || events == "" {
		return err
	}
	hook := fmt.Sprintf(`{"data":{"type":"webhook","attributes":{"name":"w","url":%q,"events":[%q]}}}`, sink, events)
	_, err := servers.Fetch(ctx, http.MethodPost, x.server.Address, "/api/v1/webhooks", []byte(hook))
	return err
}
