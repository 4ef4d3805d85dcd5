package logging

import (
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/observations"
)

// The JSON:API types of this package.
const (
	Kind       = "logger"
	KindGroup  = "log_group"
	KindSource = "logger_source"
)

const (
	// MaxLoggers is the limit of loggers per account in every plan.
	MaxLoggers = 10_000
	// MaxRemembered is the limit, per account, of deleted loggers that are remembered as
	// promoted. It is enforced from time to time; the oldest deletions are dropped first.
	MaxRemembered = 10_000

	maxName = 255
)

// brokenKeyRule returns the rule for keys of loggers and groups that the text breaks, or "".
// changes.AllKeys is not allowed, because it stands for several resources in the history.
func brokenKeyRule(text string) string {
	switch {
	case !observations.IsLabel(text) || text == changes.AllKeys:
		return naming.LabelRule(maxName) + ", and must not be " + changes.AllKeys
	case !naming.InPath(text):
		return naming.PathRule
	}
	return ""
}

// Logger is a named category of log records.
type Logger struct {
	Account string
	Key     string // normalized
	Name    string
	Levels
	// Group is the key of the logger's group; empty for none.
	Group string
	// Managed says that people control the logger. A discovered logger was only reported.
	Managed              bool
	CreatedAt, UpdatedAt time.Time
}

// loggerDocument is a logger as the API and the history show it.
type loggerDocument struct {
	Name string `json:"name"`
	Levels
	Group     *string   `json:"group"`
	GroupID   *string   `json:"group_id"` // the same value; some clients read this member
	Managed   bool      `json:"managed"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func (l Logger) document() loggerDocument {
	document := loggerDocument{Name: l.Name, Levels: l.Levels, Managed: l.Managed, CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt}
	if l.Group != "" {
		document.Group, document.GroupID = &l.Group, &l.Group
	}
	return document
}

// MarshalJSON writes the logger's definition.
func (l Logger) MarshalJSON() ([]byte, error) { return json.Marshal(l.document()) }

// nothingSet reports whether the logger has no level, no override and no group.
func (l Logger) nothingSet() bool { return l.empty() && l.Group == "" }

// released returns the logger as a discovered one with nothing set.
func (l Logger) released() Logger {
	l.Levels, l.Group, l.Managed = Levels{Environments: map[string]Override{}}, "", false
	return l
}

// settled returns the logger as managed, or as discovered if it has nothing set.
func (l Logger) settled() Logger {
	l.Managed = !l.nothingSet()
	return l
}

func (l Logger) node() loglevel.Logger {
	return loglevel.Logger{Key: l.Key, Level: l.Level, Environments: l.plain(), Group: l.Group, Managed: l.Managed}
}

// Resolved is an effective level, and the logger or group that it comes from.
type Resolved struct {
	Level  loglevel.Level  `json:"level"`
	Origin loglevel.Origin `json:"origin"`
	Of     *string         `json:"of"`
}

func resolved(from loglevel.Resolution) Resolved {
	if from.Of == "" {
		return Resolved{Level: from.Level, Origin: from.Origin}
	}
	return Resolved{Level: from.Level, Origin: from.Origin, Of: &from.Of}
}

// View is a logger with its effective levels, its observed levels and its sources.
type View struct {
	Logger
	// Resolved has the effective level of every environment of the account. In a list it has
	// only the environments that viewer.list keeps, and it is nil once maxDerived is reached.
	Resolved map[string]Resolved
	Observed
}

// MarshalJSON writes the definition and the derived members as one object.
func (v View) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		loggerDocument
		Resolved map[string]Resolved `json:"resolved"`
		Observed
	}{v.document(), v.Resolved, v.Observed})
}

// Definition returns the logger without its observed and derived members.
func (v View) Definition() any { return v.Logger }

// Group is a set of loggers that share a level.
type Group struct {
	Account string `json:"-"`
	Key     string `json:"-"`
	Name    string `json:"name"`
	Levels
	ParentID  *string   `json:"parent_id"` // always nil: groups are flat
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func (g Group) node() loglevel.Group {
	return loglevel.Group{Key: g.Key, Level: g.Level, Environments: g.plain()}
}

// GroupView is a group with the effective level of every environment; see View.
type GroupView struct {
	Group
	Resolved map[string]Resolved `json:"resolved"`
}

// Definition returns the group without its effective levels.
func (v GroupView) Definition() any { return v.Group }
