package jobs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

// dueAtOnce is the number of jobs that are due in the same minute.
const dueAtOnce = 100_000

// storms measures, for jobs that are all due at the same instant, how long it takes until each has a run, and until the
// sink has received all requests.
func (b *bench) storms(ctx context.Context) error {
	fmt.Fprintf(b.out, "\n%d jobs due in the same minute, each fires once\n%-9s %12s %9s %9s %12s\n", dueAtOnce, "store", "all fired", "lag p50", "lag p99", "all received")
	for _, s := range b.stores {
		if err := b.storm(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) storm(ctx context.Context, s servers.Store) error {
	box, err := b.newBox(ctx, s, small)
	if err != nil {
		return err
	}
	defer box.close()
	due, err := box.prepareStorm(ctx)
	if err != nil {
		return err
	}
	if err := box.start(ctx); err != nil {
		return err
	}
	if err := box.drained(ctx, dueAtOnce); err != nil {
		return err
	}
	if err := box.allSucceeded(ctx, dueAtOnce); err != nil {
		return err
	}
	once, err := box.number(ctx, `SELECT count(DISTINCT job_uid) FROM runs`)
	if err == nil && once != dueAtOnce {
		err = fmt.Errorf("%d of %d jobs fired", once, dueAtOnce)
	}
	if err != nil {
		return err
	}
	return box.reportStorm(ctx, due)
}

// prepareStorm creates jobs that are due in one of the next minutes, and returns that minute.
func (x *box) prepareStorm(ctx context.Context) (time.Time, error) {
	if err := x.copyJobs(ctx, dueAtOnce, time.Now().UTC().AddDate(0, 1, 0)); err != nil {
		return time.Time{}, err
	}
	due := time.Now().UTC().Add(15 * time.Second).Truncate(time.Minute).Add(time.Minute)
	return due, x.execute(ctx, fmt.Sprintf(`UPDATE jobs SET next_run_at = %d, schedule = '%d %d * * *' WHERE key <> 'template'`, due.UnixMicro(), due.Minute(), due.Hour()))
}

func (x *box) reportStorm(ctx context.Context, due time.Time) error {
	lag := func(offset int) (time.Duration, error) {
		micros, err := x.number(ctx, fmt.Sprintf(`SELECT created_at - %d FROM runs ORDER BY created_at LIMIT 1 OFFSET %d`, due.UnixMicro(), offset))
		return time.Duration(micros) * time.Microsecond, err
	}
	var lags []time.Duration
	for _, offset := range []int{dueAtOnce - 1, dueAtOnce / 2, dueAtOnce * 99 / 100} {
		each, err := lag(offset)
		if err != nil {
			return err
		}
		lags = append(lags, each.Round(time.Millisecond))
	}
	got, err := x.bench.sink.Times(ctx)
	if err != nil {
		return err
	}
	last := due.UnixNano()
	for _, at := range got.Times {
		last = max(last, at)
	}
	fmt.Fprintf(x.bench.out, "%-9s %12s %9s %9s %12s\n", x.store.Name, lags[0], lags[1], lags[2], time.Duration(last-due.UnixNano()).Round(time.Millisecond))
	return nil
}

// scans measures the cost of looking for due jobs among few and among many jobs
// that are not due.
func (b *bench) scans(ctx context.Context) error {
	fmt.Fprintf(b.out, "\nlooking for due jobs, median of %d\n%-9s %14s %14s %7s\n", searches, "store", "1,000 jobs", "1,000,000 jobs", "ratio")
	for _, s := range b.stores {
		few, err := b.scan(ctx, s, 1_000)
		if err != nil {
			return err
		}
		many, err := b.scan(ctx, s, 1_000_000)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "%-9s %14s %14s %7.2f\n", s.Name, few, many, float64(many)/float64(few))
	}
	return nil
}

// searches is how often due jobs are searched for in one measurement.
const searches = 500

func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
