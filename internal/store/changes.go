package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
)

const changeColumns = `account_id, seq, kind, key, action, actor_type, actor_id, actor_name, before, after, created_at`

func scanChange(r row) (changes.Change, error) {
	var change changes.Change
	var before, after *string
	var created int64
	err := r.Scan(&change.Account, &change.Seq, &change.Kind, &change.Key, &change.Action,
		&change.Actor.Type, &change.Actor.ID, &change.Actor.Name, &before, &after, &created)
	change.Before, change.After, change.CreatedAt = rawOrNil(before), rawOrNil(after), instant(created)
	return change, err
}

// RecordChanges appends changes to an account's history, in their order.
// Numbering them takes the account's lock until the commit, so numbers become
// visible in order. However many there are, the account's row is written once:
// PostgreSQL keeps each version of it until the commit, and looks through them.
func (tx *Tx) RecordChanges(ctx context.Context, account string, made ...changes.Change) error {
	if len(made) == 0 {
		return nil
	}
	last, err := one(ctx, tx.conn, fault.Missing("account", account), scanInt,
		`UPDATE accounts SET change_seq = change_seq + $2 WHERE id = $1 RETURNING change_seq`, account, len(made))
	if err != nil {
		return fmt.Errorf("numbering changes: %w", err)
	}
	rows := make([][]any, len(made))
	for i, c := range made {
		rows[i] = []any{account, last - len(made) + 1 + i, c.Kind, c.Key, string(c.Action), c.Actor.Type, c.Actor.ID, c.Actor.Name,
			textOrNull(c.Before), textOrNull(c.After), micros(tx.now)}
	}
	tx.changed = true
	return inserts(ctx, tx, `INSERT INTO changes (`+changeColumns+`) VALUES`, "", rows)
}

// Change gives one change of an account by its number.
func (tx *ReadTx) Change(ctx context.Context, account string, seq int64) (changes.Change, error) {
	return one(ctx, tx.conn, fault.Missing("change", strconv.FormatInt(seq, 10)), scanChange,
		`SELECT `+changeColumns+` FROM changes WHERE account_id = $1 AND seq = $2`, account, seq)
}

// Changes gives an account's history before a number (0: from the end),
// newest first.
func (tx *ReadTx) Changes(ctx context.Context, account string, filter changes.Filter, before int64, size int) (page.Tail[changes.Change], error) {
	history := &list{columns: changeColumns, table: "changes"}
	history.where("account_id = ?", account)
	if before > 0 {
		history.where("seq < ?", before)
	}
	if filter.Kind != "" {
		history.where("kind = ? AND key = ?", filter.Kind, filter.Key)
	}
	if filter.ActorID != "" {
		history.where("actor_id = ?", filter.ActorID)
	}
	if !filter.From.IsZero() {
		history.where("created_at >= ?", micros(filter.From))
	}
	if !filter.To.IsZero() {
		history.where("created_at < ?", micros(filter.To))
	}
	query := fmt.Sprintf("SELECT %s%s ORDER BY seq DESC LIMIT $%d", history.columns, history.from(), len(history.args)+1)
	found, cut, err := some(ctx, tx.conn, scanChange, withinBudget(), query, append(history.args, size+1)...)
	tail := page.Cut(found, size)
	tail.More = tail.More || cut
	return tail, err
}

// maxChangesBytes bounds the documents that are read of the history at once.
const maxChangesBytes = 8 << 20

// withinBudget keeps changes until their documents are too large together; the
// first is always kept.
func withinBudget() func(changes.Change) bool {
	total := 0
	return func(change changes.Change) bool {
		first := total == 0
		total += 1 + len(change.Before) + len(change.After)
		return first || total <= maxChangesBytes
	}
}

// Heads gives the number of every account's last change.
func (db *DB) Heads(ctx context.Context) (map[string]int64, error) {
	return db.heads(ctx, forDecisions)
}

func (db *DB) heads(ctx context.Context, via priority) (map[string]int64, error) {
	heads := map[string]int64{}
	err := db.read(ctx, via, db.engine.read, func(tx *ReadTx) error {
		_, err := all(ctx, tx.conn, func(r row) (string, error) {
			var account string
			var seq int64
			err := r.Scan(&account, &seq)
			heads[account] = seq
			return account, err
		}, `SELECT id, change_seq FROM accounts`)
		return err
	})
	return heads, err
}

