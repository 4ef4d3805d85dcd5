package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/observations"
)

// reportMetrics stores the readable measurements and skips the others.
func (a *API) reportMetrics(c *call) (reply, error) {
	items, err := a.bulkItems(c, "data")
	if err != nil {
		return reply{}, err
	}
	metrics := make([]observations.Metric, 0, len(items))
	for _, text := range items {
		if metric, readable := reportedMetric(text); readable {
			metrics = append(metrics, metric)
		}
	}
	if err := a.Observations.ReportMetrics(c.ctx(), c.caller, metrics); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusAccepted}, nil
}

func reportedMetric(text json.RawMessage) (observations.Metric, bool) {
	item, isObject := jsonapi.ParseItem(text)
	if !isObject {
		return observations.Metric{}, false
	}
	attributes, sent := item.Object("attributes", `{"name": "requests", "value": 1}`).Get()
	if !sent {
		return observations.Metric{}, false
	}
	value, sent := attributes.Number("value").Get()
	metric := observations.Metric{
		Name: attributes.String("name").Or(""), Unit: attributes.String("unit").Or(""), Value: value,
		Dimensions: sortedObject(attributes.RawObject("dimensions", `{"route": "/"}`).Or(nil)),
		RecordedAt: attributes.Time("recorded_at").Or(time.Time{}),
	}
	return metric, sent && attributes.Problems().Err() == nil
}

// sortedObject returns the same text for equal objects, and {} for anything else.
func sortedObject(text json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return json.RawMessage(`{}`)
	}
	sorted, err := json.Marshal(members)
	if err != nil || strings.Contains(string(sorted), `\u0000`) {
		return json.RawMessage(`{}`)
	}
	return sorted
}

// anyOf returns the values that a filter allows: the texts of a JSON array, or the filter itself. It lets a list of flags
// be drawn with one request.
func anyOf(filter string) []string {
	var values []string
	if json.Unmarshal([]byte(filter), &values) != nil || len(values) == 0 {
		return []string{filter}
	}
	return append(values, filter)
}

// metricSeries answers with the sums of a metric over time.
func (a *API) metricSeries(c *call) (reply, error) {
	const hour, longest = 3600, 86400
	query := observations.SeriesQuery{
		Name: c.query.Text("name"), From: c.query.Time("from"), To: c.query.Time("to"),
		Step:  time.Duration(c.query.Integer("step", hour, 1, longest)) * time.Second,
		Where: map[string][]string{},
	}
	for name, text := range c.query.Filters() {
		query.Where[name] = anyOf(text)
	}
	if by := c.query.Text("by"); by != "" {
		query.By = strings.Split(by, ",")
	}
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	series, err := a.Observations.Metrics(c.ctx(), c.caller, query)
	return one(http.StatusOK, jsonapi.Resource{ID: series.Name, Type: observations.KindSeries, Attributes: series}, err)
}
