package changes

import "context"

// events returns the event names of a kind. They are empty for kinds that running services do
// not use.
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

// Event returns the name of the event that running services receive for this change, or "" for
// none. Cascaded changes share one event, which belongs to the change whose key is AllKeys.
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

// OtherEvent returns the name of the event for changes that running services do not need, or ""
// for none. Only subscribers to all topics receive it.
func (c Change) OtherEvent() string {
	switch {
	case c.Kind == "job" && c.Action == Deleted:
		return "job_deleted"
	case c.Kind == "job":
		return "job_changed"
	case c.Kind == "job_health":
		return "job." + string(c.Action)
	case c.Kind == "environment" && c.Action == Deleted:
		return "environment_deleted"
	case c.Kind == "environment":
		return "environment_changed"
	case c.Kind == "api_key":
		return "api_key_changed"
	case c.Kind == "user":
		return "user_changed"
	}
	return ""
}

// Several is the document of a change whose key is AllKeys. It lists the keys that changed.
// Cause names the resource whose change caused this one. If the cause is of another kind, each
// key also has its own change.
type Several struct {
	Keys  []string `json:"keys"`
	Cause string   `json:"cause,omitempty"`
}

// RecordSeveral records one change for all resources of a kind that a write has changed. If
// there are no keys, it records nothing.
func RecordSeveral(ctx context.Context, tx Recorder, account string, actor Actor, action Action, kind string, several Several) error {
	if len(several.Keys) == 0 {
		return nil
	}
	return RecordAs(ctx, tx, account, actor, action, kind, AllKeys, nil, &several)
}
