package telemetry

import "github.com/prometheus/client_golang/prometheus"

// historyMetrics are those of the recorded changes.
type historyMetrics struct {
	bytes, largest prometheus.Gauge
	trimmed        prometheus.Counter
}

func newHistoryMetrics(registry *prometheus.Registry) historyMetrics {
	m := historyMetrics{
		bytes:   newGauge("signalbox_history_bytes", "Bytes that the history of all accounts holds of what was before and after changes."),
		largest: newGauge("signalbox_history_largest_bytes", "Bytes of the account whose history holds most."),
		trimmed: prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_history_trimmed_total",
			Help: "Changes whose before and after were removed because the history of their account was too large."}),
	}
	registry.MustRegister(m.bytes, m.largest, m.trimmed)
	return m
}

// SetHistoryBytes records how much the history of all accounts holds, and that of the largest.
func (m *Metrics) SetHistoryBytes(total, largest int64) {
	m.history.bytes.Set(float64(total))
	m.history.largest.Set(float64(largest))
}

// CountTrimmed counts changes whose documents were removed.
func (m *Metrics) CountTrimmed(changes int) { m.history.trimmed.Add(float64(changes)) }
