package api

import (
	"context"
	"net/http"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

func environmentResource() resource[environments.Environment, environments.Draft, environments.Filter] {
	return describe(environments.Kind, func(e environments.Environment) (string, any) { return e.Key, e }, environmentFilter, environmentDraft)
}

func environmentFilter(c *call) environments.Filter {
	return environments.Filter{
		Search:         c.query.Search(),
		Classification: oneOf(c, "classification", environments.Standard, environments.AdHoc),
		Managed:        c.query.FilterBool("managed"),
	}
}

func environmentDraft(envelope *jsonapi.Envelope) environments.Draft {
	attributes := envelope.Attributes
	draft := environments.Draft{
		Key:            envelope.ID,
		Name:           attributes.String("name"),
		Color:          attributes.String("color"),
		Classification: attributes.String("classification"),
		Managed:        attributes.Bool("managed"),
		Restores:       envelope.Restores,
	}
	draft.Problems = envelope.Done()
	return draft
}

func (a *API) deleteEnvironment(c *call) (reply, error) {
	cascade := c.query.Bool("cascade").Or(false)
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	return environmentResource().remove(
		func(ctx context.Context, caller accounts.Caller, id string, match changes.Match[environments.Environment]) error {
			return a.Environments.Delete(ctx, caller, id, cascade, match)
		})(c)
}

func (a *API) environmentUsage(c *call) (reply, error) {
	usage, err := a.Environments.Usage(c.ctx(), c.caller, c.id)
	return one(http.StatusOK, jsonapi.Resource{ID: c.id, Type: "environment_usage", Attributes: usage}, err)
}
