package store

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/once"
)

// BeginRequest implements once.Store.
func (db *DB) BeginRequest(ctx context.Context, ticket once.Ticket, account, fingerprint string, forget, abandoned time.Duration) (kept once.Kept, begun bool, err error) {
	err = db.Write(ctx, "", func(ctx context.Context, tx *Tx) error {
		made, err := all(ctx, tx.conn, scanString, `INSERT INTO requests (id, account_id, token, fingerprint, carried_out, begun_at) VALUES ($1, $2, $3, $4, FALSE, $5)
			ON CONFLICT (id) DO UPDATE SET token = excluded.token, fingerprint = excluded.fingerprint, begun_at = excluded.begun_at, carried_out = FALSE, sealed = NULL
			WHERE requests.begun_at < $6
				OR requests.begun_at < $7 AND requests.fingerprint = excluded.fingerprint AND NOT requests.carried_out AND requests.sealed IS NULL
			RETURNING id`, ticket.ID, account, ticket.Token, fingerprint, micros(tx.now), micros(tx.now.Add(-forget)), micros(tx.now.Add(-abandoned)))
		if begun = len(made) > 0; err != nil || begun {
			tx.wrote = begun
			return err
		}
		kept, err = tx.keptRequest(ctx, ticket.ID, tx.now.Add(-abandoned))
		return err
	})
	return kept, begun, err
}

// keptRequest reads a request with its answer. It is abandoned if it was begun before an instant.
func (tx *Tx) keptRequest(ctx context.Context, id string, abandoned time.Time) (kept once.Kept, err error) {
	scan := func(r row) (hidden []byte, err error) {
		err = r.Scan(&kept.Fingerprint, &kept.CarriedOut, &kept.Abandoned, &hidden)
		return hidden, err
	}
	// If the request was released meanwhile, the caller is told that it is in progress, and tries again.
	found, err := all(ctx, tx.conn, scan, `SELECT fingerprint, carried_out, begun_at < $2, sealed FROM requests WHERE id = $1`, id, micros(abandoned))
	switch {
	case err != nil:
		return once.Kept{}, err
	case len(found) == 0:
		return once.Kept{}, once.ErrInProgress()
	case found[0] != nil:
		kept.Answer, err = tx.ring.Unseal(requests.place(id), found[0])
	}
	return kept, err
}

// CarryOut marks a request as carried out, in the transaction that does its work. It fails if the request was begun again.
func (tx *Tx) CarryOut(ctx context.Context, ticket once.Ticket) error {
	marked, err := tx.affect(ctx, `UPDATE requests SET carried_out = TRUE WHERE id = $1 AND token = $2`, ticket.ID, ticket.Token)
	if err == nil && marked == 0 {
		err = once.ErrInProgress()
	}
	return err
}

// FinishRequest implements once.Store.
func (db *DB) FinishRequest(ctx context.Context, ticket once.Ticket, answer []byte) error {
	return db.Write(ctx, "", func(ctx context.Context, tx *Tx) error {
		hidden, err := tx.ring.Seal(requests.place(ticket.ID), answer)
		if err != nil {
			return err
		}
		return tx.run(ctx, `UPDATE requests SET sealed = $3 WHERE id = $1 AND token = $2`, ticket.ID, ticket.Token, hidden)
	})
}

// ReleaseRequest implements once.Store.
func (db *DB) ReleaseRequest(ctx context.Context, ticket once.Ticket) error {
	return db.Write(ctx, "", func(ctx context.Context, tx *Tx) error {
		return tx.run(ctx, `DELETE FROM requests WHERE id = $1 AND token = $2 AND NOT carried_out`, ticket.ID, ticket.Token)
	})
}

// RemoveRequests removes requests that were begun before an instant.
func (db *DB) RemoveRequests(ctx context.Context, before time.Time, _ *Pace) (removed int, err error) {
	return db.removeAll(ctx, `DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE begun_at < $1 LIMIT $2) RETURNING id`, micros(before))
}
