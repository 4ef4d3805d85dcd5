package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/page"
)

const flagSourceColumns = `id, account_id, flag, service, environment, declared_type, declared_default, first_observed, last_seen, created_at, updated_at`

func scanFlagSource(r row) (flags.Source, error) {
	var source flags.Source
	var base string
	var first, seen, created, updated int64
	err := r.Scan(&source.ID, &source.Account, &source.Flag, &source.Service, &source.Environment, &source.DeclaredType, &base,
		&first, &seen, &created, &updated)
	source.DeclaredDefault = json.RawMessage(base)
	source.FirstObserved, source.LastSeen = instant(first), instant(seen)
	source.CreatedAt, source.UpdatedAt = instant(created), instant(updated)
	return source, err
}

// FlagSources lists where the flags of an account are declared.
func (tx *ReadTx) FlagSources(ctx context.Context, account string, filter flags.SourceFilter, request page.Request) (page.List[flags.Source], error) {
	found := &list{columns: flagSourceColumns, table: "flag_sources", byDefault: "last_seen DESC", tie: "id", sorts: sourceSorts()}
	found.where("account_id = ?", account)
	for _, each := range []struct{ column, value string }{
		{"flag", filter.Flag}, {"service", filter.Service}, {"environment", filter.Environment},
	} {
		if each.value != "" {
			found.where(each.column+" = ?", each.value)
		}
	}
	return pageOf(ctx, tx, found, request, scanFlagSource)
}

// sourceSorts are the sort fields of everything that services observe.
func sourceSorts() map[string]string {
	return map[string]string{"last_seen": "last_seen", "service": "service", "environment": "environment", "created_at": "created_at"}
}

// CountFlagSources counts the sources of an account.
func (tx *ReadTx) CountFlagSources(ctx context.Context, account string) (int, error) {
	return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM flag_sources WHERE account_id = $1`, account)
}

// KnownFlagSources gives those of the named sources that exist.
func (tx *ReadTx) KnownFlagSources(ctx context.Context, account string, keys []flags.SourceKey) (map[flags.SourceKey]flags.Source, error) {
	rows := make([][]any, len(keys))
	for i, key := range keys {
		rows[i] = []any{account, key.Flag, key.Service, key.Environment}
	}
	known := make(map[flags.SourceKey]flags.Source, len(keys))
	for chunk := range tx.dialect.pieces(rows) {
		values, args := tx.dialect.rowsOf([]string{"text", "text", "text", "text"}, chunk)
		found, err := all(ctx, tx.conn, scanFlagSource, `SELECT `+flagSourceColumns+` FROM `+values+` CROSS JOIN flag_sources
			WHERE account_id = v.column1 AND flag = v.column2 AND service = v.column3 AND environment = v.column4`, args...)
		if err != nil {
			return nil, err
		}
		for _, source := range found {
			known[flags.SourceKey{Flag: source.Flag, Service: source.Service, Environment: source.Environment}] = source
		}
	}
	return known, nil
}

// RefreshFlagSources sets when those of the sources were last seen that exist
// and declare the same, and gives the others. It finds and writes them in one
// go: that is all that most reports are about.
func (tx *Tx) RefreshFlagSources(ctx context.Context, sources []flags.Source) ([]flags.SourceKey, error) {
	rows := make([][]any, len(sources))
	for i, s := range sources {
		rows[i] = []any{s.Account, s.Flag, s.Service, s.Environment, string(s.DeclaredType), string(s.DeclaredDefault), micros(s.LastSeen)}
	}
	// SQLite gives columns of the table alone. None of them has a line break.
	refreshed, err := updates(ctx, tx, `UPDATE flag_sources SET last_seen = v.column7`, `WHERE flag_sources.account_id = v.column1
		AND flag_sources.flag = v.column2 AND flag_sources.service = v.column3 AND flag_sources.environment = v.column4
		AND flag_sources.declared_type = v.column5 AND flag_sources.declared_default = v.column6
		RETURNING flag_sources.flag || '`+"\n"+`' || flag_sources.service || '`+"\n"+`' || flag_sources.environment`,
		[]string{"text", "text", "text", "text", "text", "text", "bigint"}, rows)
	if err != nil || len(refreshed) == len(sources) {
		return nil, err
	}
	known := make(map[string]bool, len(refreshed))
	for _, text := range refreshed {
		known[text] = true
	}
	var others []flags.SourceKey
	for _, s := range sources {
		if !known[s.Flag+"\n"+s.Service+"\n"+s.Environment] {
			others = append(others, flags.SourceKey{Flag: s.Flag, Service: s.Service, Environment: s.Environment})
		}
	}
	return others, nil
}

// InsertFlagSources writes new sources.
func (tx *Tx) InsertFlagSources(ctx context.Context, sources []flags.Source) error {
	rows := make([][]any, len(sources))
	for i, s := range sources {
		rows[i] = []any{s.ID, s.Account, s.Flag, s.Service, s.Environment, string(s.DeclaredType), string(s.DeclaredDefault),
			micros(s.FirstObserved), micros(s.LastSeen), micros(s.CreatedAt), micros(s.UpdatedAt)}
	}
	return inserts(ctx, tx, `INSERT INTO flag_sources (`+flagSourceColumns+`) VALUES`, "", rows)
}

// UpdateFlagSources writes sources whose declaration changed.
func (tx *Tx) UpdateFlagSources(ctx context.Context, sources []flags.Source) error {
	rows := make([][]any, len(sources))
	for i, s := range sources {
		rows[i] = []any{s.ID, s.Account, string(s.DeclaredType), string(s.DeclaredDefault), micros(s.LastSeen), micros(s.UpdatedAt)}
	}
	_, err := updates(ctx, tx, `UPDATE flag_sources SET declared_type = v.column3, declared_default = v.column4, last_seen = v.column5,
		updated_at = v.column6`, `WHERE flag_sources.id = v.column1 AND flag_sources.account_id = v.column2 RETURNING flag_sources.id`,
		[]string{"text", "text", "text", "text", "bigint", "bigint"}, rows)
	return err
}

// TouchFlagSources sets when sources were last seen.
func (tx *Tx) TouchFlagSources(ctx context.Context, account string, ids []string, at time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := tx.dialect.texts(ids)
	if err != nil {
		return err
	}
	return tx.run(ctx, `UPDATE flag_sources SET last_seen = $3 WHERE account_id = $1 AND id `+tx.dialect.among, account, list, micros(at))
}
