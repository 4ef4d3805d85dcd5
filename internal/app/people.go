package app

import (
	"context"
	"net"
	"net/url"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Users lists the users of an account.
func (o *Operator) Users(ctx context.Context, accountKey string) ([]accounts.User, error) {
	return everyPage(ctx, o, accountKey, func(ctx context.Context, tx *store.ReadTx, id string, request page.Request) (page.List[accounts.User], error) {
		return tx.Users(ctx, id, accounts.UserFilter{}, request)
	})
}

// SetupLink creates a link that sets up the first owner of an account.
func (o *Operator) SetupLink(ctx context.Context, accountKey string) (link string, err error) {
	return write(ctx, o, accountKey, func(ctx context.Context, tx *store.Tx, id string) (string, error) {
		token, err := accounts.MakeSetupLink(ctx, tx, id)
		return linkURL(o.settings, accounts.SetupLink, token), err
	})
}

// Invite invites a person to an account on behalf of its first owner, and returns the
// link.
func (o *Operator) Invite(ctx context.Context, accountKey string, draft accounts.InvitationDraft) (invitation accounts.Invitation, link string, err error) {
	invitation, err = write(ctx, o, accountKey, func(ctx context.Context, tx *store.Tx, id string) (accounts.Invitation, error) {
		owner, err := accounts.FirstOwner(ctx, tx, id)
		if err != nil {
			return accounts.Invitation{}, err
		}
		caller := accounts.Caller{Account: id, UserID: owner.ID, UserName: owner.Name, Role: accounts.Owner}
		return accounts.Invite(ctx, tx, caller, changes.Operator(), draft)
	})
	return invitation, linkURL(o.settings, accounts.JoinLink, invitation.Token), err
}

// ResetPassword makes a link that sets the password of the user with an e-mail address.
func (o *Operator) ResetPassword(ctx context.Context, email string) (reset accounts.Reset, link string, err error) {
	user, err := o.user(ctx, email)
	if err != nil {
		return reset, "", err
	}
	reset, err = transaction.Write(ctx, o.db, user.Account, func(ctx context.Context, tx *store.Tx) (accounts.Reset, error) {
		return accounts.MakeReset(ctx, tx, changes.Operator(), user)
	})
	return reset, linkURL(o.settings, accounts.ResetLink, reset.Token), err
}

// SetRole gives a role to the user with an e-mail address.
func (o *Operator) SetRole(ctx context.Context, email string, role accounts.Role) (accounts.User, error) {
	found, err := o.user(ctx, email)
	if err != nil {
		return accounts.User{}, err
	}
	return transaction.Write(ctx, o.db, found.Account, func(ctx context.Context, tx *store.Tx) (accounts.User, error) {
		current, err := tx.User(ctx, found.Account, found.ID)
		if err != nil {
			return accounts.User{}, err
		}
		return accounts.SetRole(ctx, tx, current, role)
	})
}

func (o *Operator) user(ctx context.Context, email string) (accounts.User, error) {
	return transaction.Read(ctx, o.db, func(ctx context.Context, tx *store.ReadTx) (accounts.User, error) {
		return accounts.FindByEmail(ctx, tx, email)
	})
}

// linkURL returns the URL of a link.
func linkURL(s settings.Settings, kind accounts.LinkKind, token string) string {
	return baseURL(s) + "/" + string(kind) + "?token=" + url.QueryEscape(token)
}

// baseURL returns the URL at which people reach the service: the public URL, or the
// address that it listens on.
func baseURL(s settings.Settings) string {
	switch {
	case s.PublicURL != "":
		return s.PublicURL
	case s.TLSCert != "":
		return "https://" + listening(s.Listen)
	}
	return "http://" + listening(s.Listen)
}

// bound returns an address with the port of its listener. If the configured port is 0,
// the system has chosen the port.
func bound(address string, listener net.Listener) string {
	host, _, err := net.SplitHostPort(address)
	_, port, boundErr := net.SplitHostPort(listener.Addr().String())
	if err != nil || boundErr != nil {
		return address
	}
	return net.JoinHostPort(host, port)
}

// listening returns an address in the form that a browser on the same machine can open.
func listening(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
