package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
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
	filter, request := environments.ReportedFilter{Search: c.query.Filter("search").Or("")}, c.query.Page()
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
	filter, request := environments.ReportedFilter{Search: c.query.Filter("search").Or("")}, c.query.Page()
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
		Search:      c.query.Filter("search").Or(""),
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

// maxBulkItems bounds one bulk report, and so how long it may keep others
// waiting.
const maxBulkItems = 10_000

// bulkOutcome is the answer to a bulk report. It is no envelope, on purpose.
type bulkOutcome struct {
	Registered int       `json:"registered"`
	Meta       *bulkMeta `json:"meta,omitempty"`
}

type bulkMeta struct {
	Rejected []environments.Rejected `json:"rejected"`
}

func (a *API) reportContexts(c *call) (reply, error) {
	items, err := c.bulkItems("contexts")
	if err != nil {
		return failed(err)
	}
	var reported []environments.ReportedContext
	var indices []int
	var skipped []environments.Rejected
	for index, text := range items {
		item, err := reportedContext(text)
		if err != nil {
			skipped = append(skipped, rejected(index, err))
			continue
		}
		reported, indices = append(reported, item), append(indices, index)
	}
	outcome, err := a.Environments.Report(c.ctx(), c.caller, reported)
	if err != nil {
		return failed(err)
	}
	for _, refused := range outcome.Rejected {
		skipped = append(skipped, environments.Rejected{Index: indices[refused.Index], Detail: refused.Detail})
	}
	return ok(newBulkOutcome(outcome.Registered, skipped))
}

func newBulkOutcome(registered int, skipped []environments.Rejected) bulkOutcome {
	if len(skipped) == 0 {
		return bulkOutcome{Registered: registered}
	}
	slices.SortFunc(skipped, func(a, b environments.Rejected) int { return cmp.Compare(a.Index, b.Index) })
	return bulkOutcome{Registered: registered, Meta: &bulkMeta{Rejected: skipped}}
}

// bulkItems reads the array that a bulk report consists of.
func (c *call) bulkItems(name string) ([]json.RawMessage, error) {
	body, err := c.object()
	if err != nil {
		return nil, err
	}
	items, sent := body.Array(name).Get()
	if !sent {
		if err := body.Problems().Err(); err != nil {
			return nil, err
		}
		return nil, fault.New(fault.Validation, "%s is required and must be an array.", name).At(fault.Pointer("/" + name))
	}
	if len(items) > maxBulkItems {
		return nil, fault.New(fault.Validation, "%s must have at most %d items; send the rest in another request.", name, maxBulkItems).At(fault.Pointer("/" + name))
	}
	return items, nil
}

func reportedContext(text json.RawMessage) (environments.ReportedContext, error) {
	item, err := jsonapi.ParseObject(text)
	if err != nil {
		return environments.ReportedContext{}, fault.New(fault.Validation, "must be an object")
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
	item, err := jsonapi.ParseObject(text)
	if err != nil {
		return environments.Metric{}, err
	}
	attributes, sent := item.Object("attributes").Get()
	if !sent {
		return environments.Metric{}, fault.New(fault.Validation, "attributes is required")
	}
	value, sent := attributes.Number("value").Get()
	if !sent {
		return environments.Metric{}, fault.New(fault.Validation, "value is required")
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
