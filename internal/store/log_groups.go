package store

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/page"
)

const logGroupColumns = `account_id, key, name, level, level_expires_at, environments, created_at, updated_at`

func scanLogGroup(r row) (logging.Group, error) {
	var group logging.Group
	var level *string
	var environments string
	var expires *int64
	var created, updated int64
	if err := r.Scan(&group.Account, &group.Key, &group.Name, &level, &expires, &environments, &created, &updated); err != nil {
		return group, err
	}
	group.Level, group.LevelExpiresAt = parseLevel(level), instantOrNil(expires)
	group.CreatedAt, group.UpdatedAt = instant(created), instant(updated)
	return group, decode(environments, &group.Environments)
}

// LogGroup gives a log group of an account.
func (tx *ReadTx) LogGroup(ctx context.Context, account, key string) (logging.Group, error) {
	return one(ctx, tx.conn, fault.Missing("log group", key), scanLogGroup,
		`SELECT `+logGroupColumns+` FROM loggers WHERE account_id = $1 AND key = $2 AND`+isGroup, account, key)
}

// LogGroups lists the log groups of an account.
func (tx *ReadTx) LogGroups(ctx context.Context, account string, filter logging.GroupFilter, request page.Request) (page.List[logging.Group], error) {
	found := &list{columns: logGroupColumns, table: "loggers", byDefault: "key", tie: "key", sorts: sortsByName()}
	found.where("account_id = ?", account)
	found.where(isGroup)
	found.search(filter.Search)
	return pageOf(ctx, tx, found, request, scanLogGroup)
}

// LogGroupsByKey gives those of the named log groups that exist.
func (tx *ReadTx) LogGroupsByKey(ctx context.Context, account string, keys []string) ([]logging.Group, error) {
	return among(ctx, tx, scanLogGroup, `SELECT `+logGroupColumns+` FROM loggers WHERE account_id = $1 AND`+isGroup+`AND key `, account, keys)
}

// LogGroupsWithEnvironment gives the log groups that have an override for an
// environment.
func (tx *ReadTx) LogGroupsWithEnvironment(ctx context.Context, account, environment string) ([]logging.Group, error) {
	found, err := all(ctx, tx.conn, scanLogGroup, `SELECT `+logGroupColumns+` FROM loggers
		WHERE account_id = $1 AND`+isGroup+`AND environments LIKE $2 ESCAPE '\' ORDER BY key`, account, mentions(environment))
	return slices.DeleteFunc(found, func(group logging.Group) bool { return !overrides(group.Levels, environment) }), err
}

// CountLogGroups counts the log groups of an account.
func (tx *ReadTx) CountLogGroups(ctx context.Context, account string) (int, error) {
	return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM loggers WHERE account_id = $1 AND`+isGroup, account)
}

// SaveLogGroups writes log groups, new or not, over deleted rows of their keys
// if there are any.
func (tx *Tx) SaveLogGroups(ctx context.Context, groups []logging.Group) error {
	rows := make([][]any, len(groups))
	for i, group := range groups {
		environments, err := encode(group.Environments)
		if err != nil {
			return err
		}
		rows[i] = []any{group.Account, group.Key, logging.KindGroup, group.Name, levelOrNull(group.Level), microsOrNull(group.LevelExpiresAt),
			environments, nil, true, microsOrNull(group.NextExpiry()), searchable(group.Key, group.Name),
			micros(group.CreatedAt), micros(group.UpdatedAt)}
	}
	return inserts(ctx, tx, insertLogger, overwriteLogger, rows)
}

// DeleteLogGroup marks a log group deleted. Its members must have left it.
func (tx *Tx) DeleteLogGroup(ctx context.Context, account, key string, at time.Time) error {
	return tx.bury(ctx, account, key, logging.KindGroup, at)
}
