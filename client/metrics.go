package signalbox

import (
	"context"
	"net/url"
	"strconv"
	"strings"
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
	// RecordedAt is the time of the measurement; the zero time is now.
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

// MetricsAPI sends measurements of running services, and reads their sums.
type MetricsAPI struct{ transport *transport }

// Report adds measurements to the sums of their minutes. The server skips invalid measurements without an error. A report
// is not retried, because a report that arrives twice counts twice. Any role may report.
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
	_, err := a.transport.call(ctx, send(map[string]any{"data": data}, "metrics", "bulk"), nil)
	return err
}

// MetricSeries has the sums of a metric over time. Its id is the metric's name.
type MetricSeries struct {
	Resource
	// From and To are whole steps.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// StepSeconds is the length of a step.
	StepSeconds int `json:"step"`
	// By has the dimensions that split the sums.
	By []string `json:"by"`
	// Units are the units of the measurements.
	Units []string `json:"units"`
	// Points are in the order of time. A step without measurements has no point.
	Points []MetricPoint `json:"points"`
}

// MetricPoint is the sum of the measurements of one step.
type MetricPoint struct {
	At time.Time `json:"at"`
	// Dimensions has the value of each dimension in By.
	Dimensions map[string]any `json:"dimensions"`
	Sum        float64        `json:"sum"`
	// Count is how many measurements were reported.
	Count int `json:"count"`
}

// MetricSeriesParams select sums of a metric.
type MetricSeriesParams struct {
	// From (inclusive) and To (exclusive) are widened to whole steps. The zero To is now, the zero From a day earlier.
	From, To time.Time
	// Step is a minute, an hour or a day; 0 is an hour. Minutes are kept for a week, hours for 90 days.
	Step time.Duration
	// By names the dimensions that split the sums.
	By []string
	// Where selects measurements by the values of their dimensions.
	Where map[string]string
}

// Series returns the sums of a metric over time, at most 10,000 points.
func (a MetricsAPI) Series(ctx context.Context, name string, params MetricSeriesParams) (MetricSeries, error) {
	query := url.Values{"name": {name}}
	for parameter, at := range map[string]time.Time{"from": params.From, "to": params.To} {
		if !at.IsZero() {
			query.Set(parameter, at.UTC().Format(time.RFC3339Nano))
		}
	}
	if params.Step != 0 {
		query.Set("step", strconv.Itoa(int(params.Step.Seconds())))
	}
	if len(params.By) > 0 {
		query.Set("by", strings.Join(params.By, ","))
	}
	for dimension, value := range params.Where {
		query.Set("filter["+dimension+"]", value)
	}
	r := get("metrics")
	r.query = query
	return fetch[MetricSeries](ctx, a.transport, r)
}
