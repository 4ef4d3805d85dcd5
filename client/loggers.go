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

const loggerSourcesPath = "logger_sources"

// Logger is a named category of log records. Its id is the normalized name: see [loglevel.Normalize].
type Logger struct {
	Resource
	Name string `json:"name"`
	// Level is the base level; None inherits.
	Level loglevel.Level `json:"level"`
	// LevelExpiresAt is when the base level is removed; nil is never.
	LevelExpiresAt *time.Time `json:"level_expires_at"`
	// Group is the id of the logger's log group, or nil.
	Group *string `json:"group"`
	// Managed reports whether people control the logger. Managed loggers count against the plan.
	Managed bool `json:"managed"`
	// Environments are the overrides by environment.
	Environments map[string]LevelOverride `json:"environments"`
	// Resolved has the effective level of every environment. Lists leave out unmanaged environments without an override
	// that matters, and have nil where a page would become too large.
	Resolved map[string]ResolvedLevel `json:"resolved"`
	// Sources are the newest sources of the logger, newest first; [LoggersAPI.Sources] returns all.
	Sources []LoggerSourceSummary `json:"sources"`
	// EffectiveLevels are the levels in use according to the services, by environment, most verbose first.
	EffectiveLevels map[string][]loglevel.Level `json:"effective_levels"`
	Timestamps
}

// LevelOverride is a level for one environment.
type LevelOverride struct {
	Level loglevel.Level `json:"level"`
	// ExpiresAt is when the level is removed; nil is never.
	ExpiresAt *time.Time `json:"expires_at"`
}

// ResolvedLevel is an effective level and where it comes from.
type ResolvedLevel struct {
	Level loglevel.Level `json:"level"`
	// Origin is the step of resolution that found the level.
	Origin loglevel.Origin `json:"origin"`
	// Of is the id of the logger or log group that has the level; nil for the default.
	Of *string `json:"of"`
}

// LoggerSourceSummary is where a logger was seen, and with which level.
type LoggerSourceSummary struct {
	Service     string `json:"service"`
	Environment string `json:"environment"`
	// Level is the level in the logging framework's configuration, and ResolvedLevel the level in use.
	Level         loglevel.Level `json:"level"`
	ResolvedLevel loglevel.Level `json:"resolved_level"`
	LastSeen      time.Time      `json:"last_seen"`
}

// LoggerSource is one service that has a logger in one environment. UpdatedAt is when its report last changed.
type LoggerSource struct {
	Resource
	Logger string `json:"logger"`
	LoggerSourceSummary
	FirstObserved time.Time `json:"first_observed"`
	Timestamps
}

// LevelSetting sets a level. A setting with the stored level and no expiry keeps the stored expiry.
type LevelSetting struct {
	// Level is the level; None removes the setting.
	Level loglevel.Level
	// ExpiresAt is when the level is removed.
	ExpiresAt *time.Time
	// TTL removes the level after a duration, rounded up to whole seconds. It wins over ExpiresAt. The server rejects a
	// negative TTL.
	TTL time.Duration
	// Permanent removes the stored expiry.
	Permanent bool
}

