package jobs

import (
	"context"
	"fmt"
	"time"
)

// backlogs measures how fast a backlog is worked off, with small and with
// large answers.
func (b *bench) backlogs(ctx context.Context) error {
	for _, c := range []struct {
		what  string
		runs  int
		stock int // fewer, because it takes long
		size  int
	}{
		{"a backlog, small answers", 50_000, 5_000, small},
		{"a backlog, answers of 64 KiB", 10_000, 0, large},
	} {
		fmt.Fprintf(b.out, "\n%s\n%-9s %-22s %9s %9s %8s\n", c.what, "store", "who", "runs", "runs /s", "ceiling")
		ceiling, err := b.ceiling(ctx, c.runs, c.size)
		if err != nil {
			return err
		}
		b.row("", "bare HTTP client loop", c.runs, ceiling, ceiling)
		for _, s := range b.stores {
			if err := b.backlog(ctx, s, c.runs, c.stock, c.size, ceiling); err != nil {
				return err
			}
		}
	}
	return nil
}

// backlog measures on one store.
func (b *bench) backlog(ctx context.Context, s store, runs, stock, size int, ceiling float64) error {
	if stock > 0 {
		rate, err := b.riverRate(ctx, s, stock, false, size)
		if err != nil {
			return err
		}
		b.row(s.name, "River, stock", stock, rate, ceiling)
	}
	river, err := b.riverRate(ctx, s, runs, true, size)
	if err != nil {
		return err
	}
	b.row(s.name, "River, tuned", runs, river, ceiling)
	ours, err := b.signalboxRate(ctx, s, runs, size)
	if err != nil {
		return err
	}
	b.row(s.name, "Signalbox", runs, ours, ceiling)
	fmt.Fprintf(b.out, "%-9s %-22s %28.2f×\n", s.name, "Signalbox to River, tuned", ours/river)
	return nil
}

func (b *bench) row(store, who string, runs int, rate, ceiling float64) {
	fmt.Fprintf(b.out, "%-9s %-22s %9d %9.0f %7.0f%%\n", store, who, runs, rate, 100*rate/ceiling)
}

// signalboxRate lets Signalbox work off a backlog and gives the runs per
// second, from the start of the process to the last outcome that is stored.
func (b *bench) signalboxRate(ctx context.Context, s store, runs, size int) (float64, error) {
	box, err := b.newBox(ctx, s, size)
	if err != nil {
		return 0, err
	}
	defer box.close()
	if err := box.queue(ctx, runs); err != nil {
		return 0, err
	}
	started := time.Now()
	if err := box.start(ctx); err != nil {
		return 0, err
	}
	if err := box.drained(ctx, runs); err != nil {
		return 0, err
	}
	rate := float64(runs) / time.Since(started).Seconds()
	return rate, box.allSucceeded(ctx, runs)
}
