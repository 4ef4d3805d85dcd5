package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

func serviceResource() resource[environments.ReportingService, environments.NameDraft, environments.ReportedFilter] {
	return describe(environments.KindService, func(s environments.ReportingService) (string, any) { return s.Key, s }, reportedFilter, nameDraft)
}

func contextTypeResource() resource[environments.ContextType, environments.NameDraft, environments.ReportedFilter] {
	return describe(environments.KindContextType, func(t environments.ContextType) (string, any) { return t.Key, t }, reportedFilter, nameDraft)
}

func contextResource() resource[environments.Context, environments.NameDraft, environments.ReportedFilter] {
	return describe(environments.KindContext, func(c environments.Context) (string, any) { return c.ID(), c }, contextFilter, nameDraft)
}

func reportedFilter(c *call) environments.ReportedFilter {
	return environments.ReportedFilter{Search: c.query.Search()}
}

func contextFilter(c *call) environments.ReportedFilter {
	return environments.ReportedFilter{Search: c.query.Search(), ContextType: c.query.Filter("context_type").Or("")}
}

func nameDraft(envelope *jsonapi.Envelope) environments.NameDraft {
	draft := environments.NameDraft{
		Key:        envelope.ID,
		Name:       envelope.Attributes.String("name"),
		Attributes: envelope.Attributes.RawObject("attributes", `{"plan": {}}`),
	}
	draft.Problems = *envelope.Problems
	return draft
}

func reportedContext(item *jsonapi.Object) environments.ReportedContext {
	return environments.ReportedContext{
		Type:       item.String("type").Or(""),
		Key:        item.String("key").Or(""),
		Attributes: item.RawObject("attributes", `{"plan": "pro"}`).Or(nil),
	}
}

// reportMetrics keeps the measurements that it can read and skips the others.
func (a *API) reportMetrics(c *call) (reply, error) {
	items, err := c.bulkItems("data")
	if err != nil {
		return reply{}, err
	}
	metrics := make([]environments.Metric, 0, len(items))
	for _, text := range items {
		if metric, readable := reportedMetric(text); readable {
			metrics = append(metrics, metric)
		}
	}
	if err := a.Environments.ReportMetrics(c.ctx(), c.caller, metrics); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusAccepted}, nil
}

func reportedMetric(text json.RawMessage) (environments.Metric, bool) {
	item, isObject := jsonapi.ParseItem(text)
	if !isObject {
		return environments.Metric{}, false
	}
	attributes, sent := item.Object("attributes", `{"name": "requests", "value": 1}`).Get()
	if !sent {
		return environments.Metric{}, false
	}
	value, sent := attributes.Number("value").Get()
	metric := environments.Metric{
		Name: attributes.String("name").Or(""), Unit: attributes.String("unit").Or(""), Value: value,
		Dimensions: sortedObject(attributes.RawObject("dimensions", `{"route": "/"}`).Or(nil)),
		RecordedAt: attributes.Time("recorded_at").Or(time.Time{}),
	}
	return metric, sent && attributes.Problems().Err() == nil
}

// sortedObject returns the same text for equal objects, {} for anything else.
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
