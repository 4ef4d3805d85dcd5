package store

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/page"
)

// Logging returns the transactions of package logging.
func (db *DB) Logging() Transactions[logging.ReadTx, logging.Tx] {
	return NewTransactions(db, func(tx *ReadTx) logging.ReadTx { return tx }, func(tx *Tx) logging.Tx { return tx })
}

// Loggers and groups share a table, because their keys are unique across both. Partial indexes have these conditions.
const (
	isLogger = ` kind = 'logger' AND deleted_at IS NULL `
	isGroup  = ` kind = 'log_group' AND deleted_at IS NULL `
)

const loggerColumns = `account_id, key, name, level, level_expires_at, environments, COALESCE(group_key, ''), managed, created_at, updated_at`

func scanLogger(r row) (l logging.Logger, err error) {
	err = r.Scan(&l.Account, &l.Key, &l.Name, asLevel(&l.Level), asTimeOrNull(&l.LevelExpiresAt), asJSON(&l.Environments), &l.Group, &l.Managed,
		asTime(&l.CreatedAt), asTime(&l.UpdatedAt))
	return l, err
}

// storedLevel scans a level that may be absent.
type storedLevel loglevel.Level

func asLevel(level *loglevel.Level) *storedLevel { return (*storedLevel)(level) }

// Scan implements sql.Scanner.
func (s *storedLevel) Scan(stored any) error {
	text, _ := stored.(string)
	level, _ := loglevel.Parse(text) // only names of levels are written
	*s = storedLevel(level)
	return nil
}

func levelOrNull(level loglevel.Level) *string {
	if level == loglevel.None {
		return nil
	}
	return new(level.String())
}

// Logger returns a logger of an account.
func (tx *ReadTx) Logger(ctx context.Context, account, key string) (logging.Logger, error) {
	return one(ctx, tx.conn, fault.Missing("logger", key), scanLogger,
		`SELECT `+loggerColumns+` FROM loggers WHERE account_id = $1 AND key = $2 AND`+isLogger, account, key)
}

// Loggers lists the loggers of an account.
func (tx *ReadTx) Loggers(ctx context.Context, account string, filter logging.Filter, request page.Request) (page.List[logging.Logger], error) {
	found := list{columns: loggerColumns, table: "loggers", byDefault: "key", tie: "key", sorts: sortsByName()}.of(account)
	found.where(isLogger)
	found.search(filter.Search)
	found.is("managed", filter.Managed)
	found.equals("group_key", filter.Group)
	// LIMIT keeps PostgreSQL from joining all sources: the list is walked in its
	// order, each logger is looked up in an index, and the page ends the walk.
	const seen = `(SELECT 1 FROM logger_sources s WHERE s.account_id = loggers.account_id AND s.logger = loggers.key`
	if filter.Service != "" {
		found.where(seen+` AND s.service = ? LIMIT 1) IS NOT NULL`, filter.Service)
	}
	if !filter.SeenFrom.IsZero() {
		found.where(seen+` AND s.last_seen >= ? LIMIT 1) IS NOT NULL`, micros(filter.SeenFrom))
	}
	if !filter.SeenTo.IsZero() {
		found.where(seen + ` LIMIT 1) IS NOT NULL`)
		found.where(seen+` AND s.last_seen >= ? LIMIT 1) IS NULL`, micros(filter.SeenTo))
	}
	return pageOf(ctx, tx, found, request, scanLogger)
}

// LoggersByKey returns the existing loggers among keys.
func (tx *ReadTx) LoggersByKey(ctx context.Context, account string, keys []string) ([]logging.Logger, error) {
	return byKeys(ctx, tx, scanLogger, loggerColumns, "loggers", isLogger, account, keys)
}

// LoggerKeys returns the keys of all loggers of an account.
func (tx *ReadTx) LoggerKeys(ctx context.Context, account string) ([]string, error) {
	return all(ctx, tx.conn, scanString, `SELECT key FROM loggers WHERE account_id = $1 AND`+isLogger, account)
}

