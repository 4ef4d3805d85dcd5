package store

import (
	"context"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/page"
)

// Flags returns the transactions of package flags.
func (db *DB) Flags() Transactions[flags.ReadTx, flags.Tx] {
	return NewTransactions(db, func(tx *ReadTx) flags.ReadTx { return tx }, func(tx *Tx) flags.Tx { return tx })
}

// Deleting a flag removes its row. Nodes of an older version, which may still run, set deleted_at instead.

// flagColumns has the columns of a flag, and the time it was last declared.
const flagColumns = `account_id, key, name, description, type, base, choices, managed, environments,
	(SELECT max(last_seen) FROM flag_sources s WHERE s.account_id = flags.account_id AND s.flag = flags.key),
	last_evaluated, created_at, updated_at`

func scanFlag(r row) (f flags.Flag, err error) {
	err = r.Scan(&f.Account, &f.Key, &f.Name, &f.Description, &f.Type, rawJSON(&f.Default), asJSON(&f.Values), &f.Managed,
		asJSON(&f.Environments), asTimeOrNull(&f.LastSeen), asTimeOrNull(&f.LastEvaluated), asTime(&f.CreatedAt), asTime(&f.UpdatedAt))
	for key, environment := range f.Environments {
		if string(environment.Default) == "null" { // there is none
			environment.Default = nil
			f.Environments[key] = environment
		}
	}
	return f, err
}

// Flag returns a flag of an account.
func (tx *ReadTx) Flag(ctx context.Context, account, key string) (flags.Flag, error) {
	return one(ctx, tx.conn, fault.Missing("flag", key), scanFlag,
		`SELECT `+flagColumns+` FROM flags WHERE account_id = $1 AND key = $2 AND deleted_at IS NULL`, account, key)
}

// Flags lists the flags of an account.
func (tx *ReadTx) Flags(ctx context.Context, account string, filter flags.Filter, request page.Request) (page.List[flags.Flag], error) {
	found := list{columns: flagColumns, table: "flags", byDefault: "key", tie: "key",
		sorts: sorts("key", "name", "type", "created_at", "updated_at", "last_evaluated")}.of(account)
	found.where("deleted_at IS NULL")
	found.search(filter.Search)
	found.equals("type", filter.Type)
	found.is("managed", filter.Managed)
	for _, reference := range filter.References {
		found.where(`EXISTS (SELECT 1 FROM flag_references r WHERE r.account_id = flags.account_id AND r.flag = flags.key
			AND r.context_type = ? AND r.context_key = ?)`, reference.ContextType, reference.ContextKey)
	}
	if stale, asked := filter.Stale.Get(); asked {
		return staleFlags(ctx, tx, found, stale, filter.StaleRule, request)
	}
	return pageOf(ctx, tx, found, request, scanFlag)
}

// staleFlags returns a page of the flags that are stale, or of those that are not. SQL leaves out flags that cannot be stale. The rule
// is applied in Go, because the databases compare JSON values differently.
func staleFlags(ctx context.Context, tx *ReadTx, found *list, stale bool, rule flags.StaleRule, request page.Request) (page.List[flags.Flag], error) {
	if stale {
		found.where(`managed = TRUE AND (updated_at < ? OR coalesce(last_evaluated, created_at) < ?)`,
			micros(rule.UnchangedSince), micros(rule.IdleSince))
	}
	order, err := found.orderBy(request.Sort)
	if err != nil {
		return page.List[flags.Flag]{}, err
	}
	var wanted page.List[flags.Flag]
	_, err = all(ctx, tx.conn, func(r row) (struct{}, error) {
		flag, err := scanFlag(r)
		if flag.Stale = rule.Of(flag); err != nil || (flag.Stale != nil) != stale {
			return struct{}{}, err
		}
		if wanted.Total++; wanted.Total > request.Offset() && len(wanted.Items) < request.Size {
			wanted.Items = append(wanted.Items, flag)
		}
		return struct{}{}, nil
	}, `SELECT `+found.columns+found.from()+` ORDER BY `+order, found.args...)
	if !request.Total {
		wanted.Total = 0
	}
	return wanted, err
}

// FlagsByKey returns the existing flags among keys; nil keys mean all flags.
func (tx *ReadTx) FlagsByKey(ctx context.Context, account string, keys []string) ([]flags.Flag, error) {
	if keys == nil {
		return all(ctx, tx.conn, scanFlag, `SELECT `+flagColumns+` FROM flags WHERE account_id = $1 AND deleted_at IS NULL`, account)
	}
	return byKeys(ctx, tx, scanFlag, flagColumns, "flags", "deleted_at IS NULL", account, keys)
}

// ExistingFlags returns which of the named flags exist.
func (tx *ReadTx) ExistingFlags(ctx context.Context, account string, keys []string) ([]string, error) {
	return byKeys(ctx, tx, scanString, "key", "flags", "deleted_at IS NULL", account, keys)
}

// FlagsWithEnvironment returns the flags that have a configuration for an environment.
func (tx *ReadTx) FlagsWithEnvironment(ctx context.Context, account, environment string) ([]flags.Flag, error) {
	return withEnvironment(ctx, tx, scanFlag, `SELECT `+flagColumns+` FROM flags WHERE account_id = $1 AND deleted_at IS NULL`, account, environment,
		func(f flags.Flag) map[string]flags.Environment { return f.Environments })
}

