package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/optional"
)

func serviceResource() resource[observations.ReportingService, observations.Draft, observations.Filter] {
	return describe(observations.KindService, func(s observations.ReportingService) (string, any) { return s.Key, s }, reportedFilter, nameDraft)
}

func contextTypeResource() resource[observations.ContextType, observations.Draft, observations.Filter] {
	return describe(observations.KindContextType, func(t observations.ContextType) (string, any) { return t.Key, t }, reportedFilter, contextTypeDraft)
}

func contextResource() resource[observations.Context, observations.Draft, observations.Filter] {
	return describe(observations.KindContext, func(c observations.Context) (string, any) { return c.ID(), c }, contextFilter, nameDraft)
}

func reportedFilter(c *call) observations.Filter {
	return observations.Filter{Search: c.query.Search()}
}

func contextFilter(c *call) observations.Filter {
	return observations.Filter{Search: c.query.Search(), ContextType: c.query.Filter("context_type").Or("")}
}

func nameDraft(envelope *jsonapi.Envelope) observations.Draft {
	draft := observations.Draft{
		Key:        envelope.ID,
		Name:       envelope.Attributes.String("name"),
		Attributes: envelope.Attributes.RawObject("attributes", `{"plan": {}}`),
	}
	draft.Problems = envelope.Done()
	return draft
}

// contextTypeDraft takes the id of a new context type from its attributes too, where
// some clients send it.
func contextTypeDraft(envelope *jsonapi.Envelope) observations.Draft {
	draft := nameDraft(envelope)
	var id string
	if text, sent := envelope.Attributes.RawOrNull("id"); sent && draft.Key.Or("") == "" && json.Unmarshal(text, &id) == nil {
		draft.Key = optional.Of(id)
	}
	return draft
}

func reportedContext(item *jsonapi.Object) observations.ReportedContext {
	return observations.ReportedContext{
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
