package api

import (
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

func environmentResource(e environments.Environment) jsonapi.Resource {
	return jsonapi.Resource{ID: e.Key, Type: environments.Kind, Attributes: e}
}

func (a *API) environments(c *call) (reply, error) {
	filter := environments.Filter{
		Search:         c.query.Search(),
		Classification: c.classification(),
		Managed:        c.query.FilterBool("managed"),
	}
	request := c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Environments.Environments(c.ctx(), c.caller, filter, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, environmentResource))
}

func (c *call) classification() environments.Classification {
	text, sent := c.query.Filter("classification").Get()
	if !sent {
		return ""
	}
	classification, known := environments.ParseClassification(text)
	if !known {
		c.query.Refuse("classification", "must be STANDARD or AD_HOC")
	}
	return classification
}

func (a *API) environment(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	environment, err := a.Environments.Environment(c.ctx(), c.caller, id)
	return read(environment, err, environmentResource)
}

func (a *API) environmentUsage(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	usage, err := a.Environments.Usage(c.ctx(), c.caller, id)
	return read(usage, err, func(usage environments.Usage) jsonapi.Resource {
		return jsonapi.Resource{ID: id, Type: "environment_usage", Attributes: usage}
	})
}

func environmentDraft(envelope *jsonapi.Envelope) environments.Draft {
	attributes := envelope.Attributes
	draft := environments.Draft{
		Key:            envelope.ID,
		Name:           attributes.String("name"),
		Color:          attributes.String("color"),
		Classification: attributes.String("classification"),
		Managed:        attributes.Bool("managed"),
	}
	draft.Problems = *envelope.Problems
	return draft
}

func (a *API) createEnvironment(c *call) (reply, error) {
	envelope, err := c.envelope(environments.Kind)
	if err != nil {
		return failed(err)
	}
	environment, err := a.Environments.Create(c.ctx(), c.caller, environmentDraft(envelope))
	return created(environment, err, environmentResource)
}

func (a *API) replaceEnvironment(c *call) (reply, error) {
	id, envelope, err := c.target(environments.Kind)
	if err != nil {
		return failed(err)
	}
	environment, err := a.Environments.Replace(c.ctx(), c.caller, id, environmentDraft(envelope), ifMatch(c, environmentResource))
	return read(environment, err, environmentResource)
}

func (a *API) deleteEnvironment(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	cascade := c.query.Bool("cascade").Or(false)
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	return deleted(a.Environments.Delete(c.ctx(), c.caller, id, cascade, ifMatch(c, environmentResource)))
}
