package signalbox

import (
	"context"
	"time"
)

const metricKind = "metric"

// Metric is one measurement of a running service.
type Metric struct {
	// Name says what was measured, such as "flags.evaluations".
	Name string
	// Value is the measurement and Unit what it counts in, if anything.
	Value float64
	Unit  string
	// Period is the time that the value covers, if it covers any.
	Period time.Duration
	// Dimensions tell measurements of one name apart, such as {"flag": "x"}.
	Dimensions map[string]string
	// RecordedAt is when it was measured; the zero time means now.
	RecordedAt time.Time
}

// metricAttributes is a metric as the server takes it.
type metricAttributes struct {
	Name          string            `json:"name"`
	Value         float64           `json:"value"`
	Unit          string            `json:"unit,omitempty"`
	PeriodSeconds float64           `json:"period_seconds,omitempty"`
	Dimensions    map[string]string `json:"dimensions,omitempty"`
	RecordedAt    time.Time         `json:"recorded_at,omitzero"`
}

// MetricsAPI receives measurements of running services.
type MetricsAPI struct{ transport *transport }

// Report adds measurements to those of their minute. The server skips what it
// cannot use and does not say so. A report is not repeated by itself, because
// one that arrived twice would count twice. Every role may report.
func (a MetricsAPI) Report(ctx context.Context, metrics []Metric) error {
	if len(metrics) == 0 {
		return nil
	}
	data := make([]envelopeData, len(metrics))
	for i, metric := range metrics {
		data[i] = envelopeData{Type: metricKind, Attributes: metricAttributes{
			Name: metric.Name, Value: metric.Value, Unit: metric.Unit, PeriodSeconds: metric.Period.Seconds(),
			Dimensions: metric.Dimensions, RecordedAt: metric.RecordedAt,
		}}
	}
	_, err := a.transport.call(ctx, post(map[string]any{"data": data}, "metrics", "bulk"), nil)
	return err
}
