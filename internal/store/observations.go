package store

import (
	"context"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/page"
)

// Refreshes returns the transactions in which package observations refreshes instants.
func (db *DB) Refreshes() Transactions[*ReadTx, observations.RefreshTx] {
	return NewTransactions(db, func(tx *ReadTx) *ReadTx { return tx }, func(tx *Tx) observations.RefreshTx { return tx }).ForObservations()
}

// Refresh sets instants of an account, unless they are later already.
func (tx *Tx) Refresh(ctx context.Context, account string, refreshes []observations.Refresh) error {
	rows := map[observations.Refreshed][][]any{}
	for _, each := range refreshes {
		rows[each.What] = append(rows[each.What], []any{account, each.Key, micros(each.At)})
	}
	// The id finds the row at once; || '' keeps SQLite from using an index by account.
	for what, statement := range map[observations.Refreshed][2]string{
		observations.FlagSourceSeen:   {`UPDATE flag_sources SET last_seen = v.column3`, `WHERE account_id || '' = v.column1 AND id = v.column2 AND last_seen < v.column3`},
		observations.LoggerSourceSeen: {`UPDATE logger_sources SET last_seen = v.column3`, `WHERE account_id || '' = v.column1 AND id = v.column2 AND last_seen < v.column3`},
		observations.FlagEvaluated: {`UPDATE flags SET last_evaluated = v.column3`,
			`WHERE account_id = v.column1 AND key = v.column2 AND COALESCE(last_evaluated, 0) < v.column3`},
		observations.KeyUsed: {`UPDATE api_keys SET last_used_at = v.column3`,
			`WHERE account_id || '' = v.column1 AND id = v.column2 AND COALESCE(last_used_at, 0) < v.column3`},
		observations.SessionUsed: {`UPDATE sessions SET last_used_at = v.column3`,
			`WHERE account_id || '' = v.column1 AND id = v.column2 AND last_used_at < v.column3`},
	} {
		if _, err := updates(ctx, tx, statement[0], statement[1]+` RETURNING account_id`, []string{"text", "text", "bigint"}, rows[what]); err != nil {
			return err
		}
	}
	return nil
}

const serviceColumns = `account_id, key, name, created_at, updated_at`

func scanService(r row) (s observations.ReportingService, err error) {
	err = r.Scan(&s.Account, &s.Key, &s.Name, asTime(&s.CreatedAt), asTime(&s.UpdatedAt))
	return s, err
}

// Service returns a service of an account.
func (tx *ReadTx) Service(ctx context.Context, account, key string) (observations.ReportingService, error) {
	return one(ctx, tx.conn, fault.Missing("service", key), scanService,
		`SELECT `+serviceColumns+` FROM services WHERE account_id = $1 AND key = $2`, account, key)
}

// Services lists the services of an account.
func (tx *ReadTx) Services(ctx context.Context, account string, filter observations.Filter, request page.Request) (page.List[observations.ReportingService], error) {
	found := list{columns: serviceColumns, table: "services", byDefault: "name", tie: "key", sorts: sortsByName()}.of(account)
	found.search(filter.Search)
	return pageOf(ctx, tx, found, request, scanService)
}

// CountServices returns how many services an account has.
func (tx *ReadTx) CountServices(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, storedServices)
}

// ExistingServices returns which of the named services exist.
func (tx *ReadTx) ExistingServices(ctx context.Context, account string, keys []string) ([]string, error) {
	return byKeys(ctx, tx, scanString, "key", "services", "TRUE", account, keys)
}

// InsertServices writes new services of one account.
func (tx *Tx) InsertServices(ctx context.Context, made ...observations.ReportingService) error {
	if len(made) == 0 {
		return nil
	}
	rows := make([][]any, len(made))
	for i, s := range made {
		rows[i] = []any{s.Account, s.Key, s.Name, micros(s.CreatedAt), micros(s.UpdatedAt), searchable(s.Key, s.Name)}
	}
	if err := inserts(ctx, tx, `INSERT INTO services (`+serviceColumns+`, search) VALUES`, "", rows); err != nil {
		return err
	}
	return tx.count(ctx, made[0].Account, storedServices, len(made))
}

