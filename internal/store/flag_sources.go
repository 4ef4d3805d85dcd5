package store

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/page"
)

const flagSourceColumns = `id, account_id, flag, service, environment, declared_type, declared_default, first_observed, last_seen, created_at, updated_at`

func scanFlagSource(r row) (s flags.Source, err error) {
	err = r.Scan(&s.ID, &s.Account, &s.Flag, &s.Service, &s.Environment, &s.DeclaredType, rawJSON(&s.DeclaredDefault),
		asTime(&s.FirstObserved), asTime(&s.LastSeen), asTime(&s.CreatedAt), asTime(&s.UpdatedAt))
	return s, err
}

// FlagSources lists where the flags of an account are declared.
func (tx *ReadTx) FlagSources(ctx context.Context, account string, filter flags.SourceFilter, request page.Request) (page.List[flags.Source], error) {
	found := list{columns: flagSourceColumns, table: "flag_sources", byDefault: "last_seen DESC", tie: "id", sorts: sourceSorts()}.of(account)
	found.equals("flag", filter.Flag)
	found.equals("service", filter.Service)
	found.equals("environment", filter.Environment)
	return pageOf(ctx, tx, found, request, scanFlagSource)
}

// sourceSorts returns the sort fields of lists of sources.
func sourceSorts() map[string]string {
	return sorts("last_seen", "service", "environment", "created_at")
}

// CountFlagSources counts the sources of an account.
func (tx *ReadTx) CountFlagSources(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, flagSources)
}

// KnownFlagSources returns the stored sources among the reported ones. A declared
// default is read only if it differs from the reported one.
func (tx *ReadTx) KnownFlagSources(ctx context.Context, account string, reported []flags.Source) (map[observations.SourceKey]flags.Source, error) {
	rows := make([][]any, len(reported))
	for i, s := range reported {
		rows[i] = []any{account, s.Flag, s.Service, s.Environment, string(s.DeclaredDefault), i}
	}
	known := make(map[observations.SourceKey]flags.Source, len(reported))
	note := func(r row) (place int, err error) {
		var stored *string // nil: there is no such source
		if err = r.Scan(&place, &stored); stored != nil {
			known[reported[place].SourceKey()] = knownSource(reported[place], *stored)
		}
		return place, err
	}
	for chunk := range tx.dialect.pieces(rows) {
		values, args := tx.dialect.rowsOf([]string{"text", "text", "text", "text", "text", "bigint"}, chunk)
		// This is not a join: PostgreSQL would plan a join while the table is small, with a scan of
		// the whole table, and keep that plan.
		if _, err := all(ctx, tx.conn, note, `SELECT v.column6, (
			SELECT id || ' ' || declared_type || CASE WHEN declared_default = v.column5 THEN '' ELSE ' ' || declared_default END FROM flag_sources
			WHERE account_id = v.column1 AND flag = v.column2 AND service = v.column3 AND environment = v.column4) FROM `+values, args...); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// knownSource parses the stored text of a reported source: its id, its type and,
// if it differs, its default. Neither id nor type has a space.
func knownSource(reported flags.Source, stored string) flags.Source {
	parts := strings.SplitN(stored, " ", 3)
	known := flags.Source{ID: parts[0], Flag: reported.Flag, Service: reported.Service, Environment: reported.Environment,
		DeclaredDefault: reported.DeclaredDefault}
	setText(&known.DeclaredType, parts[1])
	if len(parts) == 3 {
		known.DeclaredDefault = json.RawMessage(parts[2])
	}
	return known
}

// SaveFlagSources inserts or updates sources of one account. Existing sources
// keep their id and the time they were first observed.
func (tx *Tx) SaveFlagSources(ctx context.Context, sources []flags.Source) error {
	if len(sources) == 0 {
		return nil
	}
	rows := make([][]any, len(sources))
	for i, s := range sources {
		rows[i] = []any{s.ID, s.Account, s.Flag, s.Service, s.Environment, string(s.DeclaredType), string(s.DeclaredDefault),
			micros(s.FirstObserved), micros(s.LastSeen), micros(s.CreatedAt), micros(s.UpdatedAt)}
	}
	return tx.insertsNew(ctx, sources[0].Account, flagSources, `INSERT INTO flag_sources (`+flagSourceColumns+`) VALUES`,
		`ON CONFLICT (account_id, flag, service, environment)`, `DO UPDATE SET declared_type = excluded.declared_type,
			declared_default = excluded.declared_default, last_seen = excluded.last_seen, updated_at = excluded.updated_at`, rows)
}
