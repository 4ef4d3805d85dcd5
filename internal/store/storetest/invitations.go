package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

func newInvitation(t *testing.T, db *store.DB, account, email string, change func(*accounts.Invitation)) accounts.Invitation {
	t.Helper()
	invitation := changed(accounts.Invitation{ID: newID(), Account: account, Email: email, Address: email, Role: accounts.Admin, CreatedBy: newID(),
		CreatedAt: at(1), ExpiresAt: at(2)}, change)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertInvitation(ctx, invitation) })
	return invitation
}

func invitations(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	invitation := newInvitation(t, db, account, oddText, nil)
	same(t, find(t, db, (*store.ReadTx).Invitation, account, invitation.ID), invitation)
	lacks(t, db, (*store.ReadTx).Invitation, other, invitation.ID)
	t.Run("one invitation for each address of an account", func(t *testing.T) {
		again := accounts.Invitation{ID: newID(), Account: account, Address: oddText}
		refused(t, db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertInvitation(ctx, again) }), fault.AlreadyExists)
		newInvitation(t, db, other, oddText, nil)
		same(t, of(t, db, (*store.ReadTx).CountInvitations, account), 1)
		same(t, matches(t, db, (*store.ReadTx).Invitations, account, accounts.InvitationFilter{Address: oddText}), []accounts.Invitation{invitation})
	})
	t.Run("of an address in all accounts, oldest first", func(t *testing.T) {
		address := newID() + "@example.com"
		younger := newInvitation(t, db, account, address, func(each *accounts.Invitation) { each.CreatedAt = at(3) })
		older := newInvitation(t, db, other, address, nil)
		same(t, of(t, db, (*store.ReadTx).InvitationsTo, address), []accounts.Invitation{older, younger})
		same(t, len(of(t, db, (*store.ReadTx).InvitationsTo, "nobody@example.com")), 0)
	})
	t.Run("a deletion removes an invitation of its own account only", func(t *testing.T) {
		do(t, db, other, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteInvitation(ctx, other, invitation.ID) })
		same(t, find(t, db, (*store.ReadTx).Invitation, account, invitation.ID), invitation)
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteInvitation(ctx, account, invitation.ID) })
		lacks(t, db, (*store.ReadTx).Invitation, account, invitation.ID)
	})
	t.Run("the list", func(t *testing.T) {
		account := newAccount(t, db).ID
		var written []accounts.Invitation
		for i, email := range oddNames() {
			written = append(written, newInvitation(t, db, account, email, func(each *accounts.Invitation) {
				each.Role, each.CreatedAt, each.ExpiresAt = accounts.Roles()[i%4], at(i%3), at(i%5)
			}))
		}
		listing[accounts.Invitation, accounts.InvitationFilter]{
			read: (*store.ReadTx).Invitations, id: func(each accounts.Invitation) string { return each.ID },
			byDefault: "email", fields: []string{"email", "role", "created_at", "expires_at"},
		}.check(t, db, account, written)
	})
}

func readLink(hash string) func(context.Context, *store.ReadTx) (accounts.Link, error) {
	return func(ctx context.Context, tx *store.ReadTx) (accounts.Link, error) { return tx.LinkByHash(ctx, hash) }
}

func links(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	save := func(kind accounts.LinkKind, subject string, expires *time.Time) accounts.Link {
		link := accounts.Link{ID: newID(), Hash: newID(), Account: account, Kind: kind, Subject: subject, Role: accounts.Admin,
			Maker: accounts.LinkMaker{Type: changes.ActorKey, ID: newID()}, CreatedAt: at(1), ExpiresAt: expires}
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLink(ctx, link) })
		return link
	}
	subject := newID()
	first, unlimited := save(accounts.ResetLink, subject, new(at(1))), save(accounts.SetupLink, subject, nil)
	same(t, of(t, db, (*store.ReadTx).LinkByHash, first.Hash), first)
	same(t, of(t, db, (*store.ReadTx).LinkByHash, unlimited.Hash), unlimited)
	same(t, find(t, db, (*store.ReadTx).LinkAbout, accounts.SetupLink, subject), unlimited)
	missing(t, db, func(ctx context.Context, tx *store.ReadTx) (accounts.Link, error) {
		return tx.LinkAbout(ctx, accounts.JoinLink, subject)
	})
	second := save(accounts.ResetLink, subject, new(at(2)))
	missing(t, db, readLink(first.Hash)) // there is one link for each kind and subject
	same(t, of(t, db, (*store.ReadTx).LinkByHash, second.Hash), second)
	kept := save(accounts.ResetLink, newID(), new(at(3)))
	do(t, db, other, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteLinks(ctx, other, subject) })
	same(t, of(t, db, (*store.ReadTx).LinkByHash, second.Hash), second)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteLinks(ctx, account, subject) })
	missing(t, db, readLink(second.Hash))
	missing(t, db, readLink(unlimited.Hash))
	same(t, of(t, db, (*store.ReadTx).LinkByHash, kept.Hash), kept)

	never, past := save(accounts.SetupLink, newID(), nil), save(accounts.JoinLink, newID(), new(at(-1)))
	if removed, err := db.RemoveLinks(ctx, at(3), nil); err != nil || removed < 1 {
		t.Errorf("removed %d, %v", removed, err)
	}
	missing(t, db, readLink(past.Hash))
	same(t, of(t, db, (*store.ReadTx).LinkByHash, never.Hash), never)
	same(t, of(t, db, (*store.ReadTx).LinkByHash, kept.Hash), kept) // the link expires at that very instant
}

func resetLinks(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	now := time.Now().UTC().Truncate(time.Microsecond)
	save := func(kind accounts.LinkKind, age, lasts time.Duration) accounts.Link {
		link := accounts.Link{ID: newID(), Hash: newID(), Account: account, Kind: kind, Subject: newID(), Role: accounts.Viewer,
			CreatedAt: now.Add(-age), ExpiresAt: new(now.Add(lasts))}
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLink(ctx, link) })
		return link
	}
	older, newer := save(accounts.ResetLink, 2*time.Hour, time.Hour), save(accounts.ResetLink, time.Hour, time.Hour)
	expired, invitation := save(accounts.ResetLink, time.Hour, -time.Hour), save(accounts.JoinLink, time.Hour, time.Hour)
	same(t, find(t, db, (*store.ReadTx).ResetLink, account, older.ID), older)
	lacks(t, db, (*store.ReadTx).ResetLink, other, older.ID)
	lacks(t, db, (*store.ReadTx).ResetLink, account, expired.ID)
	lacks(t, db, (*store.ReadTx).ResetLink, account, invitation.ID)
	same(t, list(t, db, (*store.ReadTx).ResetLinks, account, accounts.LinkFilter{}, page.First()).Items, []accounts.Link{newer, older})
	same(t, list(t, db, (*store.ReadTx).ResetLinks, account, accounts.LinkFilter{User: older.Subject}, page.First()).Items, []accounts.Link{older})
	same(t, len(list(t, db, (*store.ReadTx).ResetLinks, other, accounts.LinkFilter{}, page.First()).Items), 0)
}
