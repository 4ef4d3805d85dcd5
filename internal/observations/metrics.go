package observations

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/naming"
)

const (
	// MetricsKept is how long per-minute metrics are kept.
	MetricsKept = 7 * 24 * time.Hour
	// metricsAhead is how far a client's clock may be ahead of ours.
	metricsAhead = time.Hour
	maxUnit      = 50
	// maxMetric keeps sums far from what a float64 can hold.
	maxMetric     = 1e100
	maxDimensions = 1 << 10 // bytes; they are part of a key of the store
)

// Metric is one measurement that a client reports.
type Metric struct {
	Name  string
	Unit  string
	Value float64
	// Dimensions is a JSON object with its members sorted, so that equal ones
	// have equal texts.
	Dimensions json.RawMessage
	RecordedAt time.Time // zero means now
}

// series is what measurements are added up by.
type series struct {
	minute                 int64
	name, unit, dimensions string
}

// MetricMinute is what was reported of one metric in one minute.
type MetricMinute struct {
	Minute     time.Time
	Name       string
	Unit       string
	Dimensions string
	Samples    int
	Sum        float64
	Minimum    float64
	Maximum    float64
}

// ReportMetrics adds measurements up per minute. Unusable ones are skipped:
// a client must not fail because of what it measures. Every role may call it.
func (s *Service) ReportMetrics(ctx context.Context, caller accounts.Caller, metrics []Metric) error {
	for slice := range slices.Chunk(metrics, sliceSize) {
		var kept []Metric
		err := s.queue.Write(ctx, s.Store, caller.Account, len(slice), func(tx Tx, _ *sharedCount) error {
			kept = usable(slice, tx.Now())
			return tx.AddMetrics(ctx, caller.Account, aggregate(kept))
		})
		if err != nil {
			return err
		}
		for _, metric := range kept {
			s.Measured(caller.Account, metric)
		}
	}
	return nil
}

func usable(metrics []Metric, now time.Time) []Metric {
	kept := make([]Metric, 0, len(metrics))
	for _, metric := range metrics {
		if metric.RecordedAt.IsZero() {
			metric.RecordedAt = now
		}
		if metric.usable(now) {
			kept = append(kept, metric)
		}
	}
	return kept
}

func (m Metric) usable(now time.Time) bool {
	return brokenRule(m.Name, maxName) == "" &&
		naming.Fits(m.Unit, 0, maxUnit) &&
		len(m.Dimensions) <= maxDimensions &&
		math.Abs(m.Value) <= maxMetric && // false for NaN
		m.RecordedAt.After(now.Add(-MetricsKept)) && m.RecordedAt.Before(now.Add(metricsAhead))
}

func aggregate(metrics []Metric) []MetricMinute {
	index := map[series]int{}
	var minutes []MetricMinute
	for _, metric := range metrics {
		minute := metric.RecordedAt.Truncate(time.Minute)
		key := series{minute.Unix(), metric.Name, metric.Unit, string(metric.Dimensions)}
		at, seen := index[key]
		if !seen {
			at = len(minutes)
			index[key] = at
			minutes = append(minutes, MetricMinute{Minute: minute, Name: metric.Name, Unit: metric.Unit,
				Dimensions: key.dimensions, Minimum: metric.Value, Maximum: metric.Value})
		}
		minutes[at].add(metric.Value)
	}
	return minutes
}

func (m *MetricMinute) add(value float64) {
	m.Samples++
	m.Sum += value
	m.Minimum, m.Maximum = min(m.Minimum, value), max(m.Maximum, value)
}
