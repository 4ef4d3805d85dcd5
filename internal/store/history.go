package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
)

// The before and after documents of an account's changes are bounded in bytes. The statement that numbers a change also
// counts its bytes. A write that exceeds the limit removes the oldest documents in its own transaction: so no account can
// write faster than its history is trimmed, and heavy writers do the trimming.

const (
	// trimSpare is how many bytes more than necessary are removed at once, so that small writes at the limit seldom trim.
	trimSpare = 256 << 10
	// maxTrimmedBytes and maxTrimmedChanges bound how long one transaction takes.
	maxTrimmedBytes   = 16 << 20
	maxTrimmedChanges = 4096
)

// documentBytes is SQL for the size of a change's documents.
const documentBytes = `coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)`

// uncountHistory is SQL that subtracts from an account's history bytes. Nodes of an older version may have written changes
// without counting them.
const uncountHistory = `history_bytes = CASE WHEN history_bytes > $2 THEN history_bytes - $2 ELSE 0 END`

// historyState holds the columns of an account about its history.
type historyState struct {
	last    int64 // the number of the last change
	bytes   int64 // of all documents
	trimmed int64 // the number of the last change whose documents are gone

	webhooks int // how many are enabled
}

func scanHistory(r row) (h historyState, err error) {
	err = r.Scan(&h.last, &h.bytes, &h.trimmed, &h.webhooks)
	return h, err
}

// sizeOf returns the size of the documents of changes.
func sizeOf(made []changes.Change) (bytes int64) {
	for _, c := range made {
		bytes += int64(len(c.Before) + len(c.After))
	}
	return bytes
}

// trimHistory removes the oldest documents of an account whose history is above the limit, up to the change with the
// number last. The caller holds the account's lock.
func (tx *Tx) trimHistory(ctx context.Context, account string, now historyState, last int64) error {
	limit := tx.historyLimit
	if limit <= 0 || now.bytes <= limit {
		return nil
	}
	type sized struct {
		seq   int64
		bytes int
	}
	scan := func(r row) (s sized, err error) {
		err = r.Scan(&s.seq, &s.bytes)
		return s, err
	}
	budget := int(min(now.bytes-limit+min(trimSpare, limit/16), maxTrimmedBytes))
	oldest, _, err := upTo(ctx, tx.conn, scan, budget, func(s sized) int { return s.bytes },
		`SELECT seq, `+documentBytes+` FROM changes WHERE account_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4`,
		account, now.trimmed, last, maxTrimmedChanges)
	if err != nil || len(oldest) == 0 {
		return err
	}
	var freed int64
	for _, each := range oldest {
		freed += int64(each.bytes)
	}
	trimmed := oldest[len(oldest)-1].seq
	if err := tx.run(ctx, `UPDATE changes SET before = NULL, after = NULL, trimmed = TRUE WHERE account_id = $1 AND seq > $2 AND seq <= $3`,
		account, now.trimmed, trimmed); err != nil {
		return fmt.Errorf("removing the documents of old changes: %w", err)
	}
	tx.trimmed += len(oldest)
	if err := tx.run(ctx, `UPDATE accounts SET `+uncountHistory+`, history_trimmed = $3 WHERE id = $1`, account, freed, trimmed); err != nil {
		return err
	}
	if now.bytes-limit > maxTrimmedBytes { // the next write goes on
		return nil
	}
	now.bytes, now.trimmed = now.bytes-freed, trimmed
	return tx.trimHistory(ctx, account, now, last) // the batch may have ended before a large document
}

// TrimHistory removes the oldest documents of accounts whose history is above the limit, as after the limit was lowered,
// and returns the number of trimmed changes. Every write does the same for its own account.
func (db *DB) TrimHistory(ctx context.Context) (trimmed int, err error) {
	limit := db.options.HistoryBytes
	if limit <= 0 {
		return 0, nil
	}
	large, err := fetch(ctx, db, forObservations, func(ctx context.Context, tx *ReadTx) ([]string, error) {
		return all(ctx, tx.conn, scanString, `SELECT id FROM accounts WHERE history_bytes > $1`, limit)
	})
	for _, account := range large {
		count, failed := db.trimHistory(ctx, account)
		trimmed += count
		if err = failed; err != nil {
			break
		}
	}
	return trimmed, err
}

