package api

import (
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