// members returns the setting as JSON members with the given names.
func (s LevelSetting) members(level, expiry, ttl string) map[string]any {
	members := map[string]any{level: s.Level}
	switch {
	case s.Level == loglevel.None: // nothing to expire
	case s.TTL != 0: // a negative TTL is sent too: without it the level would be permanent
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

// LoggerDraft creates or replaces a logger. A replace clears every setting that the draft does not have.
type LoggerDraft struct {
	// Name is the id when it is empty.
	Name string
	Base LevelSetting
	// Group is the id of the logger's log group; empty for none.
	Group string
	// Environments are the overrides by environment.
	Environments map[string]LevelSetting
	// Release makes the logger unmanaged, with nothing set.
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

// LoggerParams filter loggers.
type LoggerParams struct {
	Paging
	// Search is a part of the id or the name, ignoring case.
	Search string
	// Managed lists only managed or only unmanaged loggers; nil lists both.
	Managed *bool
	// Group is a log group whose members are listed.
	Group string
	// Service is a service that reports the loggers.
	Service string
	// SeenSince lists loggers that were reported since this time.
	SeenSince time.Time
}

// ReportedLogger is a logger of a running service.
type ReportedLogger struct {
	// Name is the logger's name in any spelling.
	Name string `json:"id"`
	// Level is the level in the logging framework's configuration; None when it inherits.
	Level loglevel.Level `json:"level"`
	// ResolvedLevel is the level in use; None means that Level is in use.
	ResolvedLevel loglevel.Level `json:"resolved_level"`
	// Service and Environment are where the logger is; empty for unknown.
	Service     string `json:"service,omitempty"`
	Environment string `json:"environment,omitempty"`
}

// LoggersAPI manages the loggers of the account. Get finds a logger by its name in any spelling.
type LoggersAPI struct{ loggers collection[Logger, *Logger] }

// Draft returns a draft of the logger's current state. Stored expiries are kept. The draft of an unmanaged logger that was
// reported with a level sets that level, so that replacing the logger by its draft makes it managed.
func (l Logger) Draft() LoggerDraft {
	draft := LoggerDraft{Name: l.Name, Base: LevelSetting{Level: l.Level}, Environments: levelSettings(l.Environments)}
	if l.Group != nil {
		draft.Group = *l.Group
	}
	return draft
}

func levelSettings(overrides map[string]LevelOverride) map[string]LevelSetting {
	settings := make(map[string]LevelSetting, len(overrides))
	for environment, override := range overrides {
		settings[environment] = LevelSetting{Level: override.Level}
	}
	return settings
}

func (p LoggerParams) query() url.Values {
	return filtered(p.Paging.query(), "search", p.Search, "group", p.Group, "service", p.Service,
		"managed", boolFilter(p.Managed), "last_seen", rangeFilter(p.SeenSince, time.Time{}))
}

// Get returns the logger with a name, in any spelling. [IsNotFound] reports that nobody has set a level for the logger and
// no service has reported it. Any role may read.
func (a LoggersAPI) Get(ctx context.Context, name string) (Logger, error) {
	return a.loggers.get(ctx, name)
}

// List returns one page of loggers, by default in the order of their ids. [Paging.Sort] takes key (the id), name,
// created_at and updated_at. Any role may read.
func (a LoggersAPI) List(ctx context.Context, params LoggerParams) (Page[Logger], error) {
	return a.loggers.list(ctx, params)
}

// All iterates over every logger that params select, starting at their page. It ends after the first error.
func (a LoggersAPI) All(ctx context.Context, params LoggerParams) iter.Seq2[Logger, error] {
	return a.loggers.all(ctx, params)
}

// Replace creates or replaces a logger. Setting anything on an unmanaged logger makes it managed, which counts against
// the plan: see [IsLimitReached]. It needs the role MEMBER.
func (a LoggersAPI) Replace(ctx context.Context, name string, draft LoggerDraft, options ...WriteOption) (Logger, error) {
	return a.loggers.replace(ctx, name, draft, options)
}

// Apply does the same as Replace, which also creates loggers. It exists so that every resource has this method.
func (a LoggersAPI) Apply(ctx context.Context, name string, draft LoggerDraft, options ...WriteOption) (Logger, error) {
	return a.Replace(ctx, name, draft, options...)
}

// Delete deletes a logger until a service reports it again. It needs the role MEMBER.
func (a LoggersAPI) Delete(ctx context.Context, name string, options ...WriteOption) error {
	return a.loggers.delete(ctx, name, options)
}

// Sources returns one page of the sources of a logger; an empty name selects the sources of every logger.
func (a LoggersAPI) Sources(ctx context.Context, name string, params SourceParams) (Page[LoggerSource], error) {
	return listPage[LoggerSource](ctx, a.loggers.transport, params.query(), sourcesPath(loggerSourcesPath, a.loggers.path, name)...)
}

// AllSources iterates over every source, starting at the page of params. It ends after the first error.
func (a LoggersAPI) AllSources(ctx context.Context, name string, params SourceParams) iter.Seq2[LoggerSource, error] {
	return allPages[LoggerSource](ctx, a.loggers.transport, params, sourcesPath(loggerSourcesPath, a.loggers.path, name)...)
}

// Report sends the loggers that a service has. Any role may report.
func (a LoggersAPI) Report(ctx context.Context, loggers []ReportedLogger) (Reported, error) {
	return report(ctx, a.loggers.transport, a.loggers.path, loggers)
}
