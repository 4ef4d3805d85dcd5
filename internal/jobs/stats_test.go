package jobs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStats_Summarize(t *testing.T) {
	t.Parallel()
	day := time.Date(2030, 2, 27, 0, 0, 0, 0, time.UTC)
	counts := []RunCount{
		{day, Succeeded, new(int64(30)), 10}, {day, Succeeded, new(int64(10)), 9}, {day, Failed, new(int64(900)), 1},
		{day, Failed, nil, 2}, {day, Canceled, new(int64(5000)), 3}, {day, Canceled, nil, 4},
		{day.AddDate(0, 0, 2), Succeeded, new(int64(-3)), 1}, // clocks of nodes differ
		{day.AddDate(0, 0, 3), Failed, nil, 1},
	}
	want := []DayStats{
		{Date: "2030-02-26"},
		{Date: "2030-02-27", Succeeded: 19, Failed: 3, Canceled: 7, P50: new(int64(30)), P95: new(int64(30)), Max: new(int64(900))},
		{Date: "2030-02-28", Skipped: 7},
		{Date: "2030-03-01", Succeeded: 1, P50: new(int64(0)), P95: new(int64(0)), Max: new(int64(0))},
		{Date: "2030-03-02", Failed: 1},
	}
	if difference := cmp.Diff(want, summarize(counts, map[string]int{"2030-02-28": 7}, day.AddDate(0, 0, -1), 5).Days); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
}

func TestRunStats_CountHours(t *testing.T) {
	t.Parallel()
	from := time.Date(2030, 2, 27, 5, 0, 0, 0, time.UTC)
	counts := []HourCount{{from, Succeeded, 3}, {from, Running, 1}, {from.Add(time.Hour), Failed, 2}, {from.Add(time.Hour), Canceled, 1}, {from.Add(2 * time.Hour), Failed, 9}}
	want := RunStats{Complete: true, Hours: []HourStats{{At: from, Succeeded: 3}, {At: from.Add(time.Hour), Failed: 2, Canceled: 1}}}
	if difference := cmp.Diff(want, countHours(counts, from, 2)); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
	if countHours([]HourCount{{from, Succeeded, maxCountedRuns}}, from, 2).Complete {
		t.Error("as many as are counted may not be all")
	}
}

func TestExpirer_Spelled(t *testing.T) {
	t.Parallel()
	for want, limit := range map[string]time.Duration{"24h": 24 * time.Hour, "1m": time.Minute, "1h30m": 90 * time.Minute, "1m10s": 70 * time.Second, "1h0m10s": time.Hour + 10*time.Second} {
		t.Run(want, func(t *testing.T) {
			if got := spelled(limit); got != want {
				t.Errorf("%s is written %s", want, got)
			}
		})
	}
}
