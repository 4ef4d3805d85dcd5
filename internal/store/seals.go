package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/internal/sealed"
)

// sealCheck is the plaintext of the seal check; it is no secret.
const sealCheck = "signalbox"

// sealedTable is a table with values that are sealed with the key ring: the column sealed of the row with an id.
type sealedTable string

const (
	sealChecks  sealedTable = "seal_checks"
	jobRequests sealedTable = "job_requests"
	requests    sealedTable = "requests"
	webhookRows sealedTable = "webhooks"
)

func sealedTables() []sealedTable {
	return []sealedTable{sealChecks, jobRequests, requests, webhookRows}
}

func (t sealedTable) place(id string) sealed.Place {
	return sealed.Place{Table: string(t), Column: "sealed", Row: id}
}

// sealedValue is one value of a sealed table.
type sealedValue struct {
	id    string
	value []byte
}

func scanSealed(r row) (v sealedValue, err error) {
	err = r.Scan(&v.id, &v.value)
	return v, err
}

// HasSeal reports whether the database holds anything sealed. A database without
// the schema does not.
func (db *DB) HasSeal(ctx context.Context) (bool, error) {
	count, err := fetch(ctx, db, forDecisions, func(ctx context.Context, tx *ReadTx) (int, error) {
		return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM seal_checks`)
	})
	if isMissingTable(err) {
		return false, nil
	}
	return count > 0, err
}

// OpenRing opens a key ring and refuses a ring that cannot decrypt the values of
// the database. The first ring seals a check value, which later rings must open.
// open is told whether that value exists. Nodes that start at once call open one
// after the other, each perhaps several times.
func (db *DB) OpenRing(ctx context.Context, open func(used bool) (*sealed.Ring, error)) (ring *sealed.Ring, err error) {
	err = db.Write(ctx, "", func(ctx context.Context, tx *Tx) error {
		if err := tx.LockSchema(ctx); err != nil {
			return err
		}
		checks, err := all(ctx, tx.conn, scanSealed, `SELECT id, sealed FROM seal_checks WHERE id = 'ring'`)
		if err != nil {
			return err
		}
		if ring, err = open(len(checks) > 0); err != nil {
			return err
		}
		if len(checks) == 0 {
			return tx.sealFirst(ctx, ring)
		}
		hidden, err := ring.Unseal(sealChecks.place(checks[0].id), checks[0].value)
		if err != nil || string(hidden) != sealCheck {
			return errors.Join(errors.New("this key ring does not open what the database holds; start with the ring it was sealed with"), err)
		}
		return nil
	})
	return ring, err
}

// CheckSeal is OpenRing with a ring that is open already.
func (db *DB) CheckSeal(ctx context.Context, ring *sealed.Ring) error {
	_, err := db.OpenRing(ctx, func(bool) (*sealed.Ring, error) { return ring, nil })
	return err
}

func (tx *Tx) sealFirst(ctx context.Context, ring *sealed.Ring) error {
	value, err := ring.Seal(sealChecks.place("ring"), []byte(sealCheck))
	if err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO seal_checks (id, sealed) VALUES ('ring', $1)`, value)
}

// resealLimit and resealBytes bound the values that are read, and then written, in one transaction.
const (
	resealLimit = 100
	resealBytes = 4 << 20
)

// Resealed is the result of Reseal.
type Resealed struct {
	Values   int          // re-encrypted
	Unopened int          // values that the ring does not open; they stay as they are
	First    sealed.Place // of the first unopened value
}

// Reseal re-encrypts everything that is not sealed with the ring's primary key, in small transactions. It may run on
// several nodes at once and be interrupted anywhere.
func (db *DB) Reseal(ctx context.Context, ring *sealed.Ring) (done Resealed, err error) {
	for _, table := range sealedTables() {
		for last := ""; ; {
			page, err := db.sealedAfter(ctx, table, ring.Primary(), last)
			if err == nil && len(page) > 0 {
				err = db.resealPage(ctx, ring, table, page, &done)
			}
			if err != nil {
				return done, fmt.Errorf("re-sealing %s.sealed: %w", table, err)
			}
			if len(page) == 0 {
				break
			}
			last = page[len(page)-1].id
		}
	}
	return done, nil
}

// sealedAfter returns the next values of a table. Values that the key primary has sealed are nil.
func (db *DB) sealedAfter(ctx context.Context, table sealedTable, primary, last string) ([]sealedValue, error) {
	prefix := sealed.KeyPrefix(primary)
	query := fmt.Sprintf(`SELECT id, CASE WHEN substr(sealed, 1, %d) <> $2 THEN sealed END FROM %s WHERE id > $1 ORDER BY id LIMIT %d`,
		len(prefix), table, resealLimit)
	return fetch(ctx, db, forObservations, func(ctx context.Context, tx *ReadTx) ([]sealedValue, error) {
		found, _, err := upTo(ctx, tx.conn, scanSealed, resealBytes, func(v sealedValue) int { return len(v.value) }, query, last, prefix)
		return found, err
	})
}

// resealPage re-encrypts the values of a page, except values that others write
// meanwhile: it encrypts before the transaction, to keep the transaction short.
func (db *DB) resealPage(ctx context.Context, ring *sealed.Ring, table sealedTable, page []sealedValue, done *Resealed) error {
	var changes [][]any // id, old value, new value
	for _, old := range page {
		if old.value == nil {
			continue
		}
		plain, err := ring.Unseal(table.place(old.id), old.value)
		if err != nil {
			if done.Unopened++; done.Unopened == 1 {
				done.First = table.place(old.id)
			}
			continue
		}
		value, err := ring.Seal(table.place(old.id), plain)
		if err != nil {
			return err
		}
		changes = append(changes, []any{old.id, old.value, value})
	}
	written, err := db.replaceSealed(ctx, table, changes)
	if err == nil {
		done.Values += written
	}
	return err
}

func (db *DB) replaceSealed(ctx context.Context, table sealedTable, changes [][]any) (written int, err error) {
	if len(changes) == 0 {
		return 0, nil
	}
	err = db.write(ctx, writeOptions{priority: forObservations}, func(ctx context.Context, tx *Tx) error {
		written = 0 // this may run several times
		for _, change := range changes {
			changed, err := tx.affect(ctx, `UPDATE `+string(table)+` SET sealed = $3 WHERE id = $1 AND sealed = $2`, change...)
			if err != nil {
				return err
			}
			written += changed
		}
		return nil
	})
	return written, err
}

// SealedWith counts the values that a key of the ring has sealed.
func (db *DB) SealedWith(ctx context.Context, keyID string) (count int, err error) {
	prefix := sealed.KeyPrefix(keyID)
	for _, table := range sealedTables() {
		query := fmt.Sprintf(`SELECT count(*) FROM %s WHERE substr(sealed, 1, %d) = $1`, table, len(prefix))
		found, err := fetch(ctx, db, forObservations, func(ctx context.Context, tx *ReadTx) (int, error) {
			return scalar(ctx, tx.conn, scanInt, query, prefix)
		})
		if err != nil {
			return 0, err
		}
		count += found
	}
	return count, nil
}
