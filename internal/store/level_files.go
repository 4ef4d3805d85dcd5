package store

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/logging"
)

// LevelsModified returns when an account's loggers and groups last changed, in whole seconds. Two changes never have the
// same second, so after many changes at once it is ahead of the clock. Without a change it is a second before the account was created.
func (tx *ReadTx) LevelsModified(ctx context.Context, account string) (time.Time, error) {
	seconds, err := one(ctx, tx.conn, fault.Missing("account", account), scanInt, `SELECT CASE WHEN levels_at > 0 THEN levels_at ELSE created_at / 1000000 - 1 END FROM accounts WHERE id = $1`, account)
	return time.Unix(int64(seconds), 0).UTC(), err
}

// nextLevelsAt returns SQL for the next value of levels_at: the time, but always more than before.
func nextLevelsAt(now string) string {
	return `CASE WHEN levels_at < ` + now + ` THEN ` + now + ` ELSE levels_at + 1 END`
}

// moveLevels advances levels_at when services report other spellings: level files change, and no change is
// recorded.
func (tx *Tx) moveLevels(ctx context.Context, account string) error {
	return tx.run(ctx, `UPDATE accounts SET levels_at = `+nextLevelsAt("$2")+` WHERE id = $1`, account, tx.now.Unix())
}

// LoggerSpellings returns the distinct spellings that services report, sorted by logger and spelling. Loggers that are
// only reported in their normalized form are not listed.
func (tx *ReadTx) LoggerSpellings(ctx context.Context, account string) ([]logging.Spelling, error) {
	return all(ctx, tx.conn, func(r row) (s logging.Spelling, err error) {
		err = r.Scan(&s.Logger, &s.Name)
		return s, err
	}, `SELECT DISTINCT logger, spelling FROM logger_sources WHERE account_id = $1 AND spelling <> '' ORDER BY logger, spelling`, account)
}

// ReleasedLoggers returns the loggers that were released or deleted since an instant and are not managed again, sorted
// by key. The name of a deleted logger is spelled as it was last reported.
func (tx *ReadTx) ReleasedLoggers(ctx context.Context, account string, since time.Time) ([]logging.Released, error) {
	return all(ctx, tx.conn, func(r row) (released logging.Released, err error) {
		err = r.Scan(&released.Key, &released.Name, asTime(&released.At))
		return released, err
	}, `SELECT key, COALESCE(spelling, name), released_at FROM loggers WHERE account_id = $1 AND kind = 'logger' AND released_at >= $2 ORDER BY key`, account, micros(since))
}

// keepSpelling stores how a logger's name is spelled, before the logger loses its name and sources. ReleasedLoggers
// reads it.
func (tx *Tx) keepSpelling(ctx context.Context, account, key string) error {
	return tx.run(ctx, `UPDATE loggers SET spelling = COALESCE((SELECT max(s.spelling) FROM logger_sources s
			WHERE s.account_id = $1 AND s.logger = $2 AND s.spelling <> ''), CASE WHEN lower(name) = key THEN name END)
		WHERE account_id = $1 AND key = $2`, account, key)
}
