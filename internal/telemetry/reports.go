package telemetry

import (
	"math"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// How many series there may be with labels that clients choose, in all and of one account: nobody can use up those of the others.
const (
	maxReported          = 1000
	maxReportedOfAccount = 100
)

// ReportClientMetric adds a sample that a client sent. Past 100 distinct combinations of an account, new ones count as name="other"
// without a unit; past 1000 in all, without the account too. A value that is not finite would spoil the sum for good and is left out.
func (m *Metrics) ReportClientMetric(account, name, unit string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	series := m.reported.of(reportLabels{label(account), label(name), label(unit)})
	series.sum.Add(value)
	series.samples.Inc()
}

// reports are the series of samples that clients send.
type reports struct {
	*children[reportLabels, reportSeries]

	mu     sync.Mutex
	shares map[string]int // series by account
}

type reportLabels struct{ account, name, unit string }

// clone frees the labels from the request body they are part of, before they are kept.
func (l reportLabels) clone() reportLabels {
	return reportLabels{strings.Clone(l.account), strings.Clone(l.name), strings.Clone(l.unit)}
}

type reportSeries struct {
	sum     prometheus.Gauge
	samples prometheus.Counter
}

// newReports makes the sum a gauge: samples may be negative, and a counter would panic.
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

// of gives the series that a sample with these labels belongs to.
func (r *reports) of(labels reportLabels) reportSeries {
	if known, ok := r.find(labels); ok {
		return known
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.find(labels); ok {
		return known
	}
	if r.shares[labels.account] >= maxReportedOfAccount {
		return r.get(reportLabels{account: strings.Clone(labels.account), name: other})
	}
	labels = labels.clone()
	r.shares[labels.account]++
	return r.get(labels)
}