// LoggersOfGroup returns the members of a group.
func (tx *ReadTx) LoggersOfGroup(ctx context.Context, account, group string) ([]logging.Logger, error) {
	return all(ctx, tx.conn, scanLogger, `SELECT `+loggerColumns+` FROM loggers
		WHERE account_id = $1 AND group_key = $2 AND`+isLogger+`ORDER BY key`, account, group)
}

// LoggersWithEnvironment returns the loggers that have an override for an environment.
func (tx *ReadTx) LoggersWithEnvironment(ctx context.Context, account, environment string) ([]logging.Logger, error) {
	return withEnvironment(ctx, tx, scanLogger, `SELECT `+loggerColumns+` FROM loggers WHERE account_id = $1 AND`+isLogger, account, environment,
		func(l logging.Logger) map[string]logging.Override { return l.Environments })
}

// LoggerKinds returns the kind of each given key that is in use.
func (tx *ReadTx) LoggerKinds(ctx context.Context, account string, keys []string) (map[string]string, error) {
	kinds := make(map[string]string, len(keys))
	_, err := byKeys(ctx, tx, scanInto(kinds), "key, kind", "loggers", "deleted_at IS NULL", account, keys)
	return kinds, err
}

// CountLoggers counts the loggers of an account, managed or not.
func (tx *ReadTx) CountLoggers(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, storedLoggers)
}

// LargeOverrideBytes returns the total size of the loggers' and groups' overrides that are larger than logging.SmallBytes.
func (tx *ReadTx) LargeOverrideBytes(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, largeOverrideBytes)
}

// CountManagedLoggers counts the managed loggers of an account.
func (tx *ReadTx) CountManagedLoggers(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, managedLoggers)
}

// LoggerCascaded reports whether a logger was ever promoted, also before it was deleted.
func (tx *ReadTx) LoggerCascaded(ctx context.Context, account, key string) (bool, error) {
	count, err := scalar(ctx, tx.conn, scanInt,
		`SELECT count(*) FROM loggers WHERE account_id = $1 AND key = $2 AND cascaded = $3`, account, key, true)
	return count > 0, err
}

const insertLogger = `INSERT INTO loggers (account_id, key, kind, name, level, level_expires_at, environments, group_key, managed,
	next_expiry, search, created_at, updated_at) VALUES`

// overwriteLogger keeps cascaded, which belongs to the key: a logger that is created again still has it. It notes when a
// managed logger is released.
const overwriteLogger = `ON CONFLICT (account_id, key) DO UPDATE SET kind = excluded.kind, name = excluded.name, level = excluded.level,
	level_expires_at = excluded.level_expires_at, environments = excluded.environments, group_key = excluded.group_key,
	managed = excluded.managed, next_expiry = excluded.next_expiry, search = excluded.search,
	created_at = excluded.created_at, updated_at = excluded.updated_at, deleted_at = NULL, spelling = NULL,
	released_at = CASE WHEN excluded.managed = TRUE THEN NULL
		WHEN loggers.managed = TRUE AND loggers.deleted_at IS NULL THEN excluded.updated_at ELSE loggers.released_at END`

// SaveLoggers inserts or overwrites loggers of one account, also rows marked deleted.
func (tx *Tx) SaveLoggers(ctx context.Context, loggers []logging.Logger) error {
	rows, _, err := loggerRows(loggers)
	if err != nil || len(loggers) == 0 {
		return err
	}
	keys := make([]string, len(loggers))
	for i, logger := range loggers {
		keys[i] = logger.Key
	}
	return tx.saveLoggers(ctx, loggers[0].Account, keys, rows)
}

// CreateLoggers inserts new loggers of one account. It overwrites rows marked deleted.
func (tx *Tx) CreateLoggers(ctx context.Context, created []logging.Logger) error {
	rows, more, err := loggerRows(created)
	if err != nil || len(created) == 0 {
		return err
	}
	return tx.creates(ctx, created[0].Account, insertLogger, overwriteLogger, rows, more)
}

