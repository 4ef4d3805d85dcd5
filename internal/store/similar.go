package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
)

// folded is SQL for an account and a key, without the differences that SimilarKey ignores. Every table has an index of this
// expression, see migration 0017. The index has no plain column and no condition, or PostgreSQL would use it to find keys.
const folded = `%s || ' ' || lower(replace(replace(replace(%s, '-', ''), '_', ''), '.', ''))`

// keyTable returns the table with the keys of a kind, and the condition for keys in use.
func keyTable(kind string) (table, condition string) {
	switch kind {
	case logging.Kind, logging.KindGroup: // loggers and groups share their keys
		return "loggers", " AND deleted_at IS NULL"
	case jobs.Kind:
		return "jobs", " AND deleted_at IS NULL"
	case flags.Kind, configs.Kind, environments.Kind, observations.KindService, observations.KindContextType:
		return kind + "s", ""
	}
	return "", ""
}

// SimilarKey returns another key of a kind that differs only by case or by -, _ and .; "" if there is none. If
// there are several, it returns any of them.
func (tx *ReadTx) SimilarKey(ctx context.Context, account, kind, key string) (string, error) {
	query, err := similarKeyQuery(kind)
	if err != nil {
		return "", err
	}
	found, err := all(ctx, tx.conn, scanString, query, account, key)
	return strings.Join(found, ""), err
}

func similarKeyQuery(kind string) (string, error) {
	table, condition := keyTable(kind)
	if table == "" {
		return "", fmt.Errorf("there are no keys of the kind %s", kind)
	}
	return fmt.Sprintf(`SELECT key FROM %s WHERE `+folded+` = `+folded+` AND key <> $2%s LIMIT 1`,
		table, "account_id", "key", "CAST($1 AS TEXT)", "CAST($2 AS TEXT)", condition), nil
}
