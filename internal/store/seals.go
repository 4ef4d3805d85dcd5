package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/sealed"
)

// sealCheck is what the seal check hides; it is no secret.
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

// HasSeal tells whether the database holds anything sealed.
func (db *DB) HasSeal(ctx context.Context) (has bool, err error) {
	err = db.Read(ctx, func(tx *ReadTx) error {
		count, err := scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM seal_checks`)
		has = count > 0
		return err
	})
	return has, err
}

// CheckSeal refuses a key ring that is not the one this database was sealed
// with, and seals the check with the first one.
func (db *DB) CheckSeal(ctx context.Context, ring *sealed.Ring) error {
	return db.Write(ctx, "", func(tx *Tx) error {
		if err := tx.LockSchema(ctx); err != nil {
			return err
		}
		column := sealedColumns()[0]
		check, err := one(ctx, tx.conn, fault.Missing("seal check", "ring"), scanSealed, `SELECT id, sealed FROM seal_checks WHERE id = 'ring'`)
		if fault.Is(err, fault.NotFound) {
			return tx.sealFirst(ctx, ring, column)
		}
		if err != nil {
			return err
		}
		hidden, err := ring.Unseal(column.place(check.row), check.value)
		if err != nil || string(hidden) != sealCheck {
			return errors.Join(fmt.Errorf("this key ring does not open what the database holds; start with the ring it was sealed with"), err)
		}
		return nil
	})
}

func (tx *Tx) sealFirst(ctx context.Context, ring *sealed.Ring, column sealedColumn) error {
	value, err := ring.Seal(column.place("ring"), []byte(sealCheck))
	if err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO seal_checks (id, sealed) VALUES ('ring', $1)`, value)
}

const (
	// resealPage is how many values one statement looks at: it ends in time
	// however many there are.
	resealPage = 200
	// resealBatch and resealBytes bound how long one step of re-sealing holds
	// the writer.
	resealBatch = 100
	resealBytes = 4 << 20
)

// Resealed is what came of a re-sealing.
type Resealed struct {
	Values int // that were sealed again
	// Unopened counts the values that the ring does not open. They stay as
	// they are: one that is damaged must not keep the others under an old key.
	Unopened int
	First    sealed.Place // of the unopened ones
}

// Reseal seals everything that is not sealed with the ring's primary key
// again, in small transactions. It may run on several nodes at once and be
// interrupted anywhere.
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

// resealing is one walk over what is sealed. It opens and seals outside of
// transactions, so that the writer waits for nothing but the writing.
type resealing struct {
	db     *DB
	ring   *sealed.Ring
	column sealedColumn
	done   Resealed
	batch  []resealedValue
	bytes  int
}

// resealedValue is a value and what is to take its place.
type resealedValue struct {
	sealedValue

	anew []byte
}

// walk looks at every value of the column, in the order of the rows.
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

// after gives rows after one, with no more of their values than what names
// the key.
func (r *resealing) after(ctx context.Context, last string) ([]sealedValue, error) {
	return r.read(ctx, fmt.Sprintf(`SELECT %s, substr(%s, 1, %d) FROM %s WHERE %[1]s > $1 ORDER BY %[1]s LIMIT %[5]d`,
		r.column.key, r.column.column, len(sealed.KeyPrefix(r.ring.Primary())), r.column.table, resealPage), last)
}

func (r *resealing) read(ctx context.Context, query, row string) (found []sealedValue, err error) {
	err = r.db.Read(ctx, func(tx *ReadTx) error {
		found, err = all(ctx, tx.conn, scanSealed, query, row)
		return err
	})
	return found, err
}

// reseal seals the value of a row again, unless the row is gone.
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
	anew, err := r.ring.Seal(r.column.place(row), plain)
	if err != nil {
		return err
	}
	r.batch, r.bytes = append(r.batch, resealedValue{found[0], anew}), r.bytes+len(anew)
	if len(r.batch) < resealBatch && r.bytes < resealBytes {
		return nil
	}
	return r.flush(ctx)
}

// flush writes the batch, but for values that somebody else wrote meanwhile.
func (r *resealing) flush(ctx context.Context) error {
	if len(r.batch) == 0 {
		return nil
	}
	query := fmt.Sprintf(`UPDATE %s SET %s = $3 WHERE %s = $1 AND %[2]s = $2`, r.column.table, r.column.column, r.column.key)
	written := 0
	err := r.db.Write(ctx, "", func(tx *Tx) error {
		written = 0 // it may be tried several times
		for _, each := range r.batch {
			changed, err := tx.affect(ctx, query, each.row, each.value, each.anew)
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
