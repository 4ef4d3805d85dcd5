package store

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/page"
)

const logGroupColumns = `account_id, key, name, level, level_expires_at, environments, created_at, updated_at`

func scanLogGroup(r row) (g logging.Group, err error) {
	err = r.Scan(&g.Account, &g.Key, &g.Name, asLevel(&g.Level), asTimeOrNull(&g.LevelExpiresAt), asJSON(&g.Environments),
		asTime(&g.CreatedAt), asTime(&g.UpdatedAt))
	return g, err
}

// LogGroup returns a log group of an account.
func (tx *ReadTx) LogGroup(ctx context.Context, account, key string) (logging.Group, error) {
	return one(ctx, tx.conn, fault.Missing("log group", key), scanLogGroup,
		`SELECT `+logGroupColumns+` FROM loggers WHERE account_id = $1 AND key = $2 AND`+isGroup, account, key)
}

// LogGroups lists the log groups of an account.
func (tx *ReadTx) LogGroups(ctx context.Context, account string, filter logging.GroupFilter, request page.Request) (page.List[logging.Group], error) {
	found := list{columns: logGroupColumns, table: "loggers", byDefault: "key", tie: "key", sorts: sortsByName()}.of(account)
	found.where(isGroup)
	found.search(filter.Search)
	return pageOf(ctx, tx, found, request, scanLogGroup)
}

// LogGroupsByKey returns the existing log groups among keys.
func (tx *ReadTx) LogGroupsByKey(ctx context.Context, account string, keys []string) ([]logging.Group, error) {
	return byKeys(ctx, tx, scanLogGroup, logGroupColumns, "loggers", isGroup, account, keys)
}

// LogGroupsWithEnvironment returns the log groups that have an override for an environment.
func (tx *ReadTx) LogGroupsWithEnvironment(ctx context.Context, account, environment string) ([]logging.Group, error) {
	return withEnvironment(ctx, tx, scanLogGroup, `SELECT `+logGroupColumns+` FROM loggers WHERE account_id = $1 AND`+isGroup, account, environment,
		func(g logging.Group) map[string]logging.Override { return g.Environments })
}

// CountLogGroups counts the log groups of an account.
func (tx *ReadTx) CountLogGroups(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, logGroups)
}

// SaveLogGroups inserts or overwrites log groups of one account, also rows marked deleted.
func (tx *Tx) SaveLogGroups(ctx context.Context, groups []logging.Group) error {
	if len(groups) == 0 {
		return nil
	}
	keys, rows := make([]string, len(groups)), make([][]any, len(groups))
	for i, g := range groups {
		keys[i] = g.Key
		rows[i] = []any{g.Account, g.Key, logging.KindGroup, g.Name, levelOrNull(g.Level), microsOrNull(g.LevelExpiresAt), asJSON(g.Environments),
			nil, true, microsOrNull(g.NextExpiry()), searchable(g.Key, g.Name), micros(g.CreatedAt), micros(g.UpdatedAt)}
	}
	return tx.saveLoggers(ctx, groups[0].Account, keys, rows)
}

// DeleteLogGroup removes a log group. Its members must have left it.
func (tx *Tx) DeleteLogGroup(ctx context.Context, account, key string, at time.Time) error {
	return tx.removeLogger(ctx, account, key, logging.KindGroup, at)
}
