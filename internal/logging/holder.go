package logging

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
)

// CountOverrides counts the levels that loggers and groups hold for an
// environment.
func CountOverrides(ctx context.Context, tx ReadTx, account, environment string) (int, error) {
	loggers, err := tx.LoggersWithEnvironment(ctx, account, environment)
	if err != nil {
		return 0, err
	}
	groups, err := tx.LogGroupsWithEnvironment(ctx, account, environment)
	return len(loggers) + len(groups), err
}

// StripOverrides removes what loggers and groups hold for an environment that
// is deleted. A logger that is left with nothing set is released. Running
// services are told once.
func StripOverrides(ctx context.Context, tx Tx, caller accounts.Caller, environment string) error {
	loggers, err := tx.LoggersWithEnvironment(ctx, caller.Account, environment)
	if err != nil {
		return err
	}
	groups, err := tx.LogGroupsWithEnvironment(ctx, caller.Account, environment)
	if err != nil {
		return err
	}
	strip := func(levels Levels) (Levels, bool) { return levels.without(environment), true }
	why := reason{caller.Account, caller.Actor(), changes.Cascaded}
	kind, keys := KindGroup, []string(nil)
	if keys, err = relevel(ctx, tx, why, KindGroup, groups, strip, tx.SaveLogGroups); err != nil {
		return err
	}
	stripped, err := relevel(ctx, tx, why, Kind, loggers, strip, tx.SaveLoggers)
	if err != nil {
		return err
	}
	if len(stripped) > 0 {
		kind, keys = Kind, stripped
	}
	return changes.RecordSeveral(ctx, tx, why.account, why.actor, why.action, kind, changes.Several{Keys: keys, Cause: "environment:" + environment})
}

// reason is why something changes that nobody has written.
type reason struct {
	account string
	actor   changes.Actor
	action  changes.Action
}

// holder is what has levels: a logger or a group.
type holder[T any] interface {
	id() string
	levels() Levels
	// with is the holder with other levels, in the state that follows from them.
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

// relevel changes the levels of holders, of those that change reports a
// difference for, and gives their keys.
func relevel[T holder[T]](ctx context.Context, tx Tx, why reason, kind string, found []T,
	change func(Levels) (Levels, bool), save func(context.Context, []T) error,
) ([]string, error) {
	var before, after []T
	for _, each := range found {
		if levels, differs := change(each.levels()); differs {
			before, after = append(before, each), append(after, each.with(levels, tx.Now()))
		}
	}
	return follow(ctx, tx, why, kind, before, after, save)
}

// follow stores what became of holders because something else changed, and
// gives their keys. Each is in the history.
func follow[T holder[T]](ctx context.Context, tx Tx, why reason, kind string, before, after []T, save func(context.Context, []T) error) ([]string, error) {
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
