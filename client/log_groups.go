package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
)

const (
	logGroupKind        = "log_group"
	logGroupsCollection = "log_groups"
)

// LogGroup is a bundle of loggers that share a level.
type LogGroup struct {
	Resource
	// Name is what people call it.
	Name string `json:"name"`
	// Level is the base level; none is no level.
	Level loglevel.Level `json:"level"`
	// LevelExpiresAt is when the base level is removed; nil for never.
	LevelExpiresAt *time.Time `json:"level_expires_at"`
	// Environments are the overrides, by environment.
	Environments map[string]LevelOverride `json:"environments"`
	// Resolved has the effective level of every environment; in lists of those
	// that are managed or have an override, and nil where a page has no room.
	Resolved map[string]ResolvedLevel `json:"resolved"`
	// CreatedAt and UpdatedAt are when it was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// LogGroupDraft is what a log group is to become. What is left out is cleared.
type LogGroupDraft struct {
	// Name is what people call it; an empty one becomes the id.
	Name string
	// Base is the base level.
	Base LevelSetting
	// Environments are the overrides, by environment.
	Environments map[string]LevelSetting
}

// MarshalJSON writes the draft as attributes.
func (d LogGroupDraft) MarshalJSON() ([]byte, error) {
	return json.Marshal(LoggerDraft{Name: d.Name, Base: d.Base, Environments: d.Environments})
}

// LogGroupParams choose log groups.
type LogGroupParams struct {
	Paging
	// Search is a part of the id or the name, in any case.
	Search string
}

// LogGroupsAPI is the log groups of the account.
type LogGroupsAPI struct{ transport *transport }

// Draft is the draft that changes nothing. Expiries that are stored stay.
func (g LogGroup) Draft() LogGroupDraft {
	return LogGroupDraft{Name: g.Name, Base: LevelSetting{Level: g.Level}, Environments: settings(g.Environments)}
}

func (p LogGroupParams) query() url.Values {
	query := p.Paging.query()
	filter(query, "search", p.Search)
	return query
}

// List gives one page of log groups.
func (a LogGroupsAPI) List(ctx context.Context, params LogGroupParams) (Page[LogGroup], error) {
	return listed[LogGroup](ctx, a.transport, params.query(), logGroupsCollection)
}

// All gives every log group from the page of the params on. It ends after the
// first error.
func (a LogGroupsAPI) All(ctx context.Context, params LogGroupParams) iter.Seq2[LogGroup, error] {
	return every(params.Paging, func(paging Paging) (Page[LogGroup], error) {
		params.Paging = paging
		return a.List(ctx, params)
	})
}

// Get gives one log group.
func (a LogGroupsAPI) Get(ctx context.Context, id string) (LogGroup, error) {
	return one[LogGroup](ctx, a.transport, get(logGroupsCollection, id))
}

// Create makes a log group, which takes a slot of the plan: see
// [IsLimitReached]. It needs the role MEMBER.
func (a LogGroupsAPI) Create(ctx context.Context, id string, draft LogGroupDraft) (LogGroup, error) {
	return one[LogGroup](ctx, a.transport, post(enclose(logGroupKind, id, draft), logGroupsCollection))
}

// Replace changes a log group. It needs the role MEMBER.
func (a LogGroupsAPI) Replace(ctx context.Context, id string, draft LogGroupDraft, options ...WriteOption) (LogGroup, error) {
	return one[LogGroup](ctx, a.transport, put(enclose(logGroupKind, id, draft), logGroupsCollection, id).with(options))
}

// Delete removes a log group; its members leave it. It needs the role MEMBER.
func (a LogGroupsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	_, err := a.transport.call(ctx, remove(logGroupsCollection, id).with(options), nil)
	return err
}
