package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/page"
)

const (
	recordedColumns = `account_id, seq, kind, key, action, actor_type, actor_id, actor_name, before, after, reverts, note, created_at`
	changeColumns   = recordedColumns + `, trimmed`
)

func scanChange(r row) (c changes.Change, err error) {
	err = r.Scan(&c.Account, &c.Seq, &c.Kind, &c.Key, &c.Action, &c.Actor.Type, &c.Actor.ID, &c.Actor.Name,
		rawJSON(&c.Before), rawJSON(&c.After), &c.Reverts, &c.Note, asTime(&c.CreatedAt), &c.Trimmed)
	return c, err
}

// RecordChanges appends changes to an account's history. Numbering them takes the account's lock until the commit. A
// single update numbers and counts all changes, because PostgreSQL keeps every version of the account's row until the
// commit.
func (tx *Tx) RecordChanges(ctx context.Context, account string, made ...changes.Change) error {
	if len(made) == 0 {
		return nil
	}
	access := slices.ContainsFunc(made, func(c changes.Change) bool { return accounts.DecidesAccess(c.Kind) })
	levels := slices.ContainsFunc(made, func(c changes.Change) bool { return c.Kind == logging.Kind || c.Kind == logging.KindGroup })
	history, err := one(ctx, tx.conn, fault.Missing("account", account), scanHistory, `UPDATE accounts SET change_seq = change_seq + $2,
		access_seq = CASE WHEN $3 THEN change_seq + $2 ELSE access_seq END, history_bytes = history_bytes + $4,
		levels_at = CASE WHEN $5 THEN `+nextLevelsAt("$6")+` ELSE levels_at END
		WHERE id = $1 RETURNING change_seq, history_bytes, history_trimmed, webhooks`, account, len(made), access, sizeOf(made), levels, tx.now.Unix())
	if err != nil {
		return fmt.Errorf("numbering changes: %w", err)
	}
	rows, before := make([][]any, len(made)), history.last-int64(len(made))
	for i := range made {
		c := &made[i]
		c.Account, c.Seq, c.CreatedAt = account, before+1+int64(i), tx.now
		rows[i] = []any{account, c.Seq, c.Kind, c.Key, string(c.Action), c.Actor.Type, c.Actor.ID, c.Actor.Name,
			textOrNull(c.Before), textOrNull(c.After), c.Reverts, c.Note, micros(tx.now)}
	}
	tx.changed = true
	if tx.firstChange == 0 {
		tx.firstChange = before + 1
	}
	tx.noteOwnChange(made)
	if access {
		tx.access = 0
	}
	if err := inserts(ctx, tx, `INSERT INTO changes (`+recordedColumns+`) VALUES`, "", rows); err != nil {
		return err
	}
	if history.webhooks > 0 {
		if err := tx.emit(ctx, account, made); err != nil {
			return fmt.Errorf("telling webhooks: %w", err)
		}
	}
	return tx.trimHistory(ctx, account, history, before)
}

// Recorded returns at most limit of the changes that the transaction has recorded, oldest first, and fewer if they are
// large.
func (tx *Tx) Recorded(ctx context.Context, account string, limit int) ([]changes.Change, error) {
	if tx.firstChange == 0 {
		return nil, nil
	}
	return changesAfter(ctx, tx.conn, account, tx.firstChange-1, limit)
}

// noteOwnChange notes the first change that is no consequence of another. Consequences may be recorded before their cause.
func (tx *Tx) noteOwnChange(made []changes.Change) {
	own := slices.IndexFunc(made, func(c changes.Change) bool { return c.Action != changes.Cascaded })
	if tx.ownChange == 0 && own >= 0 {
		tx.ownChange = made[own].Seq
	}
}

// OwnChange returns the number of the first change that the transaction has recorded and that is no consequence of another, or 0.
func (tx *Tx) OwnChange() int64 { return tx.ownChange }

// LastChange returns the number of an account's last change.
func (tx *ReadTx) LastChange(ctx context.Context, account string) (int64, error) {
	seq, err := one(ctx, tx.conn, fault.Missing("account", account), scanInt, `SELECT change_seq FROM accounts WHERE id = $1`, account)
	return int64(seq), err
}

// Change returns one change of an account by its number.
func (tx *ReadTx) Change(ctx context.Context, account string, seq int64) (changes.Change, error) {
	return one(ctx, tx.conn, fault.Missing("change", strconv.FormatInt(seq, 10)), scanChange,
		`SELECT `+changeColumns+` FROM changes WHERE account_id = $1 AND seq = $2`, account, seq)
}

// Changes returns a page of an account's history, newest first: the changes before a number, or the
// newest ones for 0.
func (tx *ReadTx) Changes(ctx context.Context, account string, filter changes.Filter, before int64, size int) (page.Tail[changes.Change], error) {
	history := list{columns: changeColumns, table: "changes", byDefault: "seq DESC"}.of(account)
	if before > 0 {
		history.where("seq < ?", before)
	}
	if filter.Kind != "" {
		history.where("kind = ? AND key = ?", filter.Kind, filter.Key)
	}
	history.equals("actor_id", filter.ActorID)
	history.between("created_at", filter.From, filter.To)
	return tailOf(ctx, tx, history, size, scanChange, changeBytes)
}

func changeBytes(c changes.Change) int { return len(c.Before) + len(c.After) }

