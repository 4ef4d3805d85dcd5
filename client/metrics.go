package signalbox

import (
	"context"
	"time"
)

// Metric is one measurement of a running service.
type Metric struct {
	// Name says what was measured, such as "flags.evaluations".
	Name  string
	Value float64
	// Unit of the value, if it has one.
	Unit string
	// Period is the time that the value covers, if any.
	Period time.Duration
	// Dimensions distinguish measurements of one name, such as {"flag": "x"}.
	Dimensions map[string]string
	// RecordedAt is when it was measured; the zero time is now.
	RecordedAt time.Time
}

// metricAttributes is a metric as the server reads it.
type metricAttributes struct {
	Name          string            `json:"name"`
	Value         float64           `json:"value"`
	Unit          string            `json:"unit,omitempty"`
	PeriodSeconds float64           `json:"period_seconds,omitempty"`
	Dimensions    map[string]string `json:"dimensions,omitempty"`
	RecordedAt    time.Time         `json:"recorded_at,omitzero"`
}

// MetricsAPI sends measurements of running services.
type MetricsAPI struct{ transport *transport }

// Report adds measurements to those of their minute. The server skips what it cannot use without an error. A report is
// not retried, because one that arrived twice would count twice. Any role may report.
func (a MetricsAPI) Report(ctx context.Context, metrics []Metric) error {
	if len(metrics) == 0 {
		return nil
	}
	data := make([]writeData, len(metrics))
	for i, metric := range metrics {
		data[i] = writeData{Type: "metric", Attributes: metricAttributes{
			Name: metric.Name, Value: metric.Value, Unit: metric.Unit, PeriodSeconds: metric.Period.Seconds(),
			Dimensions: metric.Dimensions, RecordedAt: metric.RecordedAt,
		}}
	}
	_, err := a.transport.call(ctx, post(map[string]any{"data": data}, "metrics", "bulk"), nil)
	return err
}
