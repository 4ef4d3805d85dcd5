package telemetry

import "github.com/prometheus/client_golang/prometheus"

// historyMetrics are the metrics of the accounts' histories.
type historyMetrics struct {
	bytes, largest prometheus.Gauge
	trimmed        prometheus.Counter
}

func newHistoryMetrics(registry *prometheus.Registry) historyMetrics {
	m := historyMetrics{
		bytes:   newGauge("signalbox_history_bytes", "Bytes of the before and after documents in the histories of all accounts."),
		largest: newGauge("signalbox_history_largest_bytes", "Bytes of the before and after documents in the largest history of an account."),
		trimmed: prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_history_trimmed_total",
			Help: "Changes whose before and after documents were removed because the history of their account was too large."}),
	}
	registry.MustRegister(m.bytes, m.largest, m.trimmed)
	return m
}

// SetHistoryBytes records the total size of all accounts' histories, and the size of the largest one.
func (m *Metrics) SetHistoryBytes(total, largest int64) {
	m.history.bytes.Set(float64(total))
	m.history.largest.Set(float64(largest))
}

// CountTrimmed counts changes whose documents were removed.
func (m *Metrics) CountTrimmed(changes int) { m.history.trimmed.Add(float64(changes)) }
