package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
	"github.com/signalbox/signalbox/internal/jobs/scheduler"
	engine "github.com/signalbox/signalbox/internal/store"
)

// scan returns the time of one search for due jobs, through the same functions of
// the store that the scheduler uses.
func (b *bench) scan(ctx context.Context, s servers.Store, jobs int) (time.Duration, error) {
	box, err := b.newBox(ctx, s, small)
	if err != nil {
		return 0, err
	}
	defer box.close()
	if err := box.copyJobs(ctx, jobs, time.Now().UTC().AddDate(0, 1, 0)); err != nil {
		return 0, err
	}
	db, err := engine.Open(ctx, engine.Options{Database: box.database, File: box.file(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	times := make([]time.Duration, searches)
	for i := range times {
		started := time.Now()
		if err := searchDue(ctx, db.Scheduler()); err != nil {
			return 0, err
		}
		times[i] = time.Since(started)
	}
	return median(times).Round(100 * time.Nanosecond), nil
}

// searchDue reads the scheduler's agenda and the due jobs.
func searchDue(ctx context.Context, transactions scheduler.Store) error {
	err := transactions.Read(ctx, func(ctx context.Context, tx scheduler.ReadTx) error {
		_, err := tx.Agenda(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return transactions.Write(ctx, "", func(ctx context.Context, tx scheduler.Tx) error {
		_, err := tx.DueJobs(ctx, tx.Now(), 1000)
		return err
	})
}
