package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/sealed"
)

// sealCheck is the plaintext of the seal check; it is no secret.
const sealCheck = "signalbox"

// sealedColumn is a column whose values are sealed with the key ring. Rotation
// walks over all of them.
type sealedColumn struct{ table, column, key string }

// sealedColumns lists every sealed column.
func sealedColumns() []sealedColumn {
	return []sealedColumn{{table: "seal_checks", column: "sealed", key: "id"}, jobRequestColumn()}
}

func jobRequestColumn() sealedColumn {
	return sealedColumn{table: "job_requests", column: "sealed", key: "id"}
}

func (c sealedColumn) place(row string) sealed.Place {
	return sealed.Place{Table: c.table, Column: c.column, Row: row}
}

// sealedValue is one value of a sealed column.
type sealedValue struct {
	row   string
	value []byte
}

func scanSealed(r row) (v sealedValue, err error) {
	err = r.Scan(&v.row, &v.value)
	return v, err
}

// HasSeal reports whether the database holds anything sealed. One that has not
// been migrated does not.
func (db *DB) HasSeal(ctx context.Context) (bool, error) {
	count, err := fetch(ctx, db, forDecisions, func(tx *ReadTx) (int, error) {
		return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM seal_checks`)
	})
	if isMissingTable(err) {
		return false, nil
	}
	return count > 0, err
}

// OpenRing opens a key ring and refuses one that does not open what the database
// holds. The first ring seals the value that later ones are checked with. open is
// told whether that value exists; nodes that start at once call it one by one. It
// may be called several times.
func (db *DB) OpenRing(ctx context.Context, open func(used bool) (*sealed.Ring, error)) (ring *sealed.Ring, err error) {
	err = db.Write(ctx, "", func(tx *Tx) error {
		if err := tx.LockSchema(ctx); err != nil {
			return err
		}
		column := sealedColumns()[0]
		check, err := one(ctx, tx.conn, fault.Missing("seal check", "ring"), scanSealed, `SELECT id, sealed FROM seal_checks WHERE id = 'ring'`)
		used := !fault.Is(err, fault.NotFound)
		if used && err != nil {
			return err
		}
		if ring, err = open(used); err != nil {
			return err
		}
		if !used {
			return tx.sealFirst(ctx, ring, column)
		}
		hidden, err := ring.Unseal(column.place(check.row), check.value)
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

func (tx *Tx) sealFirst(ctx context.Context, ring *sealed.Ring, column sealedColumn) error {
	value, err := ring.Seal(column.place("ring"), []byte(sealCheck))
	if err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO seal_checks (id, sealed) VALUES ('ring', $1)`, value)
}

const (
	// resealPage is how many values one statement looks at.
	resealPage = 200
	// resealBatch and resealBytes bound how long one transaction holds the writer.
	resealBatch = 100
	resealBytes = 4 << 20
)

// Resealed is the result of Reseal.
type Resealed struct {
	Values int // re-encrypted
	// Unopened counts the values that the ring does not open. They stay as they are.
	Unopened int
	First    sealed.Place // of the unopened ones
}

// Reseal re-encrypts everything that is not sealed with the ring's primary key,
// in small transactions. It may run on several nodes at once and be interrupted
// anywhere.
func (db *DB) Reseal(ctx context.Context, ring *sealed.Ring) (Resealed, error) {
	r := &resealing{db: db, ring: ring}
	for _, column := range sealedColumns() {
		r.column = column
		if err := r.walk(ctx); err != nil {
			return r.done, fmt.Errorf("re-sealing %s.%s: %w", column.table, column.column, err)
		}
	}
	return r.done, nil
}

// resealing is one walk over all sealed values. It decrypts and encrypts outside
// of transactions, so that these are short.
type resealing struct {
	db     *DB
	ring   *sealed.Ring
	column sealedColumn
	done   Resealed
	batch  []resealedValue
	bytes  int
}

// resealedValue is a value and its replacement.
type resealedValue struct {
	sealedValue

	replacement []byte
}

// walk visits every value of the column, ordered by row.
func (r *resealing) walk(ctx context.Context) error {
	for last := ""; ; {
		rows, err := r.after(ctx, last)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return r.flush(ctx)
		}
		last = rows[len(rows)-1].row
		prefix := sealed.KeyPrefix(r.ring.Primary())
		for _, each := range rows {
			if bytes.Equal(each.value, prefix) {
				continue
			}
			if err := r.reseal(ctx, each.row); err != nil {
				return err
			}
		}
	}
}

// after returns rows after one, with the prefixes of their values, which name the key.
func (r *resealing) after(ctx context.Context, last string) ([]sealedValue, error) {
	return r.read(ctx, fmt.Sprintf(`SELECT %s, substr(%s, 1, %d) FROM %s WHERE %[1]s > $1 ORDER BY %[1]s LIMIT %[5]d`,
		r.column.key, r.column.column, len(sealed.KeyPrefix(r.ring.Primary())), r.column.table, resealPage), last)
}

func (r *resealing) read(ctx context.Context, query, row string) ([]sealedValue, error) {
	return fetch(ctx, r.db, forObservations, func(tx *ReadTx) ([]sealedValue, error) {
		return all(ctx, tx.conn, scanSealed, query, row)
	})
}

// reseal re-encrypts the value of a row, unless the row is gone.
func (r *resealing) reseal(ctx context.Context, row string) error {
	found, err := r.read(ctx, fmt.Sprintf(`SELECT %s, %s FROM %s WHERE %[1]s = $1`, r.column.key, r.column.column, r.column.table), row)
	if err != nil || len(found) == 0 {
		return err
	}
	plain, err := r.ring.Unseal(r.column.place(row), found[0].value)
	if err != nil {
		if r.done.Unopened++; r.done.Unopened == 1 {
			r.done.First = r.column.place(row)
		}
		return nil
	}
	replacement, err := r.ring.Seal(r.column.place(row), plain)
	if err != nil {
		return err
	}
	r.batch, r.bytes = append(r.batch, resealedValue{found[0], replacement}), r.bytes+len(replacement)
	if len(r.batch) < resealBatch && r.bytes < resealBytes {
		return nil
	}
	return r.flush(ctx)
}

// flush writes the batch, but for values that were written meanwhile.
func (r *resealing) flush(ctx context.Context) error {
	if len(r.batch) == 0 {
		return nil
	}
	query := fmt.Sprintf(`UPDATE %s SET %s = $3 WHERE %s = $1 AND %[2]s = $2`, r.column.table, r.column.column, r.column.key)
	written := 0
	err := r.db.write(ctx, writeOptions{priority: forObservations}, func(tx *Tx) error {
		written = 0 // this may run several times
		for _, each := range r.batch {
			changed, err := tx.affect(ctx, query, each.row, each.value, each.replacement)
			if err != nil {
				return err
			}
			written += changed
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.done.Values += written
	r.batch, r.bytes = nil, 0
	return nil
}
