package store

import (
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

// resealBatch bounds how long one step of re-sealing holds the writer.
const resealBatch = 100

// Reseal seals everything that is not sealed with the ring's primary key
// again, in small transactions, and tells how many values it wrote. It may
// run on several nodes at once and be interrupted anywhere.
func (db *DB) Reseal(ctx context.Context, ring *sealed.Ring) (int, error) {
	total := 0
	for _, column := range sealedColumns() {
		for last, more := "", true; more; {
			count, err := db.resealSome(ctx, ring, column, &last)
			total += count
			if err != nil {
				return total, fmt.Errorf("re-sealing %s.%s: %w", column.table, column.column, err)
			}
			more = count == resealBatch
		}
	}
	return total, nil
}

// resealSome goes on after the last row that was looked at.
func (db *DB) resealSome(ctx context.Context, ring *sealed.Ring, column sealedColumn, last *string) (count int, err error) {
	prefix := sealed.KeyPrefix(ring.Primary())
	query := fmt.Sprintf(`SELECT %s, %s FROM %s WHERE substr(%[2]s, 1, %[4]d) <> $1 AND %[1]s > $2 ORDER BY %[1]s LIMIT %[5]d`,
		column.key, column.column, column.table, len(prefix), resealBatch)
	reached := *last
	err = db.Write(ctx, "", func(tx *Tx) error {
		old, err := all(ctx, tx.conn, scanSealed, query, prefix, *last)
		if err != nil {
			return err
		}
		for _, each := range old {
			if err := tx.reseal(ctx, ring, column, each); err != nil {
				return err
			}
		}
		if count = len(old); count > 0 {
			reached = old[count-1].row
		}
		return nil
	})
	if err == nil {
		*last = reached
	}
	return count, err
}

// reseal writes one value anew unless somebody else wrote it meanwhile.
func (tx *Tx) reseal(ctx context.Context, ring *sealed.Ring, column sealedColumn, old sealedValue) error {
	plain, err := ring.Unseal(column.place(old.row), old.value)
	if err != nil {
		return err
	}
	value, err := ring.Seal(column.place(old.row), plain)
	if err != nil {
		return err
	}
	return tx.run(ctx, fmt.Sprintf(`UPDATE %s SET %s = $3 WHERE %s = $1 AND %[2]s = $2`, column.table, column.column, column.key),
		old.row, old.value, value)
}
