package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

// backlogs measures how fast the runs of a backlog are done, with small and with large answers.
func (b *bench) backlogs(ctx context.Context) error {
	for _, c := range []struct {
		what  string
		runs  int
		stock int // runs of untuned River, fewer because it is slow
		size  int
	}{
		{"a backlog, small answers", 50_000, 5_000, small},
		{"a backlog, answers of 64 KiB", 10_000, 0, large},
	} {
		fmt.Fprintf(b.out, "\n%s\n%-9s %-22s %9s %9s %8s %11s\n", c.what, "store", "who", "runs", "runs /s", "ceiling", "cpu µs/run")
		ceiling, err := b.ceiling(ctx, c.runs, c.size)
		if err != nil {
			return err
		}
		b.row("", "bare HTTP client loop", ceiling, ceiling)
		for _, s := range b.stores {
			if err := b.backlog(ctx, s, c.runs, c.stock, c.size, ceiling); err != nil {
				return err
			}
		}
	}
	return nil
}

// backlog measures on one store.
func (b *bench) backlog(ctx context.Context, s servers.Store, runs, stock, size int, ceiling speed) error {
	if stock > 0 {
		made, err := b.river(ctx, s, stock, false, size)
		if err != nil {
			return err
		}
		b.row(s.Name, "River, stock", made, ceiling)
	}
	river, err := b.river(ctx, s, runs, true, size)
	if err != nil {
		return err
	}
	b.row(s.Name, "River, tuned", river, ceiling)
	ours, err := b.signalbox(ctx, s, runs, size)
	if err != nil {
		return err
	}
	b.row(s.Name, "Signalbox", ours, ceiling)
	fmt.Fprintf(b.out, "%-9s %-22s %28.2f×\n", s.Name, "Signalbox to River, tuned", ours.rate()/river.rate())
	return nil
}

func (b *bench) row(store, who string, made, ceiling speed) {
	fmt.Fprintf(b.out, "%-9s %-22s %9d %9.0f %7.0f%% %11.0f\n", store, who, made.runs, made.rate(), 100*made.rate()/ceiling.rate(), made.cost())
}

// signalbox measures how fast Signalbox does a backlog, from the start of the process to the last stored outcome.
func (b *bench) signalbox(ctx context.Context, s servers.Store, runs, size int) (speed, error) {
	box, err := b.newBox(ctx, s, size)
	if err != nil {
		return speed{}, err
	}
	defer box.close()
	if err := box.queue(ctx, runs); err != nil {
		return speed{}, err
	}
	started := time.Now()
	if err := box.start(ctx); err != nil {
		return speed{}, err
	}
	if err := box.drained(ctx, runs); err != nil {
		return speed{}, err
	}
	took := time.Since(started)
	return speed{runs, took, box.stop()}, box.allSucceeded(ctx, runs)
}