// After gives an account's changes after a number, whole, oldest first: up to
// limit, or fewer when they are large.
func (db *DB) After(ctx context.Context, account string, seq int64, limit int) (found []changes.Change, err error) {
	err = db.Read(ctx, func(tx *ReadTx) error {
		found, _, err = some(ctx, tx.conn, scanChange, withinBudget(),
			`SELECT `+changeColumns+` FROM changes WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`, account, seq, limit)
		return err
	})
	return found, err
}

// FeedSource is where the change feed reads: the history, through the
// connections of the node's own loops.
type FeedSource struct{ db *DB }

// FeedSource gives the change feed its source.
func (db *DB) FeedSource() FeedSource { return FeedSource{db} }

// Heads is DB.Heads for the feed.
func (s FeedSource) Heads(ctx context.Context) (map[string]int64, error) {
	return s.db.heads(ctx, forLoops)
}

// EventsAfter is DB.EventsAfter for the feed.
func (s FeedSource) EventsAfter(ctx context.Context, account string, seq int64, limit int) ([]changes.Change, error) {
	return s.db.eventsAfter(ctx, forLoops, account, seq, limit)
}

// History reads recorded changes, outside any transaction.
type History struct{ db *DB }

// History is the store as readers of the history ask for it.
func (db *DB) History() History { return History{db} }

// Change gives one change of an account by its number.
func (h History) Change(ctx context.Context, account string, seq int64) (change changes.Change, err error) {
	err = h.db.Read(ctx, func(tx *ReadTx) error {
		change, err = tx.Change(ctx, account, seq)
		return err
	})
	return change, err
}

// Changes gives an account's history before a number (0: from the end),
// newest first.
func (h History) Changes(ctx context.Context, account string, filter changes.Filter, before int64, size int) (tail page.Tail[changes.Change], err error) {
	err = h.db.Read(ctx, func(tx *ReadTx) error {
		tail, err = tx.Changes(ctx, account, filter, before, size)
		return err
	})
	return tail, err
}

// EventsAfter gives what hearers of an account's changes after a number need,
// oldest first: up to limit, or fewer when they are large. Of the documents
// these are a key's, which tells whether it works, and that of a logger which
// running services are told of, because it has the level.
func (db *DB) EventsAfter(ctx context.Context, account string, seq int64, limit int) ([]changes.Change, error) {
	return db.eventsAfter(ctx, forDecisions, account, seq, limit)
}

func (db *DB) eventsAfter(ctx context.Context, via priority, account string, seq int64, limit int) (found []changes.Change, err error) {
	scan := func(r row) (changes.Change, error) {
		change := changes.Change{Account: account}
		var after *string
		var created int64
		err := r.Scan(&change.Seq, &change.Kind, &change.Key, &change.Action, &after, &created)
		change.After, change.CreatedAt = rawOrNil(after), instant(created)
		return change, err
	}
	err = db.read(ctx, via, db.engine.read, func(tx *ReadTx) error {
		found, _, err = some(ctx, tx.conn, scan, withinBudget(),
			`SELECT seq, kind, key, action, CASE WHEN kind = 'api_key' OR kind = 'logger' AND key <> $1 AND action <> $2 THEN after END, created_at
			FROM changes WHERE account_id = $3 AND seq > $4 ORDER BY seq LIMIT $5`,
			changes.AllKeys, string(changes.Cascaded), account, seq, limit)
		return err
	})
	return found, err
}

// ChangedKinds tells which of the kinds an account has changes of since an
// instant. Each is a question of its own, so that a busy hour is read only
// until the first change of the kind.
func (db *DB) ChangedKinds(ctx context.Context, account string, since time.Time, kinds ...string) (found []string, err error) {
	questions, args := make([]string, len(kinds)), []any{account, micros(since)}
	for i, kind := range kinds {
		args = append(args, kind)
		questions[i] = fmt.Sprintf(`SELECT CAST($%[1]d AS TEXT) WHERE EXISTS (
			SELECT 1 FROM changes WHERE account_id = $1 AND created_at >= $2 AND kind = $%[1]d)`, len(args))
	}
	err = db.Read(ctx, func(tx *ReadTx) error {
		found, err = all(ctx, tx.conn, scanString, strings.Join(questions, " UNION ALL "), args...)
		return err
	})
	return found, err
}