// LaterChanges returns the changes of a resource after a number, oldest first, without their documents. A change of
// several resources is included if it is the only record of this resource's change.
func (tx *ReadTx) LaterChanges(ctx context.Context, account, kind, key string, seq int64) ([]changes.Change, error) {
	scan := func(r row) (changes.Change, error) {
		c := changes.Change{Kind: kind}
		err := r.Scan(&c.Seq, &c.Key, &c.Action, &c.Reverts, rawJSON(&c.After))
		return c, err
	}
	quoted, err := json.Marshal(key)
	if err != nil {
		return nil, err
	}
	found, err := all(ctx, tx.conn, scan, `SELECT seq, key, action, reverts, CASE WHEN key = $4 THEN after END FROM changes
		WHERE account_id = $1 AND kind = $2 AND key IN ($3, $4) AND seq > $5 AND (key = $3 OR after LIKE $6 ESCAPE '\') ORDER BY seq`,
		account, kind, key, changes.AllKeys, seq, "%"+escapeLike(string(quoted))+"%")
	return slices.DeleteFunc(found, func(c changes.Change) bool { return c.Key != key && !c.Names(key) }), err
}

// Heads returns the number of every account's last change.
func (db *DB) Heads(ctx context.Context) (map[string]int64, error) { return db.History().Heads(ctx) }

// EventsAfter calls History.EventsAfter with the priority of decisions.
func (db *DB) EventsAfter(ctx context.Context, account string, seq int64, limit int) ([]changes.Change, error) {
	return db.History().EventsAfter(ctx, account, seq, limit)
}

// After returns at most limit of an account's changes after a number, oldest first, and fewer if they are
// large.
func (db *DB) After(ctx context.Context, account string, seq int64, limit int) ([]changes.Change, error) {
	return fetch(ctx, db, forDecisions, func(ctx context.Context, tx *ReadTx) ([]changes.Change, error) {
		return changesAfter(ctx, tx.conn, account, seq, limit)
	})
}

func changesAfter(ctx context.Context, conn querier, account string, seq int64, limit int) ([]changes.Change, error) {
	found, _, err := upTo(ctx, conn, scanChange, maxTailBytes, changeBytes,
		`SELECT `+changeColumns+` FROM changes WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`, account, seq, limit)
	return found, err
}

// History reads recorded changes, each method in a transaction of its own.
type History struct {
	db  *DB
	via priority
}

// History returns a reader of recorded changes with the priority of decisions.
func (db *DB) History() History { return History{db, forDecisions} }

// FeedSource returns a reader of recorded changes for the change feed, with the priority of loops.
func (db *DB) FeedSource() History { return History{db, forLoops} }

// Heads returns the number of every account's last change.
func (h History) Heads(ctx context.Context) (map[string]int64, error) {
	return fetch(ctx, h.db, h.via, func(ctx context.Context, tx *ReadTx) (map[string]int64, error) {
		return mapOf[string, int64](ctx, tx.conn, `SELECT id, change_seq FROM accounts`)
	})
}

// Change is ReadTx.Change.
func (h History) Change(ctx context.Context, account string, seq int64) (changes.Change, error) {
	return fetch(ctx, h.db, h.via, func(ctx context.Context, tx *ReadTx) (changes.Change, error) { return tx.Change(ctx, account, seq) })
}

// Changes is ReadTx.Changes.
func (h History) Changes(ctx context.Context, account string, filter changes.Filter, before int64, size int) (page.Tail[changes.Change], error) {
	return fetch(ctx, h.db, h.via, func(ctx context.Context, tx *ReadTx) (page.Tail[changes.Change], error) {
		return tx.Changes(ctx, account, filter, before, size)
	})
}

// EventsAfter returns the changes after a number for event streams. Of the documents it reads only those of keys, to
// see whether a key still works, and of loggers, to see their levels. Changes whose document was removed are left out;
// a stream that sees the gap tells its client to reload.
func (h History) EventsAfter(ctx context.Context, account string, seq int64, limit int) ([]changes.Change, error) {
	scan := func(r row) (changes.Change, error) {
		c := changes.Change{Account: account}
		err := r.Scan(&c.Seq, &c.Kind, &c.Key, &c.Action, rawJSON(&c.After), asTime(&c.CreatedAt))
		return c, err
	}
	return fetch(ctx, h.db, h.via, func(ctx context.Context, tx *ReadTx) ([]changes.Change, error) {
		found, _, err := upTo(ctx, tx.conn, scan, maxTailBytes, changeBytes,
			`SELECT seq, kind, key, action, CASE WHEN kind = 'api_key' OR kind = 'logger' AND key <> $1 AND action <> $2 THEN after END, created_at
			FROM changes WHERE account_id = $3 AND seq > $4 AND NOT (kind IN ('api_key', 'logger') AND trimmed = TRUE)
			ORDER BY seq LIMIT $5`,
			changes.AllKeys, string(changes.Cascaded), account, seq, limit)
		return found, err
	})
}

// ChangedKinds returns the kinds that have changed since an instant. Each subquery ends at its first change.
func (db *DB) ChangedKinds(ctx context.Context, account string, since time.Time, kinds ...string) ([]string, error) {
	queries, args := make([]string, len(kinds)), []any{account, micros(since)}
	for i, kind := range kinds {
		args = append(args, kind)
		queries[i] = fmt.Sprintf(`SELECT CAST($%[1]d AS TEXT) WHERE EXISTS (
			SELECT 1 FROM changes WHERE account_id = $1 AND created_at >= $2 AND kind = $%[1]d)`, len(args))
	}
	return fetch(ctx, db, forDecisions, func(ctx context.Context, tx *ReadTx) ([]string, error) {
		return all(ctx, tx.conn, scanString, strings.Join(queries, " UNION ALL "), args...)
	})
}
