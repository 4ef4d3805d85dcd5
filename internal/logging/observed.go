package logging

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
)

const (
	// maxSummary is how many sources a logger shows; its list of sources has all.
	maxSummary = 20
	// maxLevels is how many levels of environments it shows.
	maxLevels = 1_000
)

// Observed is what running services say about a logger.
type Observed struct {
	// Sources are the sources that were seen last, newest first.
	Sources []SourceSummary `json:"sources"`
	// EffectiveLevels are the distinct levels that the logger came to in each
	// environment, most verbose first.
	EffectiveLevels map[string][]loglevel.Level `json:"effective_levels"`
}

// SourceSummary is a source as its logger shows it.
type SourceSummary struct {
	Service       string         `json:"service"`
	Environment   string         `json:"environment"`
	Level         loglevel.Level `json:"level"`
	ResolvedLevel loglevel.Level `json:"resolved_level"`
	LastSeen      time.Time      `json:"last_seen"`
}

// LevelSeen is a level that a logger came to somewhere in an environment.
type LevelSeen struct {
	Logger, Environment string
	Level               loglevel.Level
}

func unobserved() Observed {
	return Observed{Sources: []SourceSummary{}, EffectiveLevels: map[string][]loglevel.Level{}}
}

// observe sums up the sources of loggers, by logger. What it keeps of one does
// not grow with the sources that it has.
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
		summed := observed[source.Logger]
		summed.Sources = append(summed.Sources, SourceSummary{Service: source.Service, Environment: source.Environment,
			Level: source.Level, ResolvedLevel: source.ResolvedLevel, LastSeen: source.LastSeen})
		observed[source.Logger] = summed
	}
	levels, err := tx.LevelsSeen(ctx, account, keys, maxLevels)
	if err != nil {
		return nil, err
	}
	for _, seen := range levels {
		byEnvironment := observed[seen.Logger].EffectiveLevels
		byEnvironment[seen.Environment] = append(byEnvironment[seen.Environment], seen.Level)
	}
	for _, summed := range observed {
		slices.SortFunc(summed.Sources, newestFirst)
		for _, levels := range summed.EffectiveLevels {
			slices.Sort(levels)
		}
	}
	return observed, nil
}

func newestFirst(a, b SourceSummary) int {
	return cmp.Or(b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Environment, b.Environment))
}

// weight is about how long this is as JSON.
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
