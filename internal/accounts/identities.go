package accounts

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Identity has the statements of an OpenID Connect provider about a person.
type Identity struct {
	Issuer, Subject string // together they identify the person permanently
	Email           string
	EmailVerified   bool // the provider vouches for the e-mail address
	Name            string
	// Values are the values of the claim that decides about roles.
	Values []string
}

// maxSubject is the longest subject that OpenID Connect allows.
const maxSubject = 255

// key returns the identity as it is stored and compared.
func (i Identity) key() string { return i.Issuer + " " + i.Subject }

// Anybody is the value in IdentityRules.Roles that matches every person.
const Anybody = "*"

// IdentityRules decide who may sign in with an identity, and with which role.
type IdentityRules struct {
	// Roles maps values of a claim to roles in the server's first account. If it is empty,
	// the provider gives no roles, and only existing or invited users sign in.
	Roles map[string]Role
	// Domains are the allowed domains of e-mail addresses, as hosts.Domain returns them; nil is any.
	Domains []string
}

// The reasons why a person whom the provider identified may not sign in. The metadata of the refusal
// has the reason.
const (
	ReasonEmail      = "email"            // there is no e-mail address
	ReasonUnverified = "email_unverified" // the provider does not vouch for the address
	ReasonDomain     = "domain"           // the address has a domain that is not allowed
	ReasonNoRole     = "no_role"          // no rule gives a role, and there is no invitation to accept
	ReasonConflict   = "conflict"         // the address belongs to another user
)

func refuseIdentity(reason, format string, args ...any) error {
	return fault.New(fault.Forbidden, format, args...).With("reason", reason)
}

// SignInWithIdentity opens a session for a person whom a provider has identified. If a rule gives
// the person a role, the session belongs to a user of the server's first account. Otherwise it
// belongs to the user with the identity, to the first account's user with the verified e-mail
// address, or to a new user who was invited with that address.
func (s *Service) SignInWithIdentity(ctx context.Context, identity Identity, client string) (Session, error) {
	if err := s.Identities.admit(identity); err != nil {
		return Session{}, err
	}
	found, err := transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (membership, error) {
		return s.Identities.membership(ctx, tx, identity)
	})
	if err != nil {
		return Session{}, err
	}
	if found.elsewhere != nil {
		if err := s.release(ctx, *found.elsewhere); err != nil {
			return Session{}, err
		}
	}
	return transaction.Write(ctx, s.Store, found.account, func(ctx context.Context, tx Tx) (Session, error) {
		current, err := s.Identities.membership(ctx, tx, identity)
		if err == nil && (current.account != found.account || current.elsewhere != nil) {
			err = fault.New(fault.Unavailable, "Your user has just been changed. Sign in again.")
		}
		if err != nil {
			return Session{}, err
		}
		user, err := current.user(ctx, tx, identity)
		if err != nil {
			return Session{}, err
		}
		return openPersonal(ctx, tx, user, Session{Client: client})
	})
}

// admit checks the rules that do not need the database.
func (r IdentityRules) admit(identity Identity) error {
	var problems fault.Problems
	checkEmail(&problems, identity.Email)
	_, domain, _ := strings.Cut(AddressOf(identity.Email), "@") // checkEmail refuses domains without an ASCII form
	switch {
	case identity.Subject == "" || len(identity.Subject) > maxSubject:
		return refuseIdentity(ReasonConflict, "The provider did not identify the person: the claim sub must have 1 to %d characters.", maxSubject)
	case problems.Err() != nil:
		return refuseIdentity(ReasonEmail, "The provider gave no e-mail address that Signalbox can use. It must be in the claim email.")
	case !identity.EmailVerified:
		return refuseIdentity(ReasonUnverified, "The provider has not verified the e-mail address %q. Verify it there, then sign in again.", identity.Email)
	case r.Domains != nil && !slices.Contains(r.Domains, domain):
		return refuseIdentity(ReasonDomain, "E-mail addresses of %s may not sign in to this server.", domain)
	}
	return nil
}

// role returns the strongest role that the rules give to values of the claim.
func (r IdentityRules) role(values []string) (role Role, given bool) {
	for value, each := range r.Roles {
		if (value == Anybody || slices.Contains(values, value)) && (!given || each.Covers(role)) {
			role, given = each, true
		}
	}
	return role, given
}

// membership is the account that a person signs in to, and the role and user there.
type membership struct {
	account string
	role    Role
	// known is the existing user with the identity, or the one who will get it; nil for a new user.
	known *User
	// invitation is the invitation that a new user accepts; nil if a rule admits them.
	invitation *Invitation
	// elsewhere is the user of another account who has the identity although a rule applies.
	elsewhere *User
}

