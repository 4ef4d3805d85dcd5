package signalbox

import (
	"context"
	"encoding/json"
	"iter"
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

// LogGroupDraft creates or replaces a log group. A replace clears every level that the draft does not have.
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
	groups collection[LogGroup, *LogGroup]
}

// Draft returns a draft of the log group's current state. Stored expiries are kept.
func (g LogGroup) Draft() LogGroupDraft {
	return LogGroupDraft{Name: g.Name, Base: LevelSetting{Level: g.Level}, Environments: levelSettings(g.Environments)}
}

// Get returns a log group with its level in every environment. [IsNotFound] reports that there is no log group with
// this id. Any role may read.
func (a LogGroupsAPI) Get(ctx context.Context, id string) (LogGroup, error) {
	return a.groups.get(ctx, id)
}

// List returns one page of log groups, by default in the order of their ids. [Paging.Sort] takes key (the id), name,
// created_at and updated_at. Any role may read.
func (a LogGroupsAPI) List(ctx context.Context, params LogGroupParams) (Page[LogGroup], error) {
	return a.groups.list(ctx, params)
}

// All iterates over every log group that params select, starting at their page. It ends after the first error.
func (a LogGroupsAPI) All(ctx context.Context, params LogGroupParams) iter.Seq2[LogGroup, error] {
	return a.groups.all(ctx, params)
}

// Create creates a log group, which counts against the plan: see [IsLimitReached]. [IsAlreadyExists] reports that its
// id is in use. It needs the role MEMBER.
func (a LogGroupsAPI) Create(ctx context.Context, id string, draft LogGroupDraft, options ...WriteOption) (LogGroup, error) {
	return a.groups.create(ctx, id, draft, options)
}

// Replace replaces a log group. [IsNotFound] reports that there is none with this id. It needs the role MEMBER.
func (a LogGroupsAPI) Replace(ctx context.Context, id string, draft LogGroupDraft, options ...WriteOption) (LogGroup, error) {
	return a.groups.replace(ctx, id, draft, options)
}

// Apply replaces a log group, or creates it if there is none. It needs the role MEMBER.
func (a LogGroupsAPI) Apply(ctx context.Context, id string, draft LogGroupDraft, options ...WriteOption) (LogGroup, error) {
	return a.groups.apply(ctx, id, draft, options)
}

// Delete deletes a log group; its members leave it. It needs the role MEMBER.
func (a LogGroupsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.groups.delete(ctx, id, options)
}