// trimHistory removes documents of an account in small transactions until it is below the limit.
func (db *DB) trimHistory(ctx context.Context, account string) (trimmed int, err error) {
	for {
		count := 0
		err := db.write(ctx, writeOptions{priority: forObservations, account: account}, func(ctx context.Context, tx *Tx) error {
			now, err := one(ctx, tx.conn, fault.Missing("account", account), scanHistory,
				`SELECT change_seq, history_bytes, history_trimmed, webhooks FROM accounts WHERE id = $1`, account)
			if err == nil {
				err = tx.trimHistory(ctx, account, now, now.last)
			}
			count = tx.trimmed
			return err
		})
		trimmed += count
		if err != nil || count == 0 {
			return trimmed, err
		}
	}
}

// Bytes returns the total size of the documents of an account's changes, and the limit; -1 means no limit.
func (h History) Bytes(ctx context.Context, account string) (bytes, limit int64, err error) {
	limit = h.db.options.HistoryBytes
	if limit <= 0 {
		limit = -1
	}
	found, err := fetch(ctx, h.db, h.via, func(ctx context.Context, tx *ReadTx) (int, error) {
		return one(ctx, tx.conn, fault.Missing("account", account), scanInt, `SELECT history_bytes FROM accounts WHERE id = $1`, account)
	})
	return int64(found), limit, err
}

// HistorySizes returns the history bytes of all accounts together, and of the account with the most.
func (db *DB) HistorySizes(ctx context.Context) (total, largest int64, err error) {
	found, err := fetch(ctx, db, forObservations, func(ctx context.Context, tx *ReadTx) (sums [2]int64, err error) {
		return scalar(ctx, tx.conn, func(r row) (sums [2]int64, err error) {
			err = r.Scan(&sums[0], &sums[1])
			return sums, err
		}, `SELECT CAST(coalesce(sum(history_bytes), 0) AS bigint), coalesce(max(history_bytes), 0) FROM accounts`)
	})
	return found[0], found[1], err
}

// CorrectHistoryBytes compares the counted history bytes of every account with its rows, and returns the counts that it
// corrected. A count is only wrong if a node of an older version wrote without counting.
func (db *DB) CorrectHistoryBytes(ctx context.Context) (corrected []Correction, err error) {
	heads, err := db.Heads(ctx)
	if err != nil {
		return nil, err
	}
	for _, account := range slices.Sorted(maps.Keys(heads)) {
		each := Correction{Account: account, What: "history bytes"}
		if each, err = db.countHistory(ctx, each); err != nil {
			return corrected, err
		}
		if each.Is == each.Was {
			continue
		}
		if err := db.write(ctx, writeOptions{priority: forObservations, account: account}, func(ctx context.Context, tx *Tx) error {
			return tx.run(ctx, `UPDATE accounts SET history_bytes = history_bytes + $2 WHERE id = $1`, account, each.Is-each.Was)
		}); err != nil {
			return corrected, err
		}
		corrected = append(corrected, each)
	}
	return corrected, nil
}

// countHistory reads the counted bytes and the sum of the rows in one statement, so that the difference is right while
// others write.
func (db *DB) countHistory(ctx context.Context, of Correction) (Correction, error) {
	return fetch(ctx, db, forObservations, func(ctx context.Context, tx *ReadTx) (Correction, error) {
		return one(ctx, tx.conn, fault.Missing("account", of.Account), func(r row) (Correction, error) {
			err := r.Scan(&of.Was, &of.Is)
			return of, err
		}, `SELECT history_bytes, (SELECT `+sumOf(documentBytes)+` FROM changes WHERE account_id = $1) FROM accounts WHERE id = $1`, of.Account)
	})
}
