package observations

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/transaction"
)

const (
	// metricsAhead is how far a client's clock may be ahead.
	metricsAhead = time.Hour
	maxUnit      = 50
	// maxMetric keeps sums far below the largest float64.
	maxMetric     = 1e100
	maxDimensions = 1 << 10 // bytes; dimensions are a part of a key in the database
)

// Metric is one measurement that a client reports.
type Metric struct {
	Name  string
	Unit  string
	Value float64
	// Dimensions is a JSON object with sorted members, so that equal dimensions
	// have equal texts.
	Dimensions json.RawMessage
	RecordedAt time.Time // zero means now
}

// Resolution says whether measurements are summed per minute or per hour. Every measurement is
// added to both sums, so that the hour sums exist when the minute sums are removed.
type Resolution uint8

// The resolutions.
const (
	ByMinute Resolution = iota
	ByHour
)

// Resolutions returns all resolutions.
func Resolutions() []Resolution { return []Resolution{ByMinute, ByHour} }

// Length returns the length of the interval that a sum covers.
func (r Resolution) Length() time.Duration { return [...]time.Duration{time.Minute, time.Hour}[r] }

// Kept returns how long sums are kept.
func (r Resolution) Kept() time.Duration {
	return [...]time.Duration{7 * 24 * time.Hour, 90 * 24 * time.Hour}[r]
}

// maxSets returns how many sums an account may have for one minute or hour. There is one sum per
// name, unit and dimensions. The limit bounds the rows of an account.
func (r Resolution) maxSets() int { return [...]int{2000, 5000}[r] }

// metricSet identifies a sum. Measurements with the same set are added up.
type metricSet struct {
	at                     int64
	name, unit, dimensions string
}

// MetricSum is the sum of the measurements of a metric in one minute or hour.
type MetricSum struct {
	At         time.Time
	Name       string
	Unit       string
	Dimensions string
	Samples    int
	Sum        float64
	Minimum    float64
	Maximum    float64
}

// MetricFilter selects sums. Zero members do not filter.
type MetricFilter struct {
	Name     string
	From, To time.Time // From is included, To is not
}

// ReportMetrics adds measurements to their sums. It skips unusable ones, because a client must
// not fail because of a bad measurement. Every role may report.
func (s *Service) ReportMetrics(ctx context.Context, caller accounts.Caller, metrics []Metric) error {
	for slice := range slices.Chunk(metrics, sliceSize) {
		var stored storedMetrics
		err := s.queue.Write(ctx, s.Reports, caller.Account, queuedWrite[Tx]{items: len(slice), check: confirm[Tx](caller), write: func(ctx context.Context, tx Tx, _ *sharedCount) (err error) {
			stored, err = storeMetrics(ctx, tx, caller.Account, slice)
			return err
		}})
		if err != nil {
			return err
		}
		s.tell(caller.Account, stored)
	}
	return nil
}

// addMetrics stores a slice of measurements in one transaction. If it returns an error, nothing
// was stored; this differs from ReportMetrics.
func (s *Service) addMetrics(ctx context.Context, account string, metrics []Metric) error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	stored, err := transaction.Write(ctx, s.Reports, account, func(ctx context.Context, tx Tx) (storedMetrics, error) {
		return storeMetrics(ctx, tx, account, metrics)
	})
	if err == nil {
		s.tell(account, stored)
	}
	return err
}

// storedMetrics is the result of storeMetrics.
type storedMetrics struct {
	usable  []Metric
	dropped int // sums beyond the cap
}

func (s *Service) tell(account string, stored storedMetrics) {
	for _, metric := range stored.usable {
		s.Measured(account, metric)
	}
	s.drop(stored.dropped)
}

func (s *Service) drop(sums int) {
	if s.Dropped != nil && sums > 0 {
		s.Dropped(sums)
	}
}

// storeMetrics adds measurements to the sums of their minutes and hours.
func storeMetrics(ctx context.Context, tx Tx, account string, metrics []Metric) (storedMetrics, error) {
	stored := storedMetrics{usable: usable(metrics, tx.Now())}
	for _, by := range Resolutions() {
		sums := aggregate(stored.usable, by)
		fitting, err := fitting(ctx, tx, account, by, sums)
		if err != nil {
			return storedMetrics{}, err
		}
		if err := tx.AddMetrics(ctx, account, by, fitting); err != nil {
			return storedMetrics{}, err
		}
		stored.dropped += len(sums) - len(fitting)
	}
	return stored, nil
}

// fitting returns the sums without new sums beyond the cap of their minute or hour.
func fitting(ctx context.Context, tx ReadTx, account string, by Resolution, sums []MetricSum) ([]MetricSum, error) {
	wanted := map[time.Time]int{}
	for _, sum := range sums {
		wanted[sum.At]++
	}
	for at, more := range wanted {
		stored, err := tx.CountMetrics(ctx, account, by, at)
		if err == nil && stored+more > by.maxSets() { // rare
			sums, err = fittingAt(ctx, tx, account, by, at, sums)
		}
		if err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// fittingAt is fitting for one minute or hour. It keeps all sums of other times.
func fittingAt(ctx context.Context, tx ReadTx, account string, by Resolution, at time.Time, sums []MetricSum) ([]MetricSum, error) {
	known := map[metricSet]bool{}
	err := tx.MetricSums(ctx, account, by, MetricFilter{From: at, To: at.Add(by.Length())}, func(sum MetricSum) error {
		known[sum.set()] = true
		return nil
	})
	capacity := by.maxSets() - len(known)
	return slices.DeleteFunc(sums, func(sum MetricSum) bool {
		if !sum.At.Equal(at) || known[sum.set()] {
			return false
		}
		capacity--
		return capacity < 0
	}), err
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
		m.RecordedAt.After(now.Add(-ByMinute.Kept())) && m.RecordedAt.Before(now.Add(metricsAhead))
}

func aggregate(metrics []Metric, by Resolution) []MetricSum {
	index := map[metricSet]int{}
	var sums []MetricSum
	for _, metric := range metrics {
		sum := MetricSum{At: metric.RecordedAt.UTC().Truncate(by.Length()), Name: metric.Name, Unit: metric.Unit,
			Dimensions: string(metric.Dimensions), Minimum: metric.Value, Maximum: metric.Value}
		place, seen := index[sum.set()]
		if !seen {
			place = len(sums)
			index[sum.set()] = place
			sums = append(sums, sum)
		}
		sums[place].add(metric.Value)
	}
	return sums
}

func (m *MetricSum) set() metricSet {
	return metricSet{m.At.Unix(), m.Name, m.Unit, m.Dimensions}
}

func (m *MetricSum) add(value float64) {
	m.Samples++
	m.Sum += value
	m.Minimum, m.Maximum = min(m.Minimum, value), max(m.Maximum, value)
}
