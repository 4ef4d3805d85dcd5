package logging

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/observations"
)

// Observation is one logger as a running service reports it.
type Observation struct {
	Name string // in any spelling
	// Level is the level configured in the framework, and ResolvedLevel is the effective one.
	// Either is empty if it was not reported.
	Level, ResolvedLevel string
	Service, Environment string
}

// source returns the reported source, or the problem of an invalid observation.
func (o Observation) source(caller accounts.Caller) (Source, string) {
	source := Source{Account: caller.Account, Logger: loglevel.Normalize(o.Name), Service: o.Service, Environment: o.Environment}
	if o.Name != source.Logger {
		source.Spelling = o.Name
	}
	known, resolves := o.Level == "", o.ResolvedLevel == ""
	if !known {
		source.Level, known = loglevel.Parse(o.Level)
	}
	if source.ResolvedLevel = source.Level; !resolves {
		source.ResolvedLevel, resolves = loglevel.Parse(o.ResolvedLevel)
	}
	if source.ResolvedLevel == loglevel.None {
		source.ResolvedLevel = loglevel.Default
	}
	if rule := brokenKeyRule(source.Logger); rule != "" {
		return source, "id " + rule
	}
	switch {
	case !known:
		return source, "level must be TRACE, DEBUG, INFO, WARN, ERROR, FATAL or SILENT"
	case !resolves:
		return source, "resolved_level must be TRACE, DEBUG, INFO, WARN, ERROR, FATAL or SILENT"
	}
	key := source.SourceKey()
	source.ID = key.ID(caller.Account)
	return source, key.Check(caller)
}

// Report stores the observations of services. New loggers are discovered, and every observation
// refreshes its source. While a logger is discovered, its level is the first explicit level
// that was reported. Every role may report.
func (s *Service) Report(ctx context.Context, caller accounts.Caller, reported []Observation) (observations.Outcome, error) {
	report := observations.ReadReport(reported, func(each Observation) (Source, string) { return each.source(caller) })
	return s.sources.Report(ctx, s.reports(), caller, report)
}

// reports describes to package observations how to handle reports of loggers.
func (s *Service) reports() observations.Product[ReadTx, Tx, Source] {
	return observations.Product[ReadTx, Tx, Source]{
		Store: s.Reports, Reading: func(tx Tx) ReadTx { return tx }, Refreshes: s.Refreshes, Slots: s.Slots, Seen: observations.LoggerSourceSeen,
		Kind: Kind, MaxResources: MaxLoggers, Taken: "id must not be that of a log group: loggers and log groups share their ids.",
		Known: ReadTx.KnownLoggerSources, Kinds: ReadTx.LoggerKinds, CountResources: ReadTx.CountLoggers, CountSources: ReadTx.CountLoggerSources,
		Create: func(tx Tx, ctx context.Context, observed []Source) error {
			return tx.CreateLoggers(ctx, discovered(observed, tx.Now()))
		},
		Save: func(tx Tx, ctx context.Context, sources []Source) error {
			for i := range sources {
				sources[i].FirstObserved, sources[i].LastSeen, sources[i].CreatedAt, sources[i].UpdatedAt = tx.Now(), tx.Now(), tx.Now(), tx.Now()
			}
			return tx.SaveLoggerSources(ctx, sources)
		},
	}
}

// discovered returns new loggers with their reported levels.
func discovered(observed []Source, now time.Time) []Logger {
	loggers := make([]Logger, len(observed))
	for i, source := range observed {
		loggers[i] = Logger{Account: source.Account, Key: source.Logger, Name: source.Logger, CreatedAt: now, UpdatedAt: now,
			Levels: Levels{Level: source.Level, Environments: map[string]Override{}}}
	}
	return loggers
}

// Source records that a service reports a logger in an environment.
type Source struct {
	ID          string `json:"-"`
	Account     string `json:"-"`
	Logger      string `json:"logger"`
	Service     string `json:"service"`
	Environment string `json:"environment"`
	// Level is the level configured in the framework, ResolvedLevel the effective one.
	Level         loglevel.Level `json:"level"`
	ResolvedLevel loglevel.Level `json:"resolved_level"`
	// Spelling is the name as the service reported it; empty if that is the normalized name.
	Spelling      string    `json:"-"`
	FirstObserved time.Time `json:"first_observed"`
	LastSeen      time.Time `json:"last_seen"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// SourceKey returns the logger, service and environment of the source.
func (s Source) SourceKey() observations.SourceKey {
	return observations.SourceKey{Name: s.Logger, Service: s.Service, Environment: s.Environment}
}

// SourceID returns the source's id.
func (s Source) SourceID() string { return s.ID }

// Agrees reports whether both sources have the same levels. A different spelling alone causes no write, because the
// instances of a service may go on using different spellings.
func (s Source) Agrees(with Source) bool {
	return s.Level == with.Level && s.ResolvedLevel == with.ResolvedLevel
}

// Describes reports whether the source has an explicit level.
func (s Source) Describes() bool { return s.Level != loglevel.None }
