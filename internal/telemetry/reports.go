package telemetry

import (
	"math"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Limits on series whose labels clients choose: in total and per account, so that no account can use up all series.
const (
	maxReported          = 1000
	maxReportedOfAccount = 100
)

// ReportClientMetric adds a sample that a client sent. After 100 combinations of labels in an account, new ones count as name="other"
// without a unit; after 1000 in total, also without the account. Values that are not finite would spoil the sum and are skipped.
func (m *Metrics) ReportClientMetric(account, name, unit string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	series := m.reported.of(reportLabels{label(account), label(name), label(unit)})
	series.sum.Add(value)
	series.samples.Inc()
}

// CountDroppedReports counts sums that were dropped because an account reached its limit for a minute or an hour.
func (m *Metrics) CountDroppedReports(sums int) { m.dropped.Add(float64(sums)) }

// reports are the series of samples that clients send.
type reports struct {
	*children[reportLabels, reportSeries]

	mu     sync.Mutex
	shares map[string]int // the number of series by account
}

type reportLabels struct{ account, name, unit string }

type reportSeries struct {
	sum     prometheus.Gauge
	samples prometheus.Counter
}

// newReports creates the series. The sum is a gauge because a counter panics on negative samples.
func newReports(registry prometheus.Registerer) *reports {
	labels := []string{"account", "name", "unit"}
	sum := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "signalbox_reported_sum", Help: "Sum of the samples clients reported."}, labels)
	samples := newCounters("signalbox_reported_samples_total", "Samples clients reported.", labels...)
	registry.MustRegister(sum, samples)
	series := func(account, name, unit string) reportSeries {
		return reportSeries{sum.WithLabelValues(account, name, unit), samples.WithLabelValues(account, name, unit)}
	}
	return &reports{shares: map[string]int{}, children: newChildren(maxReported,
		func(k reportLabels) reportSeries { return series(k.account, k.name, k.unit) },
		func() reportSeries { return series("", other, "") })}
}

// of returns the series for a sample with these labels.
func (r *reports) of(labels reportLabels) reportSeries {
	if known, ok := r.find(labels); ok {
		return known
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.find(labels); ok {
		return known
	}
	account := strings.Clone(labels.account) // a copy, which does not keep the request body in memory
	if r.shares[account] >= maxReportedOfAccount {
		return r.get(reportLabels{account: account, name: other})
	}
	r.shares[account]++
	return r.get(reportLabels{account, strings.Clone(labels.name), strings.Clone(labels.unit)})
}
