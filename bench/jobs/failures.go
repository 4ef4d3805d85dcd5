package jobs

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

const (
	// failureRuns is the number of runs in one measurement. turns is how often it is repeated, with a webhook and without.
	failureRuns = 10_000
	turns       = 3
)

// failing is a job whose runs fail, and the events that its webhook receives.
type failing struct {
	name, success string
	every         int // one in every requests fails; 0 is none
	events        string
}

// failures measures how much webhooks that receive failures slow runs down.
func (b *bench) failures(ctx context.Context) error {
	fmt.Fprintf(b.out, "\n%d runs, without and with a webhook that is told of failures, median of %d turns\n%-9s %-16s %-12s %9s %9s %7s\n", failureRuns, turns, "store", "the runs", "told of", "without /s", "with /s", "ratio")
	for _, s := range b.stores {
		for _, c := range []failing{
			{"succeed", "2xx", 0, "run.failed"},
			{"one in 20 fails", "2xx", 20, "run.failed"},
			{"all fail", "204", 0, "job.failing"},
			{"all fail", "204", 0, "run.failed"},
		} {
			if err := b.turns(ctx, s, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// turns alternates between runs without and with a webhook, and prints the medians.
func (b *bench) turns(ctx context.Context, s servers.Store, c failing) error {
	var without, with, ratios []float64
	for range turns {
		plain, err := b.failing(ctx, s, c, false)
		if err != nil {
			return err
		}
		hooked, err := b.failing(ctx, s, c, true)
		if err != nil {
			return err
		}
		without, with, ratios = append(without, plain), append(with, hooked), append(ratios, hooked/plain)
	}
	fmt.Fprintf(b.out, "%-9s %-16s %-12s %9.0f %9.0f %6.2f×\n", s.Name, c.name, c.events, median(without), median(with), median(ratios))
	return nil
}

// failing returns the runs per second of a job, with a webhook or without.
func (b *bench) failing(ctx context.Context, s servers.Store, c failing, hooked bool) (float64, error) {
	box, err := b.newBox(ctx, s, small)
	if err != nil {
		return 0, err
	}
	defer box.close()
	if err := box.subscribe(ctx, c, hooked); err != nil {
		return 0, err
	}
	if err := box.queue(ctx, failureRuns); err != nil {
		return 0, err
	}
	started := time.Now()
	if err := box.start(ctx); err != nil {
		return 0, err
	}
	const open = `SELECT count(*) FROM (SELECT 1 FROM run_queue LIMIT 1) AS any_run`
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for left := int64(1); left > 0; <-tick.C {
		if left, err = box.number(ctx, open); err != nil {
			return 0, err
		}
	}
	return failureRuns / time.Since(started).Seconds(), nil
}

// subscribe sets the status that the template's jobs count as a success, and creates a webhook if hooked.
func (x *box) subscribe(ctx context.Context, c failing, hooked bool) error {
	if err := x.start(ctx); err != nil {
		return err
	}
	defer x.stop()
	sink := x.bench.sink.URL(small)
	job := fmt.Sprintf(`{"data":{"type":"job","attributes":{"name":"template","schedule":"0 0 1 1 *","configuration":{"url":"%s&fail=%d","success_status":%q}}}}`, sink, c.every, c.success)
	if _, err := servers.Fetch(ctx, http.MethodPut, x.server.Address, "/api/v1/jobs/template", []byte(job)); err != nil || !hooked {
		return err
	}
	hook := fmt.Sprintf(`{"data":{"type":"webhook","attributes":{"name":"w","url":%q,"events":[%q]}}}`, sink, c.events)
	_, err := servers.Fetch(ctx, http.MethodPost, x.server.Address, "/api/v1/webhooks", []byte(hook))
	return err
}
