package logging

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/client/loglevel"
)

const (
	// maxDerived limits the derived members of a list, in approximate bytes of JSON. Loggers
	// and groups beyond the limit have only their definition.
	maxDerived = 16 << 20
	// maxProbes is how many ancestors are looked up by key. For more ancestors, reading the
	// keys of all loggers is cheaper.
	maxProbes = 2_000
)

// view returns a logger with its effective level in every environment.
func view(ctx context.Context, tx ReadTx, logger Logger) (View, error) {
	return only(viewer{tx: tx, account: logger.Account}.loggers(ctx, []Logger{logger}))
}

func groupView(ctx context.Context, tx ReadTx, group Group) (GroupView, error) {
	return only(viewer{tx: tx, account: group.Account}.groups(ctx, []Group{group}))
}

// only returns the only element of views.
func only[T any](views []T, err error) (view T, _ error) {
	if err == nil {
		view = views[0]
	}
	return view, err
}

// viewer builds the views of one answer.
type viewer struct {
	tx      ReadTx
	account string
	// list makes views omit unmanaged environments for which no override can apply. Services create
	// environments, so there may be very many.
	list bool
}

// loggers returns the views of loggers. It reads only their ancestors, groups and newest
// sources.
func (v viewer) loggers(ctx context.Context, loggers []Logger) ([]View, error) {
	if len(loggers) == 0 {
		return nil, nil
	}
	tree, err := v.tree(ctx, loggers)
	if err != nil {
		return nil, err
	}
	shown, err := v.environments(ctx)
	if err != nil {
		return nil, err
	}
	observed, err := observe(ctx, v.tx, v.account, loggers)
	if err != nil {
		return nil, err
	}
	made, left := make([]View, len(loggers)), maxDerived
	for i, logger := range loggers {
		made[i] = View{Logger: logger, Observed: unobserved()}
		if left <= 0 {
			continue
		}
		made[i].Observed = observed[logger.Key]
		made[i].Resolved = shown.resolve(tree.Environments(logger.Key),
			func(environment string) loglevel.Resolution { return tree.Resolve(logger.Key, environment) })
		left -= made[i].weight() + weight(made[i].Resolved)
	}
	return made, nil
}

// groups returns the views of groups.
func (v viewer) groups(ctx context.Context, groups []Group) ([]GroupView, error) {
	shown, err := v.environments(ctx)
	if err != nil {
		return nil, err
	}
	made, left := make([]GroupView, len(groups)), maxDerived
	for i, group := range groups {
		made[i] = GroupView{Group: group}
		if left > 0 {
			made[i].Resolved = shown.resolve(maps.Keys(group.Environments), group.node().Resolve)
			left -= weight(made[i].Resolved)
		}
	}
	return made, nil
}

// shown has all environments of an account, and the environments that every view shows.
type shown struct {
	all    map[string]bool
	always []string
}

// environments reads the environments that views may show.
func (v viewer) environments(ctx context.Context) (shown, error) {
	all, err := v.tx.ManagedEnvironments(ctx, v.account)
	made := shown{all: all}
	for environment, managed := range all {
		if managed || !v.list {
			made.always = append(made.always, environment)
		}
	}
	return made, err
}

// resolve returns the level in every environment that is always shown, and in every existing
// environment of overridden.
func (s shown) resolve(overridden iter.Seq[string], level func(environment string) loglevel.Resolution) map[string]Resolved {
	levels := make(map[string]Resolved, len(s.always))
	for _, environment := range s.always {
		levels[environment] = resolved(level(environment))
	}
	for environment := range overridden {
		_, exists := s.all[environment]
		if _, done := levels[environment]; exists && !done {
			levels[environment] = resolved(level(environment))
		}
	}
	return levels
}

// weight returns the approximate size of levels as JSON.
func weight(levels map[string]Resolved) (bytes int) {
	const besides = 60 // the names of members, a level and an origin
	for environment, level := range levels {
		bytes += besides + len(environment)
		if level.Of != nil {
			bytes += len(*level.Of)
		}
	}
	return bytes
}

// tree reads the ancestors and groups that the levels of loggers depend on.
func (v viewer) tree(ctx context.Context, loggers []Logger) (*loglevel.Tree, error) {
	ancestors, err := v.ancestors(ctx, loggers)
	if err != nil {
		return nil, err
	}
	var nodes []loglevel.Logger
	named := map[string]bool{} // the groups
	for _, logger := range slices.Concat(loggers, ancestors) {
		nodes = append(nodes, logger.node())
		if logger.Group != "" {
			named[logger.Group] = true
		}
	}
	groups, err := v.tx.LogGroupsByKey(ctx, v.account, slices.Sorted(maps.Keys(named)))
	if err != nil {
		return nil, err
	}
	var groupNodes []loglevel.Group
	for _, group := range groups {
		groupNodes = append(groupNodes, group.node())
	}
	return loglevel.NewTree(nodes, groupNodes), nil
}

// ancestors reads the ancestors of loggers, except those already in loggers. A key may have
// hundreds of segments, and most of its ancestors may not exist.
func (v viewer) ancestors(ctx context.Context, loggers []Logger) ([]Logger, error) {
	known := make(map[string]bool, len(loggers))
	for _, logger := range loggers {
		known[logger.Key] = true
	}
	var possible []string
	for _, logger := range loggers {
		for key, has := loglevel.Parent(logger.Key); has && !known[key]; key, has = loglevel.Parent(key) {
			known[key] = true
			possible = append(possible, key)
		}
	}
	if len(possible) > maxProbes {
		keys, err := v.tx.LoggerKeys(ctx, v.account)
		if err != nil {
			return nil, err
		}
		exists := make(map[string]bool, len(keys))
		for _, key := range keys {
			exists[key] = true
		}
		possible = slices.DeleteFunc(possible, func(key string) bool { return !exists[key] })
	}
	return v.tx.LoggersByKey(ctx, v.account, possible)
}
