package api

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/logging"
)

func logGroupResource() resource[logging.GroupView, logging.GroupDraft, logging.GroupFilter] {
	return describe(logging.KindGroup, func(group logging.GroupView) (string, any) { return group.Key, group }, logGroupFilter, logGroupDraft)
}

func logGroupFilter(c *call) logging.GroupFilter {
	return logging.GroupFilter{Search: c.query.Search()}
}

func logGroupDraft(envelope *jsonapi.Envelope) logging.GroupDraft {
	draft := logging.GroupDraft{
		Key:         envelope.ID,
		Name:        envelope.Attributes.String("name"),
		ParentID:    envelope.Attributes.String("parent_id"),
		LevelsDraft: levelsDraft(envelope.Attributes),
	}
	draft.Problems, draft.Restores = envelope.Done(), envelope.Restores
	return draft
}

func (a *API) replaceLogGroup(
	ctx context.Context, caller accounts.Caller, key string, draft logging.GroupDraft, match changes.Match[logging.GroupView],
) (logging.GroupView, error) {
	return a.Logging.ReplaceGroup(ctx, caller, key, draft, matchDefinition(match, viewGroup))
}

func (a *API) deleteLogGroup(ctx context.Context, caller accounts.Caller, key string, match changes.Match[logging.GroupView]) error {
	return a.Logging.DeleteGroup(ctx, caller, key, matchDefinition(match, viewGroup))
}

// viewGroup returns a view that shows the definition only, which an ETag is
// made of.
func viewGroup(group logging.Group) logging.GroupView { return logging.GroupView{Group: group} }
