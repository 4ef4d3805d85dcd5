package signalbox

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
)

// LogGroup is a group of loggers that share a level.
type LogGroup struct {
	Resource
	Name string `json:"name"`
	// Level is the base level; None is no level.
	Level loglevel.Level `json:"level"`
	// LevelExpiresAt is when the base level is removed; nil is never.
	LevelExpiresAt *time.Time `json:"level_expires_at"`
	// Environments are the overrides by environment.
	Environments map[string]LevelOverride `json:"environments"`
	// Resolved has the effective level of every environment. Lists leave out unmanaged environments without an override,
	// and have nil where a page would become too large.
	Resolved map[string]ResolvedLevel `json:"resolved"`
	Timestamps
}

// LogGroupDraft creates or replaces a log group. What is left out is cleared.
type LogGroupDraft struct {
	// Name is the id when it is empty.
	Name string
	Base LevelSetting
	// Environments are the overrides by environment.
	Environments map[string]LevelSetting
}

// MarshalJSON writes the draft as attributes.
func (d LogGroupDraft) MarshalJSON() ([]byte, error) {
	return json.Marshal(LoggerDraft{Name: d.Name, Base: d.Base, Environments: d.Environments})
}

// LogGroupParams filter log groups.
type LogGroupParams = SearchParams

// LogGroupsAPI manages the log groups of the account.
type LogGroupsAPI struct {
	reader[LogGroup, *LogGroup, LogGroupParams]
}

// Draft returns a draft of the log group's current state. Stored expiries are kept.
func (g LogGroup) Draft() LogGroupDraft {
	return LogGroupDraft{Name: g.Name, Base: LevelSetting{Level: g.Level}, Environments: levelSettings(g.Environments)}
}

// Create creates a log group, which counts against the plan: see [IsLimitReached]. It needs the role MEMBER.
func (a LogGroupsAPI) Create(ctx context.Context, id string, draft LogGroupDraft, options ...WriteOption) (LogGroup, error) {
	return a.create(ctx, id, draft, options)
}

// Replace replaces a log group. It needs the role MEMBER.
func (a LogGroupsAPI) Replace(ctx context.Context, id string, draft LogGroupDraft, options ...WriteOption) (LogGroup, error) {
	return a.replace(ctx, id, draft, options)
}

// Apply replaces a log group, or creates it if there is none. It needs the role MEMBER.
func (a LogGroupsAPI) Apply(ctx context.Context, id string, draft LogGroupDraft, options ...WriteOption) (LogGroup, error) {
	return a.apply(ctx, id, draft, options)
}

// Delete deletes a log group; its members leave it. It needs the role MEMBER.
func (a LogGroupsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.delete(ctx, id, options)
}