// CountFlags counts the flags of an account, managed or not.
func (tx *ReadTx) CountFlags(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, storedFlags)
}

// LargeFlagBytes returns the total size of the flags that are larger than flags.SmallBytes.
func (tx *ReadTx) LargeFlagBytes(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, largeFlagBytes)
}

const insertFlag = `INSERT INTO flags (account_id, key, name, description, type, base, choices, managed, environments, search,
	last_evaluated, created_at, updated_at) VALUES`

// overwriteFlag keeps last_evaluated of a live flag: it is written without the account's lock and may be newer.
const overwriteFlag = `ON CONFLICT (account_id, key) DO UPDATE SET name = excluded.name, description = excluded.description,
	type = excluded.type, base = excluded.base, choices = excluded.choices, managed = excluded.managed,
	environments = excluded.environments, search = excluded.search,
	last_evaluated = CASE WHEN flags.deleted_at IS NULL THEN flags.last_evaluated ELSE excluded.last_evaluated END,
	created_at = excluded.created_at, updated_at = excluded.updated_at, deleted_at = NULL`

// SaveFlag inserts or overwrites a flag and the references of its rules.
func (tx *Tx) SaveFlag(ctx context.Context, flag flags.Flag, references []flags.Reference) error {
	if err := tx.SaveFlags(ctx, []flags.Flag{flag}); err != nil {
		return err
	}
	return tx.SetFlagReferences(ctx, flag.Account, map[string][]flags.Reference{flag.Key: references})
}

// SaveFlags inserts or overwrites flags of one account, also rows marked deleted. References stay as they are.
func (tx *Tx) SaveFlags(ctx context.Context, saved []flags.Flag) error {
	if len(saved) == 0 {
		return nil
	}
	keys := make([]string, len(saved))
	for i, flag := range saved {
		keys[i] = flag.Key
	}
	rows, _, err := flagRows(saved)
	if err != nil {
		return err
	}
	return tx.counting(ctx, countedFlags(), saved[0].Account, keys, func() error { return inserts(ctx, tx, insertFlag, overwriteFlag, rows) })
}

// CreateFlags inserts new flags of one account.
func (tx *Tx) CreateFlags(ctx context.Context, created []flags.Flag) error {
	rows, more, err := flagRows(created)
	if err != nil || len(created) == 0 {
		return err
	}
	return tx.creates(ctx, created[0].Account, insertFlag, overwriteFlag, rows, more)
}

// flagRows returns the rows of flags, and the amounts that they add to totals.
func flagRows(stored []flags.Flag) (rows [][]any, more map[total]int, err error) {
	rows, more = make([][]any, len(stored)), map[total]int{storedFlags: len(stored)}
	for i, f := range stored {
		environments, err := encode(f.Environments)
		if err != nil {
			return nil, nil, err
		}
		choices := ""
		if f.Values != nil {
			if choices, err = encode(f.Values); err != nil {
				return nil, nil, err
			}
		}
		if size := len(f.Default) + len(choices) + len(environments); size > flags.SmallBytes {
			more[largeFlagBytes] += size
		}
		rows[i] = []any{f.Account, f.Key, f.Name, f.Description, string(f.Type), string(f.Default), orNull(choices), f.Managed, environments,
			searchable(f.Key, f.Name), microsOrNull(f.LastEvaluated), micros(f.CreatedAt), micros(f.UpdatedAt)}
	}
	return rows, more, nil
}

// SetFlagReferences replaces the references of the rules of some flags.
func (tx *Tx) SetFlagReferences(ctx context.Context, account string, references map[string][]flags.Reference) error {
	var keys, rows [][]any
	for _, key := range slices.Sorted(maps.Keys(references)) {
		keys = append(keys, []any{account, key})
		for _, reference := range references[key] {
			rows = append(rows, []any{account, reference.ContextType, reference.ContextKey, key})
		}
	}
	// Given a list of texts and few statistics, PostgreSQL would read every
	// reference of the account to compare it with the list.
	for chunk := range tx.dialect.pieces(keys) {
		values, args := tx.dialect.rowsOf([]string{"text", "text"}, chunk)
		if err := tx.run(ctx, `DELETE FROM flag_references WHERE (account_id, flag) IN (SELECT v.column1, v.column2 FROM `+values+`)`, args...); err != nil {
			return err
		}
	}
	return inserts(ctx, tx, `INSERT INTO flag_references (account_id, context_type, context_key, flag) VALUES`, `ON CONFLICT DO NOTHING`, rows)
}

// DeleteFlag removes a flag with its references and sources. A flag that is discovered again later is new.
func (tx *Tx) DeleteFlag(ctx context.Context, account, key string) error {
	if err := tx.run(ctx, `DELETE FROM flag_references WHERE account_id = $1 AND flag = $2`, account, key); err != nil {
		return err
	}
	if err := tx.removes(ctx, account, flagSources, `DELETE FROM flag_sources WHERE account_id = $1 AND flag = $2`, key); err != nil {
		return err
	}
	return tx.counting(ctx, countedFlags(), account, []string{key}, func() error {
		return tx.run(ctx, `DELETE FROM flags WHERE account_id = $1 AND key = $2`, account, key)
	})
}
