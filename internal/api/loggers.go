package api

import (
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
)

func loggerResource() resource[logging.View, logging.Draft, logging.Filter] {
	description := describe(logging.Kind, func(logger logging.View) (string, any) { return logger.Key, logger }, loggerFilter, loggerDraft)
	description.normalizeID = loglevel.Normalize
	return description
}

func loggerSourceResource() resource[logging.Source, none, logging.SourceFilter] {
	return describe(logging.KindSource, func(source logging.Source) (string, any) { return source.ID, source }, loggerSourceFilter, noDraft)
}

func loggerSourceFilter(c *call) logging.SourceFilter {
	return logging.SourceFilter{
		Logger: loglevel.Normalize(c.id), Service: c.query.Filter("service").Or(""), Environment: c.query.Filter("environment").Or(""),
	}
}

func loggerFilter(c *call) logging.Filter {
	filter := logging.Filter{
		Search:  c.query.Search(),
		Managed: c.query.FilterBool("managed"),
		Group:   c.query.Filter("group").Or(""),
		Service: c.query.Filter("service").Or(""),
	}
	filter.SeenFrom, filter.SeenTo = c.query.FilterRange("last_seen")
	return filter
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
	draft.Problems, draft.Restores = envelope.Done(), envelope.Restores
	return draft
}

// levelsDraft reads the levels of a logger or a group.
func levelsDraft(attributes *jsonapi.Object) logging.LevelsDraft {
	draft := logging.LevelsDraft{
		Base: logging.OverrideDraft{
			Level:      attributes.String("level"),
			ExpiresAt:  attributes.Time("level_expires_at"),
			TTLSeconds: attributes.Number("level_ttl_seconds"),
		},
		Environments: map[string]logging.OverrideDraft{},
	}
	object, sent := attributes.Object("environments", `{"production": {"level": "DEBUG"}}`).Get()
	if !sent {
		return draft
	}
	for _, environment := range object.Names() {
		if entry, sent := object.Object(environment, `{"level": "DEBUG"}`).Get(); sent { // null means no entry
			draft.Environments[environment] = logging.OverrideDraft{
				Level: entry.String("level"), ExpiresAt: entry.Time("expires_at"), TTLSeconds: entry.Number("ttl_seconds"),
			}
		}
	}
	return draft
}

func loggerObservation(item *jsonapi.Object) logging.Observation {
	return logging.Observation{
		Name:          item.String("id").Or(""),
		Level:         item.String("level").Or(""),
		ResolvedLevel: item.String("resolved_level").Or(""),
		Service:       item.String("service").Or(observations.Unknown),
		Environment:   item.String("environment").Or(observations.Unknown),
	}
}
