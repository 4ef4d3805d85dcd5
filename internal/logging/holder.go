package logging

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/overrides"
)

// CountOverrides counts the overrides of loggers and groups for an environment.
func CountOverrides(ctx context.Context, tx ReadTx, account, environment string) (int, error) {
	loggers, err := tx.LoggersWithEnvironment(ctx, account, environment)
	if err != nil {
		return 0, err
	}
	groups, err := tx.LogGroupsWithEnvironment(ctx, account, environment)
	return len(loggers) + len(groups), err
}

// StripOverrides removes the overrides for a deleted environment from all loggers and groups,
// with one event. A logger on which nothing else is set is released.
func StripOverrides(ctx context.Context, tx Tx, caller accounts.Caller, environment string) error {
	loggers, err := tx.LoggersWithEnvironment(ctx, caller.Account, environment)
	if err != nil {
		return err
	}
	groups, err := tx.LogGroupsWithEnvironment(ctx, caller.Account, environment)
	if err != nil {
		return err
	}
	strip := func(levels Levels) (Levels, bool) {
		levels.Environments = overrides.Without(levels.Environments, environment)
		return levels, true
	}
	why := cause{caller.Account, caller.Actor(), changes.Cascaded}
	kind, keys := KindGroup, []string(nil)
	if keys, err = changeLevels(ctx, tx, why, KindGroup, groups, strip, tx.SaveLogGroups); err != nil {
		return err
	}
	stripped, err := changeLevels(ctx, tx, why, Kind, loggers, strip, tx.SaveLoggers)
	if err != nil {
		return err
	}
	if len(stripped) > 0 {
		kind, keys = Kind, stripped
	}
	return changes.RecordSeveral(ctx, tx, why.account, why.actor, why.action, kind, changes.Several{Keys: keys, Cause: "environment:" + environment})
}

// cause is the actor and the reason of an indirect change of loggers or groups.
type cause struct {
	account string
	actor   changes.Actor
	action  changes.Action
}

// leveled is a logger or a group.
type leveled[T any] interface {
	id() string
	levels() Levels
	// with returns a copy with these levels. For a logger it also sets Managed.
	with(levels Levels, at time.Time) T
}

func (l Logger) id() string     { return l.Key }
func (l Logger) levels() Levels { return l.Levels }
func (l Logger) with(levels Levels, at time.Time) Logger {
	l.Levels, l.UpdatedAt = levels, at
	return l.settled()
}

func (g Group) id() string     { return g.Key }
func (g Group) levels() Levels { return g.Levels }
func (g Group) with(levels Levels, at time.Time) Group {
	g.Levels, g.UpdatedAt = levels, at
	return g
}

// changeLevels calls change for the levels of each item in found. It stores the items that
// changed and returns their keys.
func changeLevels[T leveled[T]](ctx context.Context, tx Tx, why cause, kind string, found []T,
	change func(Levels) (Levels, bool), save func(context.Context, []T) error,
) ([]string, error) {
	var before, after []T
	for _, each := range found {
		if levels, differs := change(each.levels()); differs {
			before, after = append(before, each), append(after, each.with(levels, tx.Now()))
		}
	}
	return saveEach(ctx, tx, why, kind, before, after, save)
}

// saveEach stores changed loggers or groups, each with a change in the history, and
// returns their keys.
func saveEach[T leveled[T]](ctx context.Context, tx Tx, why cause, kind string, before, after []T, save func(context.Context, []T) error) ([]string, error) {
	keys, edits := make([]string, len(after)), make([]changes.Edit[T], len(after))
	for i := range after {
		keys[i] = after[i].id()
		edits[i] = changes.Edit[T]{Key: keys[i], Before: &before[i], After: &after[i]}
	}
	if err := changes.RecordEach(ctx, tx, why.account, why.actor, why.action, kind, edits); err != nil {
		return nil, err
	}
	return keys, save(ctx, after)
}
