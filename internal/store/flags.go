package store

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/page"
)

// Flags is the store as package flags asks for it.
func (db *DB) Flags() Transactions[flags.ReadTx, flags.Tx] {
	return NewTransactions(db,
		func(tx *ReadTx) flags.ReadTx { return tx },
		func(tx *Tx) flags.Tx { return tx })
}

// flagColumns reads a flag together with when it was last declared.
const flagColumns = `account_id, key, name, description, type, base, choices, managed, environments,
	(SELECT max(last_seen) FROM flag_sources s WHERE s.account_id = flags.account_id AND s.flag = flags.key),
	last_evaluated, created_at, updated_at`

func scanFlag(r row) (flags.Flag, error) {
	var flag flags.Flag
	var base, environments string
	var choices *string
	var seen, evaluated *int64
	var created, updated int64
	if err := r.Scan(&flag.Account, &flag.Key, &flag.Name, &flag.Description, &flag.Type, &base, &choices, &flag.Managed,
		&environments, &seen, &evaluated, &created, &updated); err != nil {
		return flag, err
	}
	flag.Default = json.RawMessage(base)
	flag.LastSeen, flag.LastEvaluated = instantOrNil(seen), instantOrNil(evaluated)
	flag.CreatedAt, flag.UpdatedAt = instant(created), instant(updated)
	if choices != nil {
		if err := decode(*choices, &flag.Values); err != nil {
			return flag, err
		}
	}
	return flag, decodeEnvironments(environments, &flag)
}

// decodeEnvironments reads the configuration; a default of null is none.
func decodeEnvironments(text string, flag *flags.Flag) error {
	if err := decode(text, &flag.Environments); err != nil {
		return err
	}
	for key, environment := range flag.Environments {
		if string(environment.Default) == "null" {
			environment.Default = nil
			flag.Environments[key] = environment
		}
	}
	return nil
}

// Flag gives a flag of an account.
func (tx *ReadTx) Flag(ctx context.Context, account, key string) (flags.Flag, error) {
	return one(ctx, tx.conn, fault.Missing("flag", key), scanFlag,
		`SELECT `+flagColumns+` FROM flags WHERE account_id = $1 AND key = $2 AND deleted_at IS NULL`, account, key)
}

// Flags lists the flags of an account.
func (tx *ReadTx) Flags(ctx context.Context, account string, filter flags.Filter, request page.Request) (page.List[flags.Flag], error) {
	found := &list{columns: flagColumns, table: "flags", byDefault: "key", tie: "key",
		sorts: map[string]string{"key": "key", "name": "name", "type": "type", "created_at": "created_at", "updated_at": "updated_at"}}
	found.where("account_id = ?", account)
	found.where("deleted_at IS NULL")
	found.search(filter.Search)
	if filter.Type != "" {
		found.where("type = ?", filter.Type)
	}
	if managed, sent := filter.Managed.Get(); sent {
		found.where("managed = ?", managed)
	}
	for _, reference := range filter.References {
		found.where(`EXISTS (SELECT 1 FROM flag_references r WHERE r.account_id = flags.account_id AND r.flag = flags.key
			AND r.context_type = ? AND r.context_key = ?)`, reference.ContextType, reference.ContextKey)
	}
	return pageOf(ctx, tx, found, request, scanFlag)
}

// FlagsByKey gives those of the named flags that exist; nil names all.
func (tx *ReadTx) FlagsByKey(ctx context.Context, account string, keys []string) ([]flags.Flag, error) {
	if keys == nil {
		return all(ctx, tx.conn, scanFlag, `SELECT `+flagColumns+` FROM flags WHERE account_id = $1 AND deleted_at IS NULL`, account)
	}
	return among(ctx, tx, scanFlag, `SELECT `+flagColumns+` FROM flags WHERE account_id = $1 AND deleted_at IS NULL AND key `, account, keys)
}

// ExistingFlags tells which of the named flags exist.
func (tx *ReadTx) ExistingFlags(ctx context.Context, account string, keys []string) ([]string, error) {
	return among(ctx, tx, scanString, `SELECT key FROM flags WHERE account_id = $1 AND deleted_at IS NULL AND key `, account, keys)
}

// FlagsWithEnvironment gives the flags that have a configuration for an
// environment.
func (tx *ReadTx) FlagsWithEnvironment(ctx context.Context, account, environment string) ([]flags.Flag, error) {
	found, err := all(ctx, tx.conn, scanFlag, `SELECT `+flagColumns+` FROM flags
		WHERE account_id = $1 AND deleted_at IS NULL AND environments LIKE $2 ESCAPE '\' ORDER BY key`, account, mentions(environment))
	return slices.DeleteFunc(found, func(flag flags.Flag) bool {
		_, has := flag.Environments[environment]
		return !has
	}), err
}