// UpdateService writes the fields of a service that may change.
func (tx *Tx) UpdateService(ctx context.Context, s observations.ReportingService) error {
	return tx.run(ctx, `UPDATE services SET name = $3, updated_at = $4, search = $5 WHERE account_id = $1 AND key = $2`,
		s.Account, s.Key, s.Name, micros(s.UpdatedAt), searchable(s.Key, s.Name))
}

// DeleteService removes a service.
func (tx *Tx) DeleteService(ctx context.Context, account, key string) error {
	return tx.removes(ctx, account, storedServices, `DELETE FROM services WHERE account_id = $1 AND key = $2`, key)
}

const contextTypeColumns = `account_id, key, name, attributes, created_at, updated_at`

func scanContextType(r row) (c observations.ContextType, err error) {
	err = r.Scan(&c.Account, &c.Key, &c.Name, rawJSON(&c.Attributes), asTime(&c.CreatedAt), asTime(&c.UpdatedAt))
	return c, err
}

// ContextType returns a context type of an account.
func (tx *ReadTx) ContextType(ctx context.Context, account, key string) (observations.ContextType, error) {
	return one(ctx, tx.conn, fault.Missing("context type", key), scanContextType,
		`SELECT `+contextTypeColumns+` FROM context_types WHERE account_id = $1 AND key = $2`, account, key)
}

// ContextTypes lists the context types of an account.
func (tx *ReadTx) ContextTypes(ctx context.Context, account string, filter observations.Filter, request page.Request) (page.List[observations.ContextType], error) {
	found := list{columns: contextTypeColumns, table: "context_types", byDefault: "key", tie: "key", sorts: sortsByName()}.of(account)
	found.search(filter.Search)
	return pageOf(ctx, tx, found, request, scanContextType)
}

// CountContextTypes returns how many context types an account has.
func (tx *ReadTx) CountContextTypes(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, contextTypes)
}

// ContextTypesByKey returns the existing context types among keys.
func (tx *ReadTx) ContextTypesByKey(ctx context.Context, account string, keys []string) ([]observations.ContextType, error) {
	return byKeys(ctx, tx, scanContextType, contextTypeColumns, "context_types", "TRUE", account, keys)
}

// SaveContextTypes inserts context types of one account, or updates the fields
// that may change.
func (tx *Tx) SaveContextTypes(ctx context.Context, saved ...observations.ContextType) error {
	if len(saved) == 0 {
		return nil
	}
	rows := make([][]any, len(saved))
	for i, c := range saved {
		rows[i] = []any{c.Account, c.Key, c.Name, string(c.Attributes), micros(c.CreatedAt), micros(c.UpdatedAt), searchable(c.Key, c.Name)}
	}
	return tx.insertsNew(ctx, saved[0].Account, contextTypes, `INSERT INTO context_types (`+contextTypeColumns+`, search) VALUES`,
		`ON CONFLICT (account_id, key)`, `DO UPDATE SET name = excluded.name, attributes = excluded.attributes,
			updated_at = excluded.updated_at, search = excluded.search`, rows)
}

// DeleteContextType removes a context type and its contexts.
func (tx *Tx) DeleteContextType(ctx context.Context, account, key string) error {
	if err := tx.removes(ctx, account, storedContexts, `DELETE FROM contexts WHERE account_id = $1 AND context_type = $2`, key); err != nil {
		return err
	}
	return tx.removes(ctx, account, contextTypes, `DELETE FROM context_types WHERE account_id = $1 AND key = $2`, key)
}

const contextColumns = `account_id, context_type, key, name, attributes, created_at, updated_at`

func scanContext(r row) (c observations.Context, err error) {
	err = r.Scan(&c.Account, &c.Type, &c.Key, &c.Name, rawJSON(&c.Attributes), asTime(&c.CreatedAt), asTime(&c.UpdatedAt))
	return c, err
}

// Context returns a context of an account.
func (tx *ReadTx) Context(ctx context.Context, account, typeKey, key string) (observations.Context, error) {
	return one(ctx, tx.conn, fault.Missing("context", typeKey+":"+key), scanContext,
		`SELECT `+contextColumns+` FROM contexts WHERE account_id = $1 AND context_type = $2 AND key = $3`, account, typeKey, key)
}

