package api

import (
	"encoding/json"

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
	draft := observations.Draft{Key: envelope.ID, Name: envelope.Attributes.String("name")}
	draft.Problems = envelope.Done()
	return draft
}

// contextTypeDraft also accepts the id of a new context type in the attributes, where
// some clients send it.
func contextTypeDraft(envelope *jsonapi.Envelope) observations.Draft {
	var id string
	text, sent := envelope.Attributes.RawOrNull("id")
	attributes := envelope.Attributes.RawObject("attributes", `{"plan": {}}`)
	draft := nameDraft(envelope)
	draft.Attributes = attributes
	if sent && draft.Key.Or("") == "" && json.Unmarshal(text, &id) == nil {
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
