package logging

import (
	"context"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/overrides"
	"github.com/signalbox/signalbox/internal/page"
)

// InEnvironment returns the groups of an account, and the loggers that decide levels in running
// services. Each has only its override for the given environment. Services apply levels to
// managed loggers and their descendants. Other loggers are returned only if such a level
// depends on them: see controlled.
func InEnvironment(ctx context.Context, tx ReadTx, account, environment string) ([]Logger, []Group, error) {
	loggers, err := allLoggers(ctx, tx, account)
	if err != nil {
		return nil, nil, err
	}
	groups, err := page.All(func(request page.Request) (page.List[Group], error) {
		return tx.LogGroups(ctx, account, GroupFilter{}, request)
	})
	if err != nil {
		return nil, nil, err
	}
	loggers = controlled(loggers)
	for i := range loggers {
		loggers[i].Environments = overrides.Only(loggers[i].Environments, environment)
	}
	for i := range groups {
		groups[i].Environments = overrides.Only(groups[i].Environments, environment)
	}
	return loggers, groups, nil
}

// controlled returns the managed loggers. It also returns the unmanaged loggers with a level that
// are above or below a managed one.
func controlled(loggers []Logger) []Logger {
	managed, above := map[string]bool{}, map[string]bool{}
	for _, logger := range loggers {
		if !logger.Managed {
			continue
		}
		managed[logger.Key] = true
		for key, has := loglevel.Parent(logger.Key); has && !above[key]; key, has = loglevel.Parent(key) {
			above[key] = true
		}
	}
	var found []Logger
	for _, logger := range loggers {
		if logger.Managed || !logger.nothingSet() && (above[logger.Key] || isBelow(logger.Key, managed)) {
			found = append(found, logger)
		}
	}
	return found
}

// isBelow reports whether some contains an ancestor of the logger with this key.
func isBelow(key string, some map[string]bool) bool {
	for key, has := loglevel.Parent(key); has; key, has = loglevel.Parent(key) {
		if some[key] {
			return true
		}
	}
	return false
}
