package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

func serviceResource(s environments.ReportingService) jsonapi.Resource {
	return jsonapi.Resource{ID: s.Key, Type: environments.KindService, Attributes: s}
}

func contextTypeResource(t environments.ContextType) jsonapi.Resource {
	return jsonapi.Resource{ID: t.Key, Type: environments.KindContextType, Attributes: t}
}

func contextResource(c environments.Context) jsonapi.Resource {
	return jsonapi.Resource{ID: c.ID(), Type: environments.KindContext, Attributes: c}
}

func nameDraft(envelope *jsonapi.Envelope) environments.NameDraft {
	draft := environments.NameDraft{
		Key:        envelope.ID,
		Name:       envelope.Attributes.String("name"),
		Attributes: envelope.Attributes.RawObject("attributes"),
	}
	draft.Problems = *envelope.Problems
	return draft
}

func (a *API) services(c *call) (reply, error) {
	filter, request := environments.ReportedFilter{Search: c.query.Search()}, c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Environments.Services(c.ctx(), c.caller, filter, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, serviceResource))
}

func (a *API) service(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	service, err := a.Environments.Service(c.ctx(), c.caller, id)
	return read(service, err, serviceResource)
}

func (a *API) createService(c *call) (reply, error) {
	envelope, err := c.envelope(environments.KindService)
	if err != nil {
		return failed(err)
	}
	service, err := a.Environments.CreateService(c.ctx(), c.caller, nameDraft(envelope))
	return created(service, err, serviceResource)
}

func (a *API) replaceService(c *call) (reply, error) {
	id, envelope, err := c.target(environments.KindService)
	if err != nil {
		return failed(err)
	}
	service, err := a.Environments.ReplaceService(c.ctx(), c.caller, id, nameDraft(envelope), ifMatch(c, serviceResource))
	return read(service, err, serviceResource)
}

func (a *API) deleteService(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	return deleted(a.Environments.DeleteService(c.ctx(), c.caller, id, ifMatch(c, serviceResource)))
}

func (a *API) contextTypes(c *call) (reply, error) {
	filter, request := environments.ReportedFilter{Search: c.query.Search()}, c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Environments.ContextTypes(c.ctx(), c.caller, filter, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, contextTypeResource))
}

func (a *API) contextType(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	contextType, err := a.Environments.ContextType(c.ctx(), c.caller, id)
	return read(contextType, err, contextTypeResource)
}

func (a *API) replaceContextType(c *call) (reply, error) {
	id, envelope, err := c.target(environments.KindContextType)
	if err != nil {
		return failed(err)
	}
	contextType, err := a.Environments.ReplaceContextType(c.ctx(), c.caller, id, nameDraft(envelope), ifMatch(c, contextTypeResource))
	return read(contextType, err, contextTypeResource)
}

func (a *API) deleteContextType(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	return deleted(a.Environments.DeleteContextType(c.ctx(), c.caller, id, ifMatch(c, contextTypeResource)))
}

func (a *API) contexts(c *call) (reply, error) {
	filter := environments.ReportedFilter{
		Search:      c.query.Search(),
		ContextType: c.query.Filter("context_type").Or(""),
	}
	request := c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Environments.Contexts(c.ctx(), c.caller, filter, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, contextResource))
}

func (a *API) context(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	found, err := a.Environments.Context(c.ctx(), c.caller, id)
	return read(found, err, contextResource)
}

func (a *API) renameContext(c *call) (reply, error) {
	id, envelope, err := c.target(environments.KindContext)
	if err != nil {
		return failed(err)
	}
	found, err := a.Environments.RenameContext(c.ctx(), c.caller, id, nameDraft(envelope), ifMatch(c, contextResource))
	return read(found, err, contextResource)
}

func (a *API) deleteContext(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	return deleted(a.Environments.DeleteContext(c.ctx(), c.caller, id, ifMatch(c, contextResource)))
}

func (a *API) reportContexts(c *call) (reply, error) {
	return reported(c, "contexts", reportedContext, a.Environments.Report)
}

func reportedContext(text json.RawMessage) (environments.ReportedContext, error) {
	item, err := bulkItem(text)
	if err != nil {
		return environments.ReportedContext{}, err
	}
	reported := environments.ReportedContext{
		Type:       item.String("type").Or(""),
		Key:        item.String("key").Or(""),
		Attributes: item.RawObject("attributes").Or(nil),
	}
	return reported, item.Problems().Err()
}

func (a *API) reportMetrics(c *call) (reply, error) {
	items, err := c.bulkItems("data")
	if err != nil {
		return failed(err)
	}
	metrics := make([]environments.Metric, 0, len(items))
	for _, text := range items {
		if metric, err := reportedMetric(text); err == nil {
			metrics = append(metrics, metric)
		}
	}
	if err := a.Environments.ReportMetrics(c.ctx(), c.caller, metrics); err != nil {
		return failed(err)
	}
	return reply{status: http.StatusAccepted}, nil
}

func reportedMetric(text json.RawMessage) (environments.Metric, error) {
	item, err := bulkItem(text)
	if err != nil {
		return environments.Metric{}, err
	}
	attributes, sent := item.Object("attributes").Get()
	if !sent {
		return environments.Metric{}, fault.New(fault.Validation, "attributes is required.")
	}
	value, sent := attributes.Number("value").Get()
	if !sent {
		return environments.Metric{}, fault.New(fault.Validation, "value is required.")
	}
	metric := environments.Metric{
		Name: attributes.String("name").Or(""), Unit: attributes.String("unit").Or(""), Value: value,
		Dimensions: sortedObject(attributes.RawObject("dimensions").Or(nil)),
		RecordedAt: attributes.Time("recorded_at").Or(environments.Metric{}.RecordedAt),
	}
	return metric, attributes.Problems().Err()
}

// sortedObject gives equal objects one text.
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
