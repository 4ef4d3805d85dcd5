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
	return resource[environments.ReportingService, environments.NameDraft, environments.ReportedFilter]{
		kind:   environments.KindService,
		render: func(service environments.ReportingService) (string, any) { return service.Key, service },
		filter: reportedFilter,
		draft:  nameDraft,
	}
}

func contextTypeResource() resource[environments.ContextType, environments.NameDraft, environments.ReportedFilter] {
	return resource[environments.ContextType, environments.NameDraft, environments.ReportedFilter]{
		kind:   environments.KindContextType,
		render: func(contextType environments.ContextType) (string, any) { return contextType.Key, contextType },
		filter: reportedFilter,
		draft:  nameDraft,
	}
}

func contextResource() resource[environments.Context, environments.NameDraft, environments.ReportedFilter] {
	return resource[environments.Context, environments.NameDraft, environments.ReportedFilter]{
		kind:   environments.KindContext,
		render: func(context environments.Context) (string, any) { return context.ID(), context },
		filter: func(c *call) environments.ReportedFilter {
			return environments.ReportedFilter{Search: c.query.Search(), ContextType: c.query.Filter("context_type").Or("")}
		},
		draft: nameDraft,
	}
}

func reportedFilter(c *call) environments.ReportedFilter {
	return environments.ReportedFilter{Search: c.query.Search()}
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
	attributes, sent := item.Object("attributes", "").Get()
	if !sent {
		return environments.Metric{}, false
	}
	value, sent := attributes.Number("value").Get()
	metric := environments.Metric{
		Name: attributes.String("name").Or(""), Unit: attributes.String("unit").Or(""), Value: value,
		Dimensions: sortedObject(attributes.RawObject("dimensions", "").Or(nil)),
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
