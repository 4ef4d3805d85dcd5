package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
)

// lately returns an instant a little before now, because lists leave out expired sessions.
func lately(micros int) time.Time {
	return time.Now().UTC().Truncate(time.Hour).Add(time.Duration(micros) * time.Microsecond)
}

func newSession(t *testing.T, db *store.DB, account, user string, change func(*accounts.Session)) accounts.Session {
	t.Helper()
	session := changed(accounts.Session{ID: newID(), Account: account, User: user, Hash: newID(), Client: oddText,
		CreatedAt: lately(1), LastUsedAt: lately(2), ExpiresAt: lately(3).Add(24 * time.Hour)}, change)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertSession(ctx, session) })
	return session
}

func sessions(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	user, key := newUser(t, db, account, "a", nil), newKey(t, db, account, fullKey)
	personal := newSession(t, db, account, user.ID, nil)
	ofKey := newSession(t, db, account, user.ID, func(s *accounts.Session) { s.Key = &key.ID })
	personal.Role, ofKey.Role, ofKey.Scopes = user.Role, key.Role, key.Scopes
	t.Run("find by id and hash", func(t *testing.T) {
		for want, session := range map[*accounts.SignedIn]accounts.Session{{Session: personal, User: user}: personal, {Session: ofKey, Key: &key}: ofKey} {
			same(t, find(t, db, (*store.ReadTx).Session, account, session.ID), session)
			lacks(t, db, (*store.ReadTx).Session, other, session.ID)
			same(t, find(t, db, (*store.ReadTx).SignedIn, account, session.ID), *want)
			lacks(t, db, (*store.ReadTx).SignedIn, other, session.ID)
			found, versions, err := db.SessionByHash(ctx, session.Hash)
			same(t, err, nil)
			same(t, found, *want)
			same(t, versions, accounts.Versions{})
		}
		_, _, err := db.SessionByHash(ctx, "unknown")
		refused(t, err, fault.NotFound)
		active, revoked := newKey(t, db, account, nil), newKey(t, db, account, func(k *accounts.Key) { k.Status = accounts.Revoked })
		ended := newSession(t, db, account, user.ID, func(s *accounts.Session) { s.ExpiresAt = lately(1) })
		existing, err := db.Existing(ctx, []string{"unknown", active.Hash, revoked.Hash, personal.Hash, ended.Hash})
		must(t, err)
		same(t, existing, map[string]bool{active.Hash: true, personal.Hash: true})
	})
	t.Run("duplicate hash", func(t *testing.T) {
		again := personal
		again.ID = newID()
		refused(t, db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertSession(ctx, again) }), fault.AlreadyExists)
	})
	t.Run("gone with its user or key", func(t *testing.T) {
		for _, orphan := range []accounts.Session{newSession(t, db, account, newID(), nil), newSession(t, db, account, user.ID, func(s *accounts.Session) { s.Key = new(newID()) })} {
			_, _, err := db.SessionByHash(ctx, orphan.Hash)
			refused(t, err, fault.NotFound)
			same(t, find(t, db, (*store.ReadTx).Session, account, orphan.ID).Role, "")
		}
	})
	t.Run("deletion of several sessions of an account", func(t *testing.T) {
		first, second, kept := newSession(t, db, account, user.ID, nil), newSession(t, db, account, user.ID, nil), newSession(t, db, account, user.ID, nil)
		do(t, db, other, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteSessions(ctx, other, first.ID) })
		find(t, db, (*store.ReadTx).Session, account, first.ID)
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
			return tx.DeleteSessions(ctx, account, first.ID, second.ID)
		})
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteSessions(ctx, account) })
		lacks(t, db, (*store.ReadTx).Session, account, first.ID)
		lacks(t, db, (*store.ReadTx).Session, account, second.ID)
		find(t, db, (*store.ReadTx).Session, account, kept.ID)
	})
	t.Run("the list", func(t *testing.T) { sessionList(t, db) })
	t.Run("removal of expired sessions", func(t *testing.T) { sessionRemoval(t, db) })
}

func sessionList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	user, key := newUser(t, db, account, "a", nil), newKey(t, db, account, nil)
	expired := func(s *accounts.Session) { s.ExpiresAt = time.Now().Add(-time.Second) }
	unused := func(s *accounts.Session) { s.LastUsedAt = time.Now().Add(-accounts.SessionIdle - time.Second) }
	for _, left := range []func(*accounts.Session){expired, unused} {
		newSession(t, db, account, user.ID, left)
	}
	var written []accounts.Session
	for i := range 8 {
		session := newSession(t, db, account, user.ID, func(s *accounts.Session) {
			s.CreatedAt, s.LastUsedAt, s.ExpiresAt = lately(i%3), lately(i%4), lately(i%5).Add(2*time.Hour)
			if i%2 == 0 {
				s.Key = &key.ID
			}
		})
		if session.Role = user.Role; session.Key != nil {
			session.Role = key.Role
		}
		written = append(written, session)
	}
	listing[accounts.Session, accounts.SessionFilter]{
		read: (*store.ReadTx).Sessions, id: func(s accounts.Session) string { return s.ID },
		byDefault: "created_at", newestFirst: true, fields: []string{"created_at", "last_used_at", "expires_at"},
	}.check(t, db, account, written)
	for filter, want := range map[accounts.SessionFilter]int{{User: user.ID}: 8, {User: user.ID, Personal: true}: 4, {Key: key.ID}: 4, {User: "nobody"}: 0} {
		same(t, len(matches(t, db, (*store.ReadTx).Sessions, account, filter)), want)
	}
}

func sessionRemoval(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account := newAccount(t, db).ID
	user := newUser(t, db, account, "a", nil)
	longAgo := func(s *accounts.Session) {
		s.ExpiresAt, s.LastUsedAt = at(10).AddDate(-20, 0, 0), at(10).AddDate(-20, 0, 0)
	}
	expired := newSession(t, db, account, user.ID, longAgo)
	unused := newSession(t, db, account, user.ID, func(s *accounts.Session) { s.LastUsedAt = at(9).AddDate(-20, 0, 0).Add(-accounts.SessionIdle) })
	kept := newSession(t, db, account, user.ID, nil)
	if removed, err := db.RemoveSessions(ctx, at(11).AddDate(-20, 0, 0), nil); err != nil || removed != 2 {
		t.Errorf("removed %d, %v", removed, err)
	}
	lacks(t, db, (*store.ReadTx).Session, account, expired.ID)
	lacks(t, db, (*store.ReadTx).Session, account, unused.ID)
	find(t, db, (*store.ReadTx).Session, account, kept.ID)
}
