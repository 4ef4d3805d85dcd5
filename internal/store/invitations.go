package store

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
)

const invitationColumns = `id, account_id, email, address, role, created_by, created_at, expires_at`

func scanInvitation(r row) (i accounts.Invitation, err error) {
	err = r.Scan(&i.ID, &i.Account, &i.Email, &i.Address, &i.Role, &i.CreatedBy, asTime(&i.CreatedAt), asTime(&i.ExpiresAt))
	return i, err
}

// Invitation returns an invitation of an account.
func (tx *ReadTx) Invitation(ctx context.Context, account, id string) (accounts.Invitation, error) {
	return one(ctx, tx.conn, fault.Missing("invitation", id), scanInvitation,
		`SELECT `+invitationColumns+` FROM invitations WHERE account_id = $1 AND id = $2`, account, id)
}

// Invitations lists the invitations of an account.
func (tx *ReadTx) Invitations(ctx context.Context, account string, filter accounts.InvitationFilter, request page.Request) (page.List[accounts.Invitation], error) {
	found := list{columns: invitationColumns, table: "invitations", byDefault: "email", tie: "id",
		sorts: sorts("email", "role", "created_at", "expires_at")}.of(account)
	found.search(filter.Search)
	found.equals("address", filter.Address)
	return pageOf(ctx, tx, found, request, scanInvitation)
}

// InvitationsTo returns the invitations of an address in any account, oldest first.
func (tx *ReadTx) InvitationsTo(ctx context.Context, address string) ([]accounts.Invitation, error) {
	return all(ctx, tx.conn, scanInvitation, `SELECT `+invitationColumns+` FROM invitations WHERE address = $1 ORDER BY created_at, id`, address)
}

// CountInvitations counts the invitations of an account.
func (tx *ReadTx) CountInvitations(ctx context.Context, account string) (int, error) {
	return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM invitations WHERE account_id = $1`, account)
}

// InsertInvitation writes a new invitation.
func (tx *Tx) InsertInvitation(ctx context.Context, i accounts.Invitation) error {
	return tx.run(ctx, `INSERT INTO invitations (`+invitationColumns+`, search) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		i.ID, i.Account, i.Email, i.Address, string(i.Role), i.CreatedBy, micros(i.CreatedAt), micros(i.ExpiresAt), searchable(i.ID, i.Email))
}

// DeleteInvitation removes an invitation.
func (tx *Tx) DeleteInvitation(ctx context.Context, account, id string) error {
	return tx.run(ctx, `DELETE FROM invitations WHERE account_id = $1 AND id = $2`, account, id)
}

const linkColumns = `hash, account_id, kind, subject, expires_at, id, role, maker_type, maker_id, created_at`

func scanLink(r row) (l accounts.Link, err error) {
	err = r.Scan(&l.Hash, &l.Account, &l.Kind, &l.Subject, asTimeOrNull(&l.ExpiresAt), &l.ID, &l.Role, &l.Maker.Type, &l.Maker.ID, asTime(&l.CreatedAt))
	return l, err
}

// LinkByHash returns the link whose token has the hash, in any account.
func (tx *ReadTx) LinkByHash(ctx context.Context, hash string) (accounts.Link, error) {
	return one(ctx, tx.conn, fault.New(fault.NotFound, "There is no such link."), scanLink,
		`SELECT `+linkColumns+` FROM links WHERE hash = $1`, hash)
}

// LinkAbout returns the link of a kind about a subject.
func (tx *ReadTx) LinkAbout(ctx context.Context, kind accounts.LinkKind, subject string) (accounts.Link, error) {
	return one(ctx, tx.conn, fault.New(fault.NotFound, "There is no such link."), scanLink,
		`SELECT `+linkColumns+` FROM links WHERE kind = $1 AND subject = $2`, string(kind), subject)
}

// ResetLink returns a password-reset link of an account that has not expired.
func (tx *ReadTx) ResetLink(ctx context.Context, account, id string) (accounts.Link, error) {
	return one(ctx, tx.conn, fault.Missing("link", id), scanLink,
		`SELECT `+linkColumns+` FROM links WHERE account_id = $1 AND kind = $2 AND id = $3 AND expires_at > $4`,
		account, string(accounts.ResetLink), id, micros(tx.now))
}

// ResetLinks lists the password-reset links of an account that have not expired.
func (tx *ReadTx) ResetLinks(ctx context.Context, account string, filter accounts.LinkFilter, request page.Request) (page.List[accounts.Link], error) {
	found := list{columns: linkColumns, table: "links", byDefault: "created_at DESC", tie: "id", sorts: sorts("created_at", "expires_at")}.of(account)
	found.equals("kind", string(accounts.ResetLink))
	found.equals("subject", filter.User)
	found.where("expires_at > ?", micros(tx.now))
	return pageOf(ctx, tx, found, request, scanLink)
}

// SaveLink writes a link and replaces an earlier one of the same kind and subject.
func (tx *Tx) SaveLink(ctx context.Context, l accounts.Link) error {
	return tx.run(ctx, `INSERT INTO links (`+linkColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (kind, subject) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at, id = excluded.id,
			role = excluded.role, maker_type = excluded.maker_type, maker_id = excluded.maker_id, created_at = excluded.created_at`,
		l.Hash, l.Account, string(l.Kind), l.Subject, microsOrNull(l.ExpiresAt), l.ID, string(l.Role), l.Maker.Type, l.Maker.ID, micros(l.CreatedAt))
}

// DeleteLinks removes the links about a subject.
func (tx *Tx) DeleteLinks(ctx context.Context, account, subject string) error {
	return tx.run(ctx, `DELETE FROM links WHERE account_id = $1 AND subject = $2`, account, subject)
}

// RemoveLinks removes links that expired before an instant, in batches like RemoveRuns.
func (db *DB) RemoveLinks(ctx context.Context, before time.Time, pace *Pace) (removed int, err error) {
	before, err = pace.limit(ctx, "", agingRows{kind: "links", from: `links WHERE $1 = '' AND expires_at IS NOT NULL`, column: "expires_at", scan: scanTime}, before)
	if err != nil {
		return 0, err
	}
	return db.removeAll(ctx, `DELETE FROM links WHERE hash IN (SELECT hash FROM links WHERE expires_at < $1 LIMIT $2) RETURNING hash`, micros(before))
}
