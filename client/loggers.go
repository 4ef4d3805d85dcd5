package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"net/url"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
)

const (
	loggerKind              = "logger"
	loggersCollection       = "loggers"
	loggerSourcesCollection = "logger_sources"
)

// Logger is a named category of log records. Its id is the normalized name:
// see [loglevel.Normalize].
type Logger struct {
	Resource
	// Name is what people call it.
	Name string `json:"name"`
	// Level is the base level; none inherits.
	Level loglevel.Level `json:"level"`
	// LevelExpiresAt is when the base level is removed; nil for never.
	LevelExpiresAt *time.Time `json:"level_expires_at"`
	// Group is the id of its log group, or nil.
	Group *string `json:"group"`
	// Managed tells whether people control it. Managed loggers count against
	// the plan.
	Managed bool `json:"managed"`
	// Environments are the overrides, by environment.
	Environments map[string]LevelOverride `json:"environments"`
	// Resolved has the effective level of every environment; in lists of those
	// that are managed or have an override that matters, and nil where a page has
	// no room for it.
	Resolved map[string]ResolvedLevel `json:"resolved"`
	// Sources are where it was seen last, newest first; [LoggersAPI.Sources]
	// has all.
	Sources []LoggerSourceSummary `json:"sources"`
	// EffectiveLevels are the levels that services report to use, by
	// environment, most verbose first.
	EffectiveLevels map[string][]loglevel.Level `json:"effective_levels"`
	// CreatedAt and UpdatedAt are when it was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// LevelOverride is a level for one environment.
type LevelOverride struct {
	// Level is the level.
	Level loglevel.Level `json:"level"`
	// ExpiresAt is when it is removed; nil for never.
	ExpiresAt *time.Time `json:"expires_at"`
}

// ResolvedLevel is an effective level and where it comes from.
type ResolvedLevel struct {
	// Level is the level.
	Level loglevel.Level `json:"level"`
	// Origin is the step of resolution that found it.
	Origin loglevel.Origin `json:"origin"`
	// Of is the id of the logger or log group that has it; nil for the default.
	Of *string `json:"of"`
}

// LoggerSourceSummary is where a logger was seen, and with which level.
type LoggerSourceSummary struct {
	// Service and Environment are what reported it.
	Service     string `json:"service"`
	Environment string `json:"environment"`
	// Level is what the framework was told, ResolvedLevel what that came to.
	Level         loglevel.Level `json:"level"`
	ResolvedLevel loglevel.Level `json:"resolved_level"`
	// LastSeen is when it was last reported.
	LastSeen time.Time `json:"last_seen"`
}

// LoggerSource is one service that has a logger in one environment.
type LoggerSource struct {
	Resource
	// Logger is the id of the logger.
	Logger string `json:"logger"`
	LoggerSourceSummary
	// FirstObserved is when it was first reported.
	FirstObserved time.Time `json:"first_observed"`
	// CreatedAt and UpdatedAt are when it was made, and when what it reports
	// last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// LevelSetting is a level as it is written. A setting that repeats a level and
// says nothing of its expiry keeps it.
type LevelSetting struct {
	// Level is the level; none is no setting.
	Level loglevel.Level
	// ExpiresAt removes the level at an instant.
	ExpiresAt *time.Time
	// TTL removes the level after a time, which is rounded up to whole seconds,
	// and stands instead of an instant. The server refuses one that is negative.
	TTL time.Duration
	// Permanent takes away the expiry that the level has.
	Permanent bool
}

// members are the setting's members in a document, under their names there.
func (s LevelSetting) members(level, expiry, ttl string) map[string]any {
	members := map[string]any{level: s.Level}
	switch {
	case s.Level == loglevel.None: // what is not there does not expire
	case s.TTL != 0: // whatever it is: left out, the level would be permanent
		members[ttl] = int64(math.Ceil(s.TTL.Seconds()))
	case s.ExpiresAt != nil:
		members[expiry] = s.ExpiresAt
	case s.Permanent:
		members[expiry] = nil
	}
	return members
}

// MarshalJSON writes an override.
func (s LevelSetting) MarshalJSON() ([]byte, error) {
	return json.Marshal(s.members("level", "expires_at", "ttl_seconds"))
}

// LoggerDraft is what a logger is to become. What is left out is cleared.
type LoggerDraft struct {
	// Name is what people call it; an empty one becomes the id.
	Name string
	// Base is the base level.
	Base LevelSetting
	// Group is the id of its log group; empty for none.
	Group string
	// Environments are the overrides, by environment.
	Environments map[string]LevelSetting
	// Release makes the logger discovered again, with nothing set.
	Release bool
}

// MarshalJSON writes the draft as attributes.
func (d LoggerDraft) MarshalJSON() ([]byte, error) {
	attributes := d.Base.members("level", "level_expires_at", "level_ttl_seconds")
	if d.Name != "" {
		attributes["name"] = d.Name
	}
	if d.Group != "" {
		attributes["group"] = d.Group
	}
	if len(d.Environments) > 0 {
		attributes["environments"] = d.Environments
	}
	if d.Release {
		attributes["managed"] = false
	}
	return json.Marshal(attributes)
}

// LoggerParams choose loggers.
type LoggerParams struct {
	Paging
	// Search is a part of the id or the name, in any case.
	Search string
	// Managed is the state to list; nil lists both.
	Managed *bool
	// Group is the log group whose members to list.
	Group string
	// Service is a service that reports them.
	Service string
	// SeenSince lists those that were reported since then.
	SeenSince time.Time
}

// ReportedLogger is a logger that a running service has.
type ReportedLogger struct {
	// Name is its name, in any spelling.
	Name string `json:"id"`
	// Level is what the framework was told; none when it inherits.
	Level loglevel.Level `json:"level"`
	// ResolvedLevel is what that came to; none is the level.
	ResolvedLevel loglevel.Level `json:"resolved_level"`
	// Service and Environment are where it is; empty for unknown.
	Service     string `json:"service,omitempty"`
	Environment string `json:"environment,omitempty"`
}

// LoggersAPI is the loggers of the account.
type LoggersAPI struct{ transport *transport }

// Draft is the draft that changes nothing. Expiries that are stored stay. Only a
// discovered logger that was reported with a level does not: its draft sets
// that level, which promotes it.
func (l Logger) Draft() LoggerDraft {
	draft := LoggerDraft{Name: l.Name, Base: LevelSetting{Level: l.Level}, Environments: settings(l.Environments)}
	if l.Group != nil {
		draft.Group = *l.Group
	}
	return draft
}

func settings(overrides map[string]LevelOverride) map[string]LevelSetting {
	made := make(map[string]LevelSetting, len(overrides))
	for environment, override := range overrides {
		made[environment] = LevelSetting{Level: override.Level}
	}
	return made
}

func (p LoggerParams) query() url.Values {
	query := p.Paging.query()
	filter(query, "search", p.Search)
	filter(query, "group", p.Group)
	filter(query, "service", p.Service)
	filterBool(query, "managed", p.Managed)
	filterRange(query, "last_seen", p.SeenSince, time.Time{})
	return query
}

// List gives one page of loggers.
func (a LoggersAPI) List(ctx context.Context, params LoggerParams) (Page[Logger], error) {
	return listed[Logger](ctx, a.transport, params.query(), loggersCollection)
}

// All gives every logger from the page of the params on. It ends after the
// first error.
func (a LoggersAPI) All(ctx context.Context, params LoggerParams) iter.Seq2[Logger, error] {
	return every(params.Paging, func(paging Paging) (Page[Logger], error) {
		params.Paging = paging
		return a.List(ctx, params)
	})
}

// Get gives one logger, by its name in any spelling.
func (a LoggersAPI) Get(ctx context.Context, name string) (Logger, error) {
	return one[Logger](ctx, a.transport, get(loggersCollection, name))
}

// Replace changes a logger, and makes one that does not exist. To set anything
// on a discovered logger promotes it, which takes a slot of the plan: see
// [IsLimitReached]. It needs the role MEMBER.
func (a LoggersAPI) Replace(ctx context.Context, name string, draft LoggerDraft, options ...WriteOption) (Logger, error) {
	return one[Logger](ctx, a.transport, put(enclose(loggerKind, name, draft), loggersCollection, name).with(options))
}

// Delete removes a logger until a service reports it again. It needs the role
// MEMBER.
func (a LoggersAPI) Delete(ctx context.Context, name string, options ...WriteOption) error {
	_, err := a.transport.call(ctx, remove(loggersCollection, name).with(options), nil)
	return err
}

// Sources gives one page of where a logger is seen; without a name, of where
// all loggers are.
func (a LoggersAPI) Sources(ctx context.Context, name string, params SourceParams) (Page[LoggerSource], error) {
	return sources[LoggerSource](ctx, a.transport, params, loggerSourcesCollection, loggersCollection, name)
}

// AllSources gives every source from the page of the params on. It ends after
// the first error.
func (a LoggersAPI) AllSources(ctx context.Context, name string, params SourceParams) iter.Seq2[LoggerSource, error] {
	return every(params.Paging, func(paging Paging) (Page[LoggerSource], error) {
		params.Paging = paging
		return a.Sources(ctx, name, params)
	})
}

// Report tells the server which loggers a service has. Items that it does not
// take are listed in the result, and the others are kept. Every role may
// report.
func (a LoggersAPI) Report(ctx context.Context, loggers []ReportedLogger) (Reported, error) {
	return report(ctx, a.transport, loggersCollection, loggers)
}
