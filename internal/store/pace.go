package store

import (
	"context"
	"time"

	"github.com/google/uuid"
)

const (
	// retentionGap is how long retention may pause before it has to catch up.
	retentionGap = 48 * time.Hour
	// catchUp is how long the pace is limited after a gap. On the first day, accounts with many old rows keep all of them.
	catchUp = 7 * 24 * time.Hour
	day     = 24 * time.Hour
	// smallShare is the percentage of an account's rows that may be removed in a day of catching up.
	smallShare = 5
	// clockLeeway is how far ahead a bound may have been made. A bound that is further ahead was made by a wrong clock.
	clockLeeway = time.Hour
	// maxCounted bounds how many rows are counted to know the share: counting tens of millions takes too long.
	maxCounted = 1_000_000
)

// Pace limits what retention removes in the week after it did not run for 48 hours. A clock that is far ahead looks like
// such a gap, and would make retention remove everything. See docs/decisions/0040-clocks.md. A nil Pace limits nothing.
type Pace struct {
	db *DB
	at time.Time
	// Until is when the limit ends.
	Until time.Time
	// Limited reports whether rows of an account that are past their retention were kept because of the limit.
	Limited bool
	waiting bool // it is the first day
}

// BeginRetention records that retention runs at an instant, and returns the pace that it has to keep.
func (db *DB) BeginRetention(ctx context.Context, at time.Time) (pace *Pace, err error) {
	err = db.write(ctx, writeOptions{priority: forObservations}, func(ctx context.Context, tx *Tx) error {
		pace = nil
		since, err := tx.catchingUpSince(ctx, at)
		if err != nil {
			return err
		}
		if since != nil {
			pace = &Pace{db: db, at: at, Until: since.Add(catchUp), waiting: at.Sub(*since) < day}
		}
		return tx.setMark(ctx, retentionMark, at)
	})
	return pace, err
}

// catchingUpSince returns when retention began to catch up after a gap; nil if it has nothing to catch up.
func (tx *Tx) catchingUpSince(ctx context.Context, at time.Time) (*time.Time, error) {
	last, err := tx.mark(ctx, retentionMark)
	if err != nil {
		return nil, err
	}
	if last == nil || at.Sub(*last) > retentionGap {
		if err := tx.run(ctx, `DELETE FROM retention_bounds`); err != nil {
			return nil, err
		}
		return &at, tx.setMark(ctx, catchingUpMark, at)
	}
	since, err := tx.mark(ctx, catchingUpMark)
	switch {
	case err != nil || since == nil:
		return nil, err
	case at.Sub(*since) >= catchUp:
		return nil, tx.removeMark(ctx, catchingUpMark)
	case since.After(at): // the clock was ahead and came back
		return &at, tx.setMark(ctx, catchingUpMark, at)
	}
	return since, nil
}

