package jobs

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/transaction"
)

// KindRunStats is the JSON:API type of RunStats. Its id is always "current".
const KindRunStats = "run_stats"

// maxCountedRuns bounds the work of RunStats: about what an account runs in a day with one run every two seconds.
const maxCountedRuns = 50_000

// HourCount is the number of an account's runs of an hour with a status.
type HourCount struct {
	Hour   time.Time
	Status Status
	Runs   int
}

// RunStats are the outcomes of an account's runs, one entry for each hour.
type RunStats struct {
	Hours []HourStats `json:"hours"`
	// Complete is false if older runs of these hours were not counted, because there are too many.
	Complete bool `json:"complete"`
}

// HourStats are the outcomes of the runs that were queued in an hour.
type HourStats struct {
	At        time.Time `json:"at"`
	Succeeded int       `json:"succeeded"`
	Failed    int       `json:"failed"`
	Canceled  int       `json:"canceled"`
}

// RunStats returns the outcomes of all runs in the last hours, the current one included.
func (s *Service) RunStats(ctx context.Context, caller accounts.Caller, hours int) (RunStats, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (RunStats, error) {
		from := tx.Now().UTC().Truncate(time.Hour).Add(time.Duration(1-hours) * time.Hour)
		counts, err := tx.RunHours(ctx, caller.Account, from, maxCountedRuns)
		return countHours(counts, from, hours), err
	})
}

// countHours returns one entry for each hour from an hour on.
func countHours(counts []HourCount, from time.Time, hours int) RunStats {
	stats, total := RunStats{Hours: make([]HourStats, hours)}, 0
	for i := range hours {
		stats.Hours[i].At = from.Add(time.Duration(i) * time.Hour)
	}
	for _, count := range counts {
		total += count.Runs
		place := int(count.Hour.Sub(from) / time.Hour)
		if place < 0 || place >= hours { // clocks of nodes differ
			continue
		}
		switch hour := &stats.Hours[place]; count.Status {
		case Succeeded:
			hour.Succeeded += count.Runs
		case Failed:
			hour.Failed += count.Runs
		case Canceled:
			hour.Canceled += count.Runs
		case Pending, Running:
		}
	}
	stats.Complete = total < maxCountedRuns
	return stats
}
