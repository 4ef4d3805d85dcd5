package logging

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
)

const (
	maxSummary = 20    // sources that a logger shows; its list of sources is complete
	maxLevels  = 1_000 // pairs of an environment and a level that a logger shows
)

// Observed has the sources and levels that running services report for a logger.
type Observed struct {
	// Sources are the most recently seen sources, newest first.
	Sources []SourceSummary `json:"sources"`
	// EffectiveLevels has the distinct levels that sources report for each
	// environment, most verbose first.
	EffectiveLevels map[string][]loglevel.Level `json:"effective_levels"`
}

// SourceSummary is a source in the form that a logger shows.
type SourceSummary struct {
	Service       string         `json:"service"`
	Environment   string         `json:"environment"`
	Level         loglevel.Level `json:"level"`
	ResolvedLevel loglevel.Level `json:"resolved_level"`
	LastSeen      time.Time      `json:"last_seen"`
}

// LevelSeen is a level that at least one source reports for a logger in an environment.
type LevelSeen struct {
	Logger, Environment string
	Level               loglevel.Level
}

func unobserved() Observed {
	return Observed{Sources: []SourceSummary{}, EffectiveLevels: map[string][]loglevel.Level{}}
}

// observe summarizes the sources of each logger, within the bounds above.
func observe(ctx context.Context, tx ReadTx, account string, loggers []Logger) (map[string]Observed, error) {
	observed := make(map[string]Observed, len(loggers))
	keys := make([]string, len(loggers))
	for i, logger := range loggers {
		keys[i], observed[logger.Key] = logger.Key, unobserved()
	}
	newest, err := tx.NewestSources(ctx, account, keys, maxSummary)
	if err != nil {
		return nil, err
	}
	for _, source := range newest {
		summary := observed[source.Logger]
		summary.Sources = append(summary.Sources, SourceSummary{Service: source.Service, Environment: source.Environment,
			Level: source.Level, ResolvedLevel: source.ResolvedLevel, LastSeen: source.LastSeen})
		observed[source.Logger] = summary
	}
	levels, err := tx.LevelsSeen(ctx, account, keys, maxLevels)
	if err != nil {
		return nil, err
	}
	for _, seen := range levels {
		byEnvironment := observed[seen.Logger].EffectiveLevels
		byEnvironment[seen.Environment] = append(byEnvironment[seen.Environment], seen.Level)
	}
	for _, summary := range observed {
		slices.SortFunc(summary.Sources, newestFirst)
		for _, levels := range summary.EffectiveLevels {
			slices.Sort(levels)
		}
	}
	return observed, nil
}

func newestFirst(a, b SourceSummary) int {
	return cmp.Or(b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Environment, b.Environment))
}

// weight returns the approximate size as JSON.
func (o Observed) weight() (bytes int) {
	const besides, level = 130, 9 // the names of members, levels and an instant
	for _, source := range o.Sources {
		bytes += besides + len(source.Service) + len(source.Environment)
	}
	for environment, levels := range o.EffectiveLevels {
		bytes += len(environment) + level*len(levels)
	}
	return bytes
}
