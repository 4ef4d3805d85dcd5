package jobs

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/transaction"
)

// RunCount is the number of runs of a day with a status and a duration.
type RunCount struct {
	Day    time.Time // its midnight in UTC
	Status Status
	Millis *int64 // nil for runs that never started
	Runs   int
}

// Stats are the outcomes of a job's runs, one entry for each day.
type Stats struct {
	Days []DayStats `json:"days"`
}

// DayStats are the outcomes of the runs that were queued on a day. The durations are
// of runs that succeeded or failed, and nil if there are none.
type DayStats struct {
	Date      string `json:"date"` // YYYY-MM-DD in UTC
	Succeeded int    `json:"succeeded"`
	Failed    int    `json:"failed"`
	Canceled  int    `json:"canceled"`
	Skipped   int    `json:"skipped"` // instants that made no run
	P50       *int64 `json:"p50_ms"`
	P95       *int64 `json:"p95_ms"`
	Max       *int64 `json:"max_ms"`
}

// Stats returns the outcomes of a job's runs in the last days, today included.
func (s *Service) Stats(ctx context.Context, caller accounts.Caller, key string, days int) (Stats, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Stats, error) {
		job, err := tx.Job(ctx, caller.Account, key)
		if err != nil {
			return Stats{}, err
		}
		today := tx.Now().UTC().Truncate(24 * time.Hour)
		from := today.AddDate(0, 0, 1-days)
		counts, err := tx.FinishedRuns(ctx, job, from)
		if err != nil {
			return Stats{}, err
		}
		skipped, err := tx.SkippedInstants(ctx, job, from)
		return summarize(counts, skipped, from, days), err
	})
}

// summarize returns one entry for each day from a day on. skipped is by day.
func summarize(counts []RunCount, skipped map[string]int, from time.Time, days int) Stats {
	byDay := map[time.Time][]RunCount{}
	for _, count := range counts {
		byDay[count.Day] = append(byDay[count.Day], count)
	}
	stats := Stats{Days: make([]DayStats, days)}
	for i := range days {
		day := from.AddDate(0, 0, i)
		stats.Days[i] = summarizeDay(day, byDay[day])
		stats.Days[i].Skipped = skipped[stats.Days[i].Date]
	}
	return stats
}

func summarizeDay(day time.Time, counts []RunCount) DayStats {
	stats := DayStats{Date: day.Format(time.DateOnly)}
	var timed []RunCount
	for _, count := range counts {
		switch count.Status {
		case Succeeded:
			stats.Succeeded += count.Runs
		case Failed:
			stats.Failed += count.Runs
		case Canceled:
			stats.Canceled += count.Runs
			continue // the duration of a canceled run says nothing about the host
		case Pending, Running:
			continue
		}
		if count.Millis != nil {
			timed = append(timed, count)
		}
	}
	slices.SortFunc(timed, func(a, b RunCount) int { return cmp.Compare(*a.Millis, *b.Millis) })
	stats.P50, stats.P95, stats.Max = percentile(timed, 0.50), percentile(timed, 0.95), percentile(timed, 1)
	return stats
}

// percentile returns the smallest duration that a share of the runs does not exceed,
// or nil if there are no runs. The counts are sorted by duration.
func percentile(counts []RunCount, share float64) *int64 {
	runs := 0
	for _, count := range counts {
		runs += count.Runs
	}
	rank := int(math.Ceil(share * float64(runs)))
	for _, count := range counts {
		if rank -= count.Runs; rank <= 0 {
			return new(min(max(*count.Millis, 0), math.MaxInt32))
		}
	}
	return nil
}
