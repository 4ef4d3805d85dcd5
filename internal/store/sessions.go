package store

import (
	"context"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
)

// sessionColumns include the current role of the key or the user, and the current scopes of the key. A session whose
// user or key is gone has the empty role.
const sessionColumns = `id, account_id, user_id, key_id, hash, client, created_at, last_used_at, expires_at,
	COALESCE(CASE WHEN key_id IS NULL THEN (SELECT u.role FROM users u WHERE u.id = sessions.user_id)
		ELSE (SELECT k.role FROM api_keys k WHERE k.id = sessions.key_id) END, ''),
	(SELECT k.scopes FROM api_keys k WHERE k.id = sessions.key_id)`

func scanSession(r row) (s accounts.Session, err error) {
	err = r.Scan(&s.ID, &s.Account, &s.User, &s.Key, &s.Hash, &s.Client, asTime(&s.CreatedAt), asTime(&s.LastUsedAt), asTime(&s.ExpiresAt),
		&s.Role, asJSON(&s.Scopes))
	return s, err
}

// Session returns a session of an account.
func (tx *ReadTx) Session(ctx context.Context, account, id string) (accounts.Session, error) {
	return one(ctx, tx.conn, fault.Missing("session", id), scanSession,
		`SELECT `+sessionColumns+` FROM sessions WHERE account_id = $1 AND id = $2`, account, id)
}

// Sessions lists the sessions of an account that have not expired.
func (tx *ReadTx) Sessions(ctx context.Context, account string, filter accounts.SessionFilter, request page.Request) (page.List[accounts.Session], error) {
	found := list{columns: sessionColumns, table: "sessions", byDefault: "created_at DESC", tie: "id",
		sorts: sorts("created_at", "last_used_at", "expires_at")}.of(account)
	found.equals("user_id", filter.User)
	found.equals("key_id", filter.Key)
	if filter.Personal {
		found.where("key_id IS NULL")
	}
	found.where("expires_at > ? AND last_used_at > ?", micros(tx.now), micros(tx.now.Add(-accounts.SessionIdle)))
	return pageOf(ctx, tx, found, request, scanSession)
}

// SessionByHash returns the session with the hash, in any account, with its user or key. It also returns the versions of
// the account, which are not newer than the session.
func (db *DB) SessionByHash(ctx context.Context, hash string) (found accounts.SignedIn, versions accounts.Versions, err error) {
	err = db.Read(ctx, func(ctx context.Context, tx *ReadTx) error {
		versions, err = one(ctx, tx.conn, fault.New(fault.NotFound, "There is no such session."), scanVersions,
			`SELECT a.change_seq, a.access_seq FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = $1`, hash)
		if err != nil {
			return err
		}
		session, err := one(ctx, tx.conn, fault.New(fault.NotFound, "There is no such session."), scanSession,
			`SELECT `+sessionColumns+` FROM sessions WHERE hash = $1`, hash)
		if err != nil {
			return err
		}
		found, err = tx.signedIn(ctx, session)
		return err
	})
	return found, versions, err
}

// SignedIn returns a session of an account with its user or key.
func (tx *ReadTx) SignedIn(ctx context.Context, account, id string) (found accounts.SignedIn, err error) {
	session, err := tx.Session(ctx, account, id)
	if err != nil {
		return accounts.SignedIn{}, err
	}
	return tx.signedIn(ctx, session)
}

// signedIn adds the user or the key of a session.
func (tx *ReadTx) signedIn(ctx context.Context, session accounts.Session) (found accounts.SignedIn, err error) {
	found.Session = session
	if session.Key == nil {
		found.User, err = tx.User(ctx, session.Account, session.User)
		return found, err
	}
	key, err := tx.Key(ctx, session.Account, *session.Key)
	found.Key = &key
	return found, err
}

// InsertSession writes a new session.
func (tx *Tx) InsertSession(ctx context.Context, s accounts.Session) error {
	return tx.run(ctx, `INSERT INTO sessions (id, account_id, user_id, key_id, hash, client, created_at, last_used_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		s.ID, s.Account, s.User, s.Key, s.Hash, s.Client, micros(s.CreatedAt), micros(s.LastUsedAt), micros(s.ExpiresAt))
}

// DeleteSessions removes sessions of an account.
func (tx *Tx) DeleteSessions(ctx context.Context, account string, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	return tx.run(ctx, `DELETE FROM sessions WHERE account_id = $1 AND id `+tx.dialect.among, account, tx.dialect.texts(ids))
}

// RemoveSessions removes sessions that expired before an instant, by age or for lack of use, in batches like RemoveRuns.
// Nobody can use them any more, so no change is recorded.
func (db *DB) RemoveSessions(ctx context.Context, before time.Time, pace *Pace) (removed int, err error) {
	idle := strconv.FormatInt(accounts.SessionIdle.Microseconds(), 10)
	before, err = pace.limit(ctx, "", agingRows{kind: "sessions", column: "ends_at", scan: scanTime,
		from: `(SELECT CASE WHEN expires_at < last_used_at + ` + idle + ` THEN expires_at ELSE last_used_at + ` + idle + ` END AS ends_at
			FROM sessions WHERE $1 = '') AS ending`}, before)
	if err != nil {
		return 0, err
	}
	unused := micros(before.Add(-accounts.SessionIdle))
	return db.removeAll(ctx, `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE last_used_at < $3 OR expires_at < $1 LIMIT $2) RETURNING id`,
		micros(before), unused)
}
