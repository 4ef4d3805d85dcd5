package api

import (
	"encoding/json"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/bulk"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/logging"
)

func loggerResource(v logging.View) jsonapi.Resource {
	return jsonapi.Resource{ID: v.Key, Type: logging.Kind, Attributes: v}
}

// loggerDefinition renders what an ETag is made of.
func loggerDefinition(l logging.Logger) jsonapi.Resource {
	return jsonapi.Resource{ID: l.Key, Type: logging.Kind, Attributes: l}
}

func loggerSourceResource(s logging.Source) jsonapi.Resource {
	return jsonapi.Resource{ID: s.ID, Type: logging.KindSource, Attributes: s}
}

func (a *API) loggers(c *call) (reply, error) {
	filter := logging.Filter{
		Search:  c.query.Search(),
		Managed: c.query.FilterBool("managed"),
		Group:   c.query.Filter("group").Or(""),
		Service: c.query.Filter("service").Or(""),
	}
	filter.SeenFrom, filter.SeenTo = c.query.FilterRange("last_seen")
	request := c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Logging.Loggers(c.ctx(), c.caller, filter, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, loggerResource))
}

// loggerKey gives the logger that a path names, in any spelling.
func (c *call) loggerKey() (string, error) {
	name, err := c.id("id")
	return loglevel.Normalize(name), err
}

func (a *API) logger(c *call) (reply, error) {
	key, err := c.loggerKey()
	if err != nil {
		return failed(err)
	}
	logger, err := a.Logging.Logger(c.ctx(), c.caller, key)
	return read(logger, err, loggerResource)
}

func (a *API) replaceLogger(c *call) (reply, error) {
	key, err := c.loggerKey()
	if err != nil {
		return failed(err)
	}
	envelope, err := c.envelope(logging.Kind)
	if err != nil {
		return failed(err)
	}
	envelope.RequireID(key, loglevel.Normalize)
	logger, err := a.Logging.Replace(c.ctx(), c.caller, key, loggerDraft(envelope), ifMatch(c, loggerDefinition))
	return read(logger, err, loggerResource)
}

func (a *API) deleteLogger(c *call) (reply, error) {
	key, err := c.loggerKey()
	if err != nil {
		return failed(err)
	}
	return deleted(a.Logging.Delete(c.ctx(), c.caller, key, ifMatch(c, loggerDefinition)))
}

func loggerDraft(envelope *jsonapi.Envelope) logging.Draft {
	attributes := envelope.Attributes
	draft := logging.Draft{
		Name:        attributes.String("name"),
		Group:       attributes.String("group"),
		GroupID:     attributes.String("group_id"),
		Managed:     attributes.Bool("managed"),
		LevelsDraft: levelsDraft(attributes),
	}
	draft.Problems = *envelope.Problems
	return draft
}

// levelsDraft reads what loggers and groups are sent alike.
func levelsDraft(attributes *jsonapi.Object) logging.LevelsDraft {
	draft := logging.LevelsDraft{
		Base: logging.OverrideDraft{
			Level:      attributes.String("level"),
			ExpiresAt:  attributes.Time("level_expires_at"),
			TTLSeconds: attributes.Number("level_ttl_seconds"),
		},
		Environments: map[string]logging.OverrideDraft{},
	}
	object, sent := attributes.Object("environments").Get()
	if !sent {
		return draft
	}
	for _, environment := range object.Names() {
		if entry, sent := object.Object(environment).Get(); sent { // null is no entry
			draft.Environments[environment] = logging.OverrideDraft{
				Level: entry.String("level"), ExpiresAt: entry.Time("expires_at"), TTLSeconds: entry.Number("ttl_seconds"),
			}
		}
	}
	return draft
}

func (a *API) loggerSources(c *call) (reply, error) { return a.listLoggerSources(c, "") }

func (a *API) sourcesOfLogger(c *call) (reply, error) {
	key, err := c.loggerKey()
	if err != nil {
		return failed(err)
	}
	return a.listLoggerSources(c, key)
}

func (a *API) listLoggerSources(c *call, logger string) (reply, error) {
	filter := logging.SourceFilter{Logger: logger, Service: c.query.Filter("service").Or(""), Environment: c.query.Filter("environment").Or("")}
	request := c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Logging.Sources(c.ctx(), c.caller, filter, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, loggerSourceResource))
}

func (a *API) reportLoggers(c *call) (reply, error) {
	return reported(c, "loggers", loggerObservation, a.Logging.Report)
}

func loggerObservation(text json.RawMessage) (logging.Observation, error) {
	item, err := bulkItem(text)
	if err != nil {
		return logging.Observation{}, err
	}
	observation := logging.Observation{
		Name:          item.String("id").Or(""),
		Level:         item.String("level").Or(""),
		ResolvedLevel: item.String("resolved_level").Or(""),
		Service:       item.String("service").Or(bulk.Unknown),
		Environment:   item.String("environment").Or(bulk.Unknown),
	}
	return observation, item.Problems().Err()
}