// membership decides which account a person signs in to. Only users of the first account are found
// by their e-mail address. In other accounts, an inviter may have used the invitation link to take
// the address.
func (r IdentityRules) membership(ctx context.Context, tx ReadTx, identity Identity) (membership, error) {
	first, err := tx.FirstAccount(ctx)
	if err != nil {
		return membership{}, err
	}
	bound, err := orNone(tx.UserByIdentity(ctx, identity.key()))
	if err != nil {
		return membership{}, err
	}
	if role, given := r.role(identity.Values); given {
		return byRule(ctx, tx, membership{account: first.ID, role: role, known: bound}, identity)
	}
	rulesDecide := len(r.Roles) > 0 // in the first account
	if bound == nil && !rulesDecide {
		if bound, err = unbound(ctx, tx, first.ID, identity); err != nil {
			return membership{}, err
		}
	}
	switch {
	case bound != nil && bound.Account == first.ID && rulesDecide:
		return membership{}, errNoRole()
	case bound != nil:
		return membership{account: bound.Account, role: bound.Role, known: bound}, nil
	}
	return r.invited(ctx, tx, first.ID, identity)
}

// byRule completes the membership of a person to whom a rule gives a role.
func byRule(ctx context.Context, tx ReadTx, found membership, identity Identity) (membership, error) {
	if found.known != nil && found.known.Account != found.account {
		found.elsewhere, found.known = found.known, nil
	}
	if found.known != nil {
		return found, nil
	}
	var err error
	found.known, err = unbound(ctx, tx, found.account, identity)
	return found, err
}

// invited returns the membership that an open invitation to the identity's address offers. An
// invitation of the first account wins, but is ignored if rules decide about that account. If
// several other accounts have invited the address, the person must choose by opening a link.
func (r IdentityRules) invited(ctx context.Context, tx ReadTx, first string, identity Identity) (membership, error) {
	invitations, err := tx.InvitationsTo(ctx, AddressOf(identity.Email))
	if err != nil {
		return membership{}, err
	}
	var open []Invitation
	for _, each := range invitations {
		if each.Account == first && len(r.Roles) > 0 || AddressOf(each.Email) != AddressOf(identity.Email) {
			continue
		}
		valid, err := each.isOpen(ctx, tx)
		switch {
		case err != nil:
			return membership{}, err
		case valid && each.Account == first:
			return each.membership(), nil
		case valid:
			open = append(open, each)
		}
	}
	switch len(open) {
	case 0:
		return membership{}, errNoRole()
	case 1:
		return open[0].membership(), nil
	}
	return membership{}, refuseIdentity(ReasonNoRole, "More than one account has invited %q. Use the link of the invitation that you want.", identity.Email)
}

// isOpen reports whether an invitation has not expired and its maker may still give the role.
func (i Invitation) isOpen(ctx context.Context, tx ReadTx) (bool, error) {
	if !tx.Now().Before(i.ExpiresAt) {
		return false, nil
	}
	link, err := tx.LinkAbout(ctx, JoinLink, i.ID)
	if err != nil {
		return false, ignoreMissing(err)
	}
	given, err := link.Maker.mayGive(ctx, tx, i.Account, i.Role)
	return given, ignoreMissing(err)
}

func (i Invitation) membership() membership {
	return membership{account: i.Account, role: i.Role, invitation: &i}
}

// unbound returns the user of an account with the e-mail address of an identity; nil if there is
// none, or if the user is bound to a different identity.
func unbound(ctx context.Context, tx ReadTx, account string, identity Identity) (*User, error) {
	user, err := orNone(userByAddress(ctx, tx, AddressOf(identity.Email)))
	if err != nil || user == nil || user.Account != account {
		return nil, err
	}
	if user.Identity != "" && user.Identity != identity.key() { // a concurrent sign-in may have bound this identity
		return nil, errOtherIdentity(identity)
	}
	return user, nil
}

// orNone returns nil if the user was not found.
func orNone(user User, err error) (*User, error) {
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil //nolint:nilnil // no user is a valid result
	case err != nil:
		return nil, err
	}
	return &user, nil
}

// release removes the identity from a user of another account, because a rule gives the
// identity a role in the first account.
func (s *Service) release(ctx context.Context, bound User) error {
	return s.Store.Write(ctx, bound.Account, func(ctx context.Context, tx Tx) error {
		before, err := tx.User(ctx, bound.Account, bound.ID)
		if fault.Is(err, fault.NotFound) || err == nil && before.Identity != bound.Identity {
			return nil
		}
		if err != nil {
			return err
		}
		after := before
		after.Identity, after.UpdatedAt = "", tx.Now()
		after = after.Checked()
		if err := tx.UpdateUser(ctx, after); err != nil {
			return err
		}
		return changes.Record(ctx, tx, after.Account, changes.System(), KindUser, after.ID, &before, &after)
	})
}

