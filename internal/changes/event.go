package changes

import "context"

// events names what running services are told about the kinds they live on.
func events(kind string) (changed, deleted, many string) {
	switch kind {
	case "flag":
		return "flag_changed", "flag_deleted", "flags_changed"
	case "config":
		return "config_changed", "config_deleted", "configs_changed"
	case "logger":
		return "logger_changed", "logger_deleted", "loggers_changed"
	case "log_group":
		return "group_changed", "group_deleted", "loggers_changed"
	default:
		return "", "", ""
	}
}

// Event is the name of the event that tells running services of this change;
// empty when they are told nothing. What followed from another change is told
// once for all, by the change whose key is AllKeys.
func (c Change) Event() string {
	changed, deleted, many := events(c.Kind)
	switch {
	case c.Key == AllKeys:
		return many
	case c.Action == Cascaded:
		return ""
	case c.Action == Deleted:
		return deleted
	default:
		return changed
	}
}

// Several is the document of a change whose key is AllKeys: the keys of what
// was touched. Cause names the resource whose change this followed from.
type Several struct {
	Keys  []string `json:"keys"`
	Cause string   `json:"cause,omitempty"`
}

// RecordSeveral notes that one write touched several resources of a kind, if
// it did touch any.
func RecordSeveral(ctx context.Context, tx Recorder, account string, actor Actor, action Action, kind string, several Several) error {
	if len(several.Keys) == 0 {
		return nil
	}
	return RecordAs(ctx, tx, account, actor, action, kind, AllKeys, nil, &several)
}