// KnownContexts returns the ids of the contexts that exist. The value of an id is
// true if UpsertContexts would not change the context.
func (tx *ReadTx) KnownContexts(ctx context.Context, account string, contexts []observations.Context) (map[string]bool, error) {
	rows := make([][]any, len(contexts))
	for i, c := range contexts {
		rows[i] = []any{account, c.Type, c.Key, nil}
		if c.Attributes != nil {
			rows[i][3] = string(c.Attributes)
		}
	}
	known := make(map[string]bool, len(contexts))
	note := func(r row) (id string, err error) {
		var found observations.Context
		var same *bool // nil: there is no such context
		if err = r.Scan(&found.Type, &found.Key, &same); same != nil {
			known[found.ID()] = *same
		}
		return found.ID(), err
	}
	for chunk := range tx.dialect.pieces(rows) {
		values, args := tx.dialect.rowsOf([]string{"text", "text", "text", "text"}, chunk)
		// This is not a join: PostgreSQL would plan a join while the table is small, with a scan of
		// the whole table, and keep that plan.
		if _, err := all(ctx, tx.conn, note, `SELECT v.column2, v.column3, (SELECT v.column4 IS NULL OR attributes = v.column4 FROM contexts
			WHERE account_id = v.column1 AND context_type = v.column2 AND key = v.column3) FROM `+values, args...); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// CountContexts returns how many contexts an account has.
func (tx *ReadTx) CountContexts(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, storedContexts)
}

// Contexts lists the contexts of an account.
func (tx *ReadTx) Contexts(ctx context.Context, account string, filter observations.Filter, request page.Request) (page.List[observations.Context], error) {
	found := list{columns: contextColumns, table: "contexts", byDefault: "key", tie: "context_type, key", sorts: sortsByName()}.of(account)
	found.search(filter.Search)
	found.equals("context_type", filter.ContextType)
	return pageOf(ctx, tx, found, request, scanContext)
}

// UpsertContexts writes reported contexts of one account. Existing contexts keep
// their names, and keep their attributes if none are reported. A repeated report
// writes nothing.
func (tx *Tx) UpsertContexts(ctx context.Context, contexts []observations.Context) error {
	if len(contexts) == 0 {
		return nil
	}
	var described, bare [][]any
	for _, c := range contexts {
		attributes := string(c.Attributes)
		if c.Attributes == nil {
			attributes = "{}"
		}
		row := []any{c.Account, c.Type, c.Key, c.Name, attributes, micros(c.CreatedAt), micros(c.UpdatedAt), searchable(c.Key, c.Name)}
		if c.Attributes == nil {
			bare = append(bare, row)
		} else {
			described = append(described, row)
		}
	}
	const insert, conflict = `INSERT INTO contexts (` + contextColumns + `, search) VALUES`, `ON CONFLICT (account_id, context_type, key)`
	if err := tx.insertsNew(ctx, contexts[0].Account, storedContexts, insert, conflict, "", bare); err != nil {
		return err
	}
	return tx.insertsNew(ctx, contexts[0].Account, storedContexts, insert, conflict,
		`DO UPDATE SET attributes = excluded.attributes, updated_at = excluded.updated_at WHERE contexts.attributes <> excluded.attributes`, described)
}

// UpdateContext writes the fields of a context that may change.
func (tx *Tx) UpdateContext(ctx context.Context, c observations.Context) error {
	return tx.run(ctx, `UPDATE contexts SET name = $4, updated_at = $5, search = $6 WHERE account_id = $1 AND context_type = $2 AND key = $3`,
		c.Account, c.Type, c.Key, c.Name, micros(c.UpdatedAt), searchable(c.Key, c.Name))
}

// DeleteContext removes a context.
func (tx *Tx) DeleteContext(ctx context.Context, account, typeKey, key string) error {
	return tx.removes(ctx, account, storedContexts, `DELETE FROM contexts WHERE account_id = $1 AND context_type = $2 AND key = $3`, typeKey, key)
}