func errOtherIdentity(identity Identity) error {
	return refuseIdentity(ReasonConflict,
		"The e-mail address %q belongs to a user who signs in as somebody else at the provider. Ask an administrator to delete that user, or to change the address.", identity.Email)
}

// user creates or updates the user who signs in, from the rules and the provider's data.
func (m membership) user(ctx context.Context, tx Tx, identity Identity) (User, error) {
	if m.known != nil {
		return m.follow(ctx, tx, *m.known, identity)
	}
	user, err := joinWithIdentity(ctx, tx, m.account, identity, m.role)
	if err != nil || m.invitation == nil {
		return user, err
	}
	if err := removeInvitation(ctx, tx, *m.invitation); err != nil {
		return User{}, err
	}
	return user, changes.Record(ctx, tx, user.Account, user.Actor(), KindInvitation, m.invitation.ID, m.invitation, nil)
}

func errNoRole() error {
	return refuseIdentity(ReasonNoRole, "The provider knows you, but nothing gives you a role on this server. Ask an administrator.")
}

// joinWithIdentity creates a user for an identity.
func joinWithIdentity(ctx context.Context, tx Tx, account string, identity Identity, role Role) (User, error) {
	if err := requireCapacity(ctx, tx.CountUsers, account, "platform.user_rows", "users", maxUsers); err != nil {
		return User{}, err
	}
	address, err := freeAddress(ctx, tx, User{Account: account}, identity)
	if err != nil {
		return User{}, err
	}
	now := tx.Now()
	user := User{ID: newID(), Account: account, Email: identity.Email, Address: address, Identity: identity.key(),
		Name: identity.userName(), Role: role, CreatedAt: now, UpdatedAt: now}.Checked()
	if err := tx.InsertUser(ctx, user); err != nil {
		return User{}, otherIdentity(identity, err)
	}
	return user, changes.Record(ctx, tx, account, user.Actor(), KindUser, user.ID, nil, &user)
}

// userName returns the identity's name in a form that is valid as a user's name.
func (i Identity) userName() string {
	return cut(cmp.Or(strings.TrimSpace(naming.Printable(i.Name)), i.Email), maxName)
}

// otherIdentity turns AlreadyExists into a refusal: another user has the address.
func otherIdentity(identity Identity, err error) error {
	if fault.Is(err, fault.AlreadyExists) {
		return errOtherIdentity(identity)
	}
	return err
}

// freeAddress returns the e-mail address that a user gets from an identity. It is empty while a user
// of another account has the address, because that user may be a squatter.
func freeAddress(ctx context.Context, tx ReadTx, user User, identity Identity) (string, error) {
	address := AddressOf(identity.Email)
	holder, err := orNone(tx.UserByAddress(ctx, address))
	switch {
	case err != nil:
		return "", err
	case holder == nil || holder.ID == user.ID:
		return address, nil
	case holder.Account == user.Account:
		return "", errOtherIdentity(identity)
	}
	return "", nil
}

// follow gives a user the identity, the identity's e-mail address and the role. The last OWNER who
// can sign in stays OWNER.
func (m membership) follow(ctx context.Context, tx Tx, before User, identity Identity) (User, error) {
	after := before
	after.Identity, after.Role = identity.key(), m.role
	switch address, err := freeAddress(ctx, tx, before, identity); {
	case err != nil:
		return User{}, err
	case address != "" && address != before.Address, address == "" && before.Address == "":
		after.Email, after.Address = identity.Email, address
	}
	if m.role != Owner {
		err := keepOwner(ctx, tx, before)
		if fault.Is(err, fault.LastOwner) {
			after.Role, err = Owner, nil
		}
		if err != nil {
			return User{}, err
		}
	}
	if !before.Role.Covers(after.Role) {
		if err := endOlderAccess(ctx, tx, &after); err != nil {
			return User{}, err
		}
	}
	if after = after.Checked(); after == before {
		return before, nil
	}
	after.UpdatedAt = tx.Now()
	if err := tx.UpdateUser(ctx, after); err != nil {
		return User{}, otherIdentity(identity, err)
	}
	return after, changes.Record(ctx, tx, after.Account, after.roleActor(before), KindUser, after.ID, &before, &after)
}

// endOlderAccess ends the sessions, links and password of a user whose role a rule raises. The
// inviter may have chosen the password and must not get the higher role.
func endOlderAccess(ctx context.Context, tx Tx, user *User) error {
	user.PasswordHash = ""
	if err := endSessions(ctx, tx, changes.System(), *user, ""); err != nil {
		return err
	}
	return tx.DeleteLinks(ctx, user.Account, user.ID)
}

// roleActor returns the actor of a change at sign-in: the system if the rules changed the
// role, else the user.
func (u User) roleActor(before User) changes.Actor {
	if u.Role != before.Role {
		return changes.System()
	}
	return u.Actor()
}
