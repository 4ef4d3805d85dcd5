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

// Identity is what an OpenID Connect provider says of somebody.
type Identity struct {
	Issuer, Subject string // who they are, for ever
	Email           string
	EmailVerified   bool // the provider vouches for the e-mail address
	Name            string
	// Values are those of the claim that gives roles.
	Values []string
}

// maxSubject is the length that OpenID Connect allows.
const maxSubject = 255

// key returns the identity as it is stored and compared.
func (i Identity) key() string { return i.Issuer + " " + i.Subject }

// Anybody is the value in IdentityRules.Roles that everybody has.
const Anybody = "*"

// IdentityRules decide who may sign in with an identity, and with which role.
type IdentityRules struct {
	// Roles are given by values of a claim, in the server's first account. If there are
	// none, the provider gives no roles: those who are users already sign in.
	Roles map[string]Role
	// Domains are those of the e-mail addresses that may sign in, in lower case; nil is any.
	Domains []string
}

// The reasons why somebody whom the provider knows may not sign in, in the meta data of
// the refusal.
const (
	ReasonEmail      = "email"            // there is no e-mail address
	ReasonUnverified = "email_unverified" // the provider does not vouch for it
	ReasonDomain     = "domain"           // its domain is not allowed
	ReasonNoRole     = "no_role"          // no rule gives a role, or nobody invited them
	ReasonConflict   = "conflict"         // the address is somebody else's
)

func refuseIdentity(reason, format string, args ...any) error {
	return fault.New(fault.Forbidden, format, args...).With("reason", reason)
}

// SignInWithIdentity opens a session for somebody whom a provider has identified. A user
// is found by the identity, then by the e-mail address; somebody new becomes a user of
// the server's first account if a rule gives them a role.
func (s *Service) SignInWithIdentity(ctx context.Context, identity Identity, client string) (Session, error) {
	if err := s.Identities.admit(identity); err != nil {
		return Session{}, err
	}
	account, err := transaction.Read(ctx, s.Store, func(tx ReadTx) (string, error) { return accountOf(ctx, tx, identity) })
	if err != nil {
		return Session{}, err
	}
	return transaction.Write(ctx, s.Store, account, func(tx Tx) (Session, error) {
		user, err := s.Identities.user(ctx, tx, account, identity)
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
	_, domain, _ := strings.Cut(addressOf(identity.Email), "@")
	switch {
	case identity.Subject == "" || len(identity.Subject) > maxSubject:
		return refuseIdentity(ReasonConflict, "The provider names nobody: sub must have 1 to %d characters.", maxSubject)
	case problems.Err() != nil:
		return refuseIdentity(ReasonEmail, "The provider gave no e-mail address. Signalbox needs the claim email.")
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

// accountOf returns the account in which somebody signs in.
func accountOf(ctx context.Context, tx ReadTx, identity Identity) (string, error) {
	user, err := identified(ctx, tx, identity)
	if fault.Is(err, fault.NotFound) {
		first, err := tx.FirstAccount(ctx)
		return first.ID, err
	}
	return user.Account, err
}

// identified returns the user with an identity, or the one with its e-mail address who
// has no identity yet.
func identified(ctx context.Context, tx ReadTx, identity Identity) (User, error) {
	user, err := tx.UserByIdentity(ctx, identity.key())
	if !fault.Is(err, fault.NotFound) {
		return user, err
	}
	user, err = tx.UserByAddress(ctx, addressOf(identity.Email))
	if err == nil && user.Identity != "" && user.Identity != identity.key() { // which it may have got since it was looked for
		return User{}, errOtherIdentity(identity)
	}
	return user, err
}

func errOtherIdentity(identity Identity) error {
	return refuseIdentity(ReasonConflict,
		"The e-mail address %q belongs to a user who signs in as somebody else at the provider. Ask an administrator to delete that user, or to change the address.", identity.Email)
}

// user returns who signs in, as the rules and the provider want them to be.
func (r IdentityRules) user(ctx context.Context, tx Tx, account string, identity Identity) (User, error) {
	role, given := r.role(identity.Values)
	before, err := identified(ctx, tx, identity)
	switch {
	case fault.Is(err, fault.NotFound) && given:
		return joinWithIdentity(ctx, tx, account, identity, role)
	case fault.Is(err, fault.NotFound):
		return User{}, errNoRole()
	case err != nil:
		return User{}, err
	case before.Account != account: // the user was deleted and invited elsewhere meanwhile
		return User{}, fault.New(fault.Unavailable, "Your user has just been changed. Sign in again.")
	}
	first, err := tx.FirstAccount(ctx)
	if err != nil {
		return User{}, err
	}
	if len(r.Roles) == 0 || first.ID != account {
		role, given = before.Role, true
	}
	if !given {
		return User{}, errNoRole()
	}
	return followIdentity(ctx, tx, before, identity, role)
}

func errNoRole() error {
	return refuseIdentity(ReasonNoRole, "The provider knows you, but nothing gives you a role on this server. Ask an administrator.")
}

// joinWithIdentity makes a user of an account.
func joinWithIdentity(ctx context.Context, tx Tx, account string, identity Identity, role Role) (User, error) {
	if err := requireCapacity(ctx, tx.CountUsers, account, "platform.user_rows", "users", maxUsers); err != nil {
		return User{}, err
	}
	now := tx.Now()
	user := User{ID: newID(), Account: account, Email: identity.Email, Address: addressOf(identity.Email), Identity: identity.key(),
		Name: identity.userName(), Role: role, CreatedAt: now, UpdatedAt: now}.Checked()
	if err := tx.InsertUser(ctx, user); err != nil {
		return User{}, otherIdentity(identity, err)
	}
	return user, changes.Record(ctx, tx, account, user.Actor(), KindUser, user.ID, nil, &user)
}

// userName returns a name that a user may have.
func (i Identity) userName() string {
	return cut(cmp.Or(strings.TrimSpace(naming.Printable(i.Name)), i.Email), maxName)
}

// otherIdentity explains that an address is somebody else's, if that is what err says.
func otherIdentity(identity Identity, err error) error {
	if fault.Is(err, fault.AlreadyExists) {
		return errOtherIdentity(identity)
	}
	return err
}

// followIdentity gives a user the identity, its e-mail address and a role. The last OWNER
// who can sign in stays one.
func followIdentity(ctx context.Context, tx Tx, before User, identity Identity, role Role) (User, error) {
	after := before
	after.Identity, after.Role = identity.key(), role
	if address := addressOf(identity.Email); address != before.Address {
		after.Email, after.Address = identity.Email, address
	}
	after = after.Checked()
	if role != Owner {
		err := keepOwner(ctx, tx, before)
		if fault.Is(err, fault.LastOwner) {
			after.Role, err = Owner, nil
		}
		if err != nil {
			return User{}, err
		}
	}
	if after == before {
		return before, nil
	}
	after.UpdatedAt = tx.Now()
	if err := tx.UpdateUser(ctx, after); err != nil {
		return User{}, otherIdentity(identity, err)
	}
	return after, changes.Record(ctx, tx, after.Account, after.roleActor(before), KindUser, after.ID, &before, &after)
}

// roleActor returns who changed a user that signs in: a role follows from the rules.
func (u User) roleActor(before User) changes.Actor {
	if u.Role != before.Role {
		return changes.System()
	}
	return u.Actor()
}
