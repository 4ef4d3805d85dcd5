package api

import (
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/logging"
)

func logGroupResource(v logging.GroupView) jsonapi.Resource {
	return jsonapi.Resource{ID: v.Key, Type: logging.KindGroup, Attributes: v}
}

// logGroupDefinition renders what an ETag is made of.
func logGroupDefinition(g logging.Group) jsonapi.Resource {
	return jsonapi.Resource{ID: g.Key, Type: logging.KindGroup, Attributes: g}
}

func (a *API) logGroups(c *call) (reply, error) {
	filter, request := logging.GroupFilter{Search: c.query.Search()}, c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Logging.Groups(c.ctx(), c.caller, filter, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, logGroupResource))
}

func (a *API) logGroup(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	group, err := a.Logging.Group(c.ctx(), c.caller, id)
	return read(group, err, logGroupResource)
}

func logGroupDraft(envelope *jsonapi.Envelope) logging.GroupDraft {
	draft := logging.GroupDraft{
		Key:         envelope.ID,
		Name:        envelope.Attributes.String("name"),
		ParentID:    envelope.Attributes.String("parent_id"),
		LevelsDraft: levelsDraft(envelope.Attributes),
	}
	draft.Problems = *envelope.Problems
	return draft
}

func (a *API) createLogGroup(c *call) (reply, error) {
	envelope, err := c.envelope(logging.KindGroup)
	if err != nil {
		return failed(err)
	}
	group, err := a.Logging.CreateGroup(c.ctx(), c.caller, logGroupDraft(envelope))
	return created(group, err, logGroupResource)
}

func (a *API) replaceLogGroup(c *call) (reply, error) {
	id, envelope, err := c.target(logging.KindGroup)
	if err != nil {
		return failed(err)
	}
	group, err := a.Logging.ReplaceGroup(c.ctx(), c.caller, id, logGroupDraft(envelope), ifMatch(c, logGroupDefinition))
	return read(group, err, logGroupResource)
}

func (a *API) deleteLogGroup(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	return deleted(a.Logging.DeleteGroup(c.ctx(), c.caller, id, ifMatch(c, logGroupDefinition)))
}