// CatchingUp returns when the limit on retention ends; nil if the limit keeps no rows. See Pace.
func (db *DB) CatchingUp(ctx context.Context) (*time.Time, error) {
	return fetch(ctx, db, forObservations, func(ctx context.Context, tx *ReadTx) (*time.Time, error) {
		var bounded int
		since, err := tx.mark(ctx, catchingUpMark)
		if err == nil {
			bounded, err = scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM retention_bounds WHERE account_id <> '' AND keeps_from IS NOT NULL`)
		}
		if err != nil || since == nil || bounded == 0 {
			return nil, err
		}
		return new(since.Add(catchUp)), nil
	})
}

// agingRows are rows of one account, or of all accounts, with a column that tells their age.
type agingRows struct {
	kind   string
	from   string // the table and a condition on the account, $1
	column string
	scan   func(row) (time.Time, error) // the column
	bound  func(time.Time) any          // the column's value at an instant; only of rows that removeAged removes
}

// inAccount is the condition of agingRows that have an account.
const inAccount = `account_id = $1`

// atMicros and atID return the value of a column that is an instant, and of one whose ids begin with an instant.
func atMicros(at time.Time) any { return micros(at) }

func atID(at time.Time) any { return firstID(at) }

// limit returns the instant before which rows of an account, or of all accounts for "", may be removed. It is not
// later than the argument before.
func (p *Pace) limit(ctx context.Context, account string, rows agingRows, before time.Time) (time.Time, error) {
	if p == nil {
		return before, nil
	}
	known, err := p.bound(ctx, account, rows.kind)
	if err == nil && (known == nil || known.stale(p.at)) {
		known, err = p.newBound(ctx, account, rows, before, known)
	}
	if err != nil || known.keepsFrom == nil || !known.keepsFrom.Before(before) {
		return before, err
	}
	p.Limited = p.Limited || account != "" // sessions and links of all accounts may well end during a gap
	return *known.keepsFrom, nil
}

// bound keeps rows from the instant keepsFrom on, despite their age; nil keeps none.
type bound struct {
	keepsFrom *time.Time
	madeAt    time.Time
}

// stale reports whether a bound has to be replaced. A bound that keeps nothing is never stale.
func (b *bound) stale(at time.Time) bool {
	age := at.Sub(b.madeAt)
	return b.keepsFrom != nil && (age >= day || age < -clockLeeway)
}

func (p *Pace) bound(ctx context.Context, account, kind string) (*bound, error) {
	return fetch(ctx, p.db, forObservations, func(ctx context.Context, tx *ReadTx) (*bound, error) {
		found, err := all(ctx, tx.conn, func(r row) (b bound, err error) {
			err = r.Scan(asTimeOrNull(&b.keepsFrom), asTime(&b.madeAt))
			return b, err
		}, `SELECT keeps_from, made_at FROM retention_bounds WHERE account_id = $1 AND kind = $2`, account, kind)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return &found[0], nil
	})
}

// newBound replaces a stale bound, unless another node has done so, and returns the stored bound.
func (p *Pace) newBound(ctx context.Context, account string, rows agingRows, before time.Time, stale *bound) (*bound, error) {
	keepsFrom, err := p.keepsFrom(ctx, account, rows, before)
	if err != nil {
		return nil, err
	}
	replaced := int64(0)
	if stale != nil {
		replaced = micros(stale.madeAt)
	}
	err = p.db.write(ctx, writeOptions{priority: forObservations}, func(ctx context.Context, tx *Tx) error {
		return tx.run(ctx, `INSERT INTO retention_bounds (account_id, kind, keeps_from, made_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account_id, kind) DO UPDATE SET keeps_from = excluded.keeps_from, made_at = excluded.made_at
			WHERE retention_bounds.made_at = $5`, account, rows.kind, microsOrNull(keepsFrom), micros(p.at), replaced)
	})
	if err != nil {
		return nil, err
	}
	return p.bound(ctx, account, rows.kind)
}

// keepNothing stores bounds that keep nothing, for accounts that have no bound or a stale one. The condition selects accounts without
// old rows; its argument is $1.
func (p *Pace) keepNothing(ctx context.Context, kind, condition string, arg any) error {
	return p.db.write(ctx, writeOptions{priority: forObservations}, func(ctx context.Context, tx *Tx) error {
		return tx.run(ctx, `INSERT INTO retention_bounds (account_id, kind, keeps_from, made_at)
			SELECT id, CAST($2 AS text), NULL, CAST($3 AS bigint) FROM accounts WHERE `+condition+`
			ON CONFLICT (account_id, kind) DO UPDATE SET keeps_from = NULL, made_at = excluded.made_at
			WHERE retention_bounds.keeps_from IS NOT NULL AND (retention_bounds.made_at <= $4 OR retention_bounds.made_at > $5)`,
			arg, kind, micros(p.at), micros(p.at.Add(-day)), micros(p.at.Add(clockLeeway)))
	})
}

// keepsFrom returns the instant from which on rows are kept today; nil when the rows older than before are a small share.
func (p *Pace) keepsFrom(ctx context.Context, account string, rows agingRows, before time.Time) (*time.Time, error) {
	return fetch(ctx, p.db, forObservations, func(ctx context.Context, tx *ReadTx) (*time.Time, error) {
		total, err := scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM (SELECT 1 FROM `+rows.from+` LIMIT $2) AS counted`, account, maxCounted)
		if err != nil {
			return nil, err
		}
		first, err := all(ctx, tx.conn, rows.scan, `SELECT `+rows.column+` FROM `+rows.from+` ORDER BY `+rows.column+` LIMIT 1 OFFSET $2`,
			account, total*smallShare/100)
		switch {
		case err != nil || len(first) == 0 || !first[0].Before(before):
			return nil, err
		case p.waiting:
			return new(time.UnixMicro(0)), nil
		}
		return &first[0], nil
	})
}

// scanIDTime reads the instant that an id begins with.
func scanIDTime(r row) (time.Time, error) {
	text, err := scanString(r)
	if err != nil {
		return time.Time{}, err
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return time.Time{}, err
	}
	millis := int64(0)
	for _, part := range id[:6] {
		millis = millis<<8 | int64(part)
	}
	return time.UnixMilli(millis), nil
}
