package logging

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
)

// maxSummary is how many sources a logger shows; its list of sources has all.
const maxSummary = 20

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

func view(ctx context.Context, tx ReadTx, logger Logger) (View, error) {
	made, err := views(ctx, tx, logger.Account, []Logger{logger})
	if err != nil {
		return View{}, err
	}
	return made[0], nil
}

// views adds to a page of loggers what follows from others. It reads their
// ancestors, groups and sources, and nothing else of the account.
func views(ctx context.Context, tx ReadTx, account string, loggers []Logger) ([]View, error) {
	if len(loggers) == 0 {
		return nil, nil
	}
	tree, err := treeAround(ctx, tx, account, loggers)
	if err != nil {
		return nil, err
	}
	environments, err := tx.ManagedEnvironments(ctx, account)
	if err != nil {
		return nil, err
	}
	observed, err := observe(ctx, tx, account, loggers)
	if err != nil {
		return nil, err
	}
	made := make([]View, len(loggers))
	for i, logger := range loggers {
		made[i] = View{Logger: logger, Observed: observed[logger.Key], Resolved: make(map[string]Resolved, len(environments))}
		for environment := range environments {
			made[i].Resolved[environment] = resolved(tree.Resolve(logger.Key, environment))
		}
	}
	return made, nil
}

// treeAround reads what the levels of some loggers depend on.
func treeAround(ctx context.Context, tx ReadTx, account string, loggers []Logger) (*loglevel.Tree, error) {
	known := make(map[string]bool, len(loggers))
	for _, logger := range loggers {
		known[logger.Key] = true
	}
	var missing []string
	for _, logger := range loggers {
		for key, has := loglevel.Parent(logger.Key); has && !known[key]; key, has = loglevel.Parent(key) {
			known[key] = true
			missing = append(missing, key)
		}
	}
	ancestors, err := tx.LoggersByKey(ctx, account, missing)
	if err != nil {
		return nil, err
	}
	var nodes []loglevel.Logger
	named := map[string]bool{}
	for _, logger := range slices.Concat(loggers, ancestors) {
		nodes = append(nodes, logger.node())
		if logger.Group != "" {
			named[logger.Group] = true
		}
	}
	groups, err := tx.LogGroupsByKey(ctx, account, slices.Sorted(maps.Keys(named)))
	if err != nil {
		return nil, err
	}
	return loglevel.NewTree(nodes, groupNodes(groups)), nil
}

func groupNodes(groups []Group) []loglevel.Group {
	nodes := make([]loglevel.Group, len(groups))
	for i, group := range groups {
		nodes[i] = group.node()
	}
	return nodes
}

// observe sums up the sources of loggers, by logger.
func observe(ctx context.Context, tx ReadTx, account string, loggers []Logger) (map[string]Observed, error) {
	observed := make(map[string]Observed, len(loggers))
	keys := make([]string, len(loggers))
	for i, logger := range loggers {
		keys[i] = logger.Key
		observed[logger.Key] = Observed{Sources: []SourceSummary{}, EffectiveLevels: map[string][]loglevel.Level{}}
	}
	sources, err := tx.SourcesOfLoggers(ctx, account, keys)
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		summed := observed[source.Logger]
		summed.add(source)
		observed[source.Logger] = summed
	}
	for key, summed := range observed {
		slices.SortFunc(summed.Sources, newestFirst)
		summed.Sources = summed.Sources[:min(len(summed.Sources), maxSummary)]
		observed[key] = summed
	}
	return observed, nil
}

func (o *Observed) add(source Source) {
	o.Sources = append(o.Sources, SourceSummary{Service: source.Service, Environment: source.Environment,
		Level: source.Level, ResolvedLevel: source.ResolvedLevel, LastSeen: source.LastSeen})
	levels := o.EffectiveLevels[source.Environment]
	if place, has := slices.BinarySearch(levels, source.ResolvedLevel); !has {
		o.EffectiveLevels[source.Environment] = slices.Insert(levels, place, source.ResolvedLevel)
	}
}

func newestFirst(a, b SourceSummary) int {
	return cmp.Or(b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Environment, b.Environment))
}

func groupView(ctx context.Context, tx ReadTx, group Group) (GroupView, error) {
	made, err := groupViews(ctx, tx, group.Account, []Group{group})
	if err != nil {
		return GroupView{}, err
	}
	return made[0], nil
}

func groupViews(ctx context.Context, tx ReadTx, account string, groups []Group) ([]GroupView, error) {
	environments, err := tx.ManagedEnvironments(ctx, account)
	if err != nil {
		return nil, err
	}
	made := make([]GroupView, len(groups))
	for i, group := range groups {
		made[i] = GroupView{Group: group, Resolved: make(map[string]Resolved, len(environments))}
		for environment := range environments {
			made[i].Resolved[environment] = resolved(group.node().Resolve(environment))
		}
	}
	return made, nil
}