// loggerRows returns the rows of loggers, and the amounts that they add to totals.
func loggerRows(loggers []logging.Logger) (rows [][]any, more map[total]int, err error) {
	rows, more = make([][]any, len(loggers)), map[total]int{storedLoggers: len(loggers)}
	for i, l := range loggers {
		environments, err := encode(l.Environments)
		if err != nil {
			return nil, nil, err
		}
		if len(environments) > logging.SmallBytes {
			more[largeOverrideBytes] += len(environments)
		}
		if l.Managed {
			more[managedLoggers]++
		}
		rows[i] = []any{l.Account, l.Key, logging.Kind, l.Name, levelOrNull(l.Level), microsOrNull(l.LevelExpiresAt), environments,
			orNull(l.Group), l.Managed, microsOrNull(l.NextExpiry()), searchable(l.Key, l.Name), micros(l.CreatedAt), micros(l.UpdatedAt)}
	}
	return rows, more, nil
}

// saveLoggers writes the rows of loggers or groups of an account.
func (tx *Tx) saveLoggers(ctx context.Context, account string, keys []string, rows [][]any) error {
	return tx.counting(ctx, countedLoggers(), account, keys, func() error {
		return inserts(ctx, tx, insertLogger, overwriteLogger, rows)
	})
}

// DeleteLogger removes a logger and its sources.
func (tx *Tx) DeleteLogger(ctx context.Context, account, key string, at time.Time) error {
	if err := tx.keepSpelling(ctx, account, key); err != nil {
		return err
	}
	if err := tx.removes(ctx, account, loggerSources, `DELETE FROM logger_sources WHERE account_id = $1 AND logger = $2`, key); err != nil {
		return err
	}
	return tx.removeLogger(ctx, account, key, logging.Kind, at)
}

// removeLogger removes the row of a logger or a group. A key that was promoted keeps an empty row, marked deleted,
// because the cascade runs once for each key.
func (tx *Tx) removeLogger(ctx context.Context, account, key, kind string, at time.Time) error {
	return tx.counting(ctx, countedLoggers(), account, []string{key}, func() error {
		if err := tx.run(ctx, `DELETE FROM loggers WHERE account_id = $1 AND key = $2 AND kind = $3 AND cascaded = $4`,
			account, key, kind, false); err != nil {
			return err
		}
		return tx.run(ctx, `UPDATE loggers SET deleted_at = $4, name = '', level = NULL, level_expires_at = NULL, environments = '{}', group_key = NULL,
			next_expiry = NULL, search = '', released_at = CASE WHEN managed = TRUE THEN $4 ELSE released_at END WHERE account_id = $1 AND key = $2 AND kind = $3`, account, key, kind, micros(at))
	})
}

// MarkLoggerCascaded records that a logger was promoted. Deleting the logger keeps the record; see ForgetLoggers.
func (tx *Tx) MarkLoggerCascaded(ctx context.Context, account, key string) error {
	return tx.run(ctx, `UPDATE loggers SET cascaded = $3 WHERE account_id = $1 AND key = $2`, account, key, true)
}

// ClearDescendants removes the levels of a logger's unmanaged descendants and
// returns the keys of the changed ones. "/" follows "." in the order of keys, so
// all keys that begin with "key." are between "key." and "key/".
func (tx *Tx) ClearDescendants(ctx context.Context, account, key string, at time.Time) ([]string, error) {
	cleared, err := all(ctx, tx.conn, scanString, `UPDATE loggers SET level = NULL, level_expires_at = NULL, updated_at = $5
		WHERE account_id = $1 AND key >= $2 AND key < $3 AND managed = $4 AND level IS NOT NULL AND`+isLogger+`RETURNING key`,
		account, key+".", key+"/", false, micros(at))
	slices.Sort(cleared)
	return cleared, err
}

// ExpiringLevels returns the temporary levels that expire next, soonest first. It leaves out the accounts in
// except.
func (tx *ReadTx) ExpiringLevels(ctx context.Context, except []string, limit int) ([]logging.Expiring, error) {
	left := tx.dialect.texts(append([]string{}, except...)) // nil would be NULL, not an empty list
	return all(ctx, tx.conn, func(r row) (e logging.Expiring, err error) {
		err = r.Scan(&e.Account, &e.Kind, &e.Key, asTime(&e.At))
		return e, err
	}, `SELECT account_id, kind, key, next_expiry FROM loggers
		WHERE next_expiry IS NOT NULL AND NOT (account_id `+tx.dialect.among+`) ORDER BY next_expiry LIMIT $1`, limit, left)
}