// CountFlags counts the flags of an account, managed or not.
func (tx *ReadTx) CountFlags(ctx context.Context, account string) (int, error) {
	return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM flags WHERE account_id = $1 AND deleted_at IS NULL`, account)
}

// LargeFlagBytes is what the flags of an account with more than some bytes take
// together. Both databases tell the length of a text without reading it.
func (tx *ReadTx) LargeFlagBytes(ctx context.Context, account string, from int) (int, error) {
	return scalar(ctx, tx.conn, scanInt, `SELECT coalesce(sum(bytes), 0) FROM
		(SELECT octet_length(base) + coalesce(octet_length(choices), 0) + octet_length(environments) AS bytes
		FROM flags WHERE account_id = $1 AND deleted_at IS NULL) AS sizes WHERE bytes > $2`, account, from)
}

const insertFlag = `INSERT INTO flags (account_id, key, name, description, type, base, choices, managed, environments, search,
	last_evaluated, created_at, updated_at) VALUES`

// overwriteFlag leaves last_evaluated of a live flag alone: it is noted beside
// the account's lock and may be newer than what the writer has read.
const overwriteFlag = `ON CONFLICT (account_id, key) DO UPDATE SET name = excluded.name, description = excluded.description,
	type = excluded.type, base = excluded.base, choices = excluded.choices, managed = excluded.managed,
	environments = excluded.environments, search = excluded.search,
	last_evaluated = CASE WHEN flags.deleted_at IS NULL THEN flags.last_evaluated ELSE excluded.last_evaluated END,
	created_at = excluded.created_at, updated_at = excluded.updated_at, deleted_at = NULL`

func flagRow(f flags.Flag) ([]any, error) {
	environments, err := encode(f.Environments)
	if err != nil {
		return nil, err
	}
	var choices *string
	if f.Values != nil {
		text, err := encode(f.Values)
		if err != nil {
			return nil, err
		}
		choices = &text
	}
	return []any{f.Account, f.Key, f.Name, f.Description, string(f.Type), string(f.Default), choices, f.Managed, environments,
		searchable(f.Key, f.Name), microsOrNull(f.LastEvaluated), micros(f.CreatedAt), micros(f.UpdatedAt)}, nil
}

// SaveFlag writes a flag, new or not, together with what its rules refer to.
func (tx *Tx) SaveFlag(ctx context.Context, flag flags.Flag, references []flags.Reference) error {
	if err := tx.SaveFlags(ctx, []flags.Flag{flag}); err != nil {
		return err
	}
	return tx.SetFlagReferences(ctx, flag.Account, map[string][]flags.Reference{flag.Key: references})
}

// SaveFlags writes flags, new or not, over deleted ones of their keys if there
// are any. What their rules refer to stays as it is.
func (tx *Tx) SaveFlags(ctx context.Context, saved []flags.Flag) error {
	rows := make([][]any, len(saved))
	for i, flag := range saved {
		var err error
		if rows[i], err = flagRow(flag); err != nil {
			return err
		}
	}
	return inserts(ctx, tx, insertFlag, overwriteFlag, rows)
}

// SetFlagReferences replaces what the rules of some flags refer to.
func (tx *Tx) SetFlagReferences(ctx context.Context, account string, references map[string][]flags.Reference) error {
	var keys, rows [][]any
	for _, key := range slices.Sorted(maps.Keys(references)) {
		keys = append(keys, []any{account, key})
		for _, reference := range references[key] {
			rows = append(rows, []any{account, reference.ContextType, reference.ContextKey, key})
		}
	}
	// A list of texts would be compared with every reference of the account: with
	// few statistics PostgreSQL finds those by the account alone.
	for chunk := range tx.dialect.pieces(keys) {
		values, args := tx.dialect.rowsOf([]string{"text", "text"}, chunk)
		if err := tx.run(ctx, `DELETE FROM flag_references WHERE (account_id, flag) IN (SELECT v.column1, v.column2 FROM `+values+`)`, args...); err != nil {
			return err
		}
	}
	return inserts(ctx, tx, `INSERT INTO flag_references (account_id, context_type, context_key, flag) VALUES`, `ON CONFLICT DO NOTHING`, rows)
}

// DeleteFlag marks a flag deleted and forgets what belonged to it.
func (tx *Tx) DeleteFlag(ctx context.Context, account, key string, at time.Time) error {
	for _, table := range []string{"flag_references", "flag_sources"} {
		if err := tx.run(ctx, `DELETE FROM `+table+` WHERE account_id = $1 AND flag = $2`, account, key); err != nil {
			return err
		}
	}
	return tx.run(ctx, `UPDATE flags SET deleted_at = $3 WHERE account_id = $1 AND key = $2`, account, key, micros(at))
}
