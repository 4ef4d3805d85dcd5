package accounts

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/hosts"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
)

// KindUser is the JSON:API type of a user.
const KindUser = "user"

const (
	// maxUsers bounds the users of an account.
	maxUsers = 10_000
	// maxEmail is the longest address that mail servers accept.
	maxEmail = 254
)

// User is a person of an account.
type User struct {
	ID      string `json:"-"`
	Account string `json:"-"`
	Email   string `json:"email"`
	// Address is the e-mail address in the form for comparisons. It is empty until an account's
	// first owner uses the set-up link. It is also empty for a user with an identity whose e-mail
	// address belongs to a user of another account.
	Address string `json:"-"`
	// PasswordHash is empty for a user without a password.
	PasswordHash string `json:"-"`
	// Identity is the user's Identity.key at an OpenID Connect provider; empty is none.
	Identity string `json:"-"`
	Name     string `json:"name"`
	Role     Role   `json:"role"`
	// CanSignIn reports whether the user has an identity, or an address and a password.
	CanSignIn bool      `json:"can_sign_in"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Actor returns the user as the actor in the history.
func (u User) Actor() changes.Actor {
	return changes.Actor{Type: changes.ActorUser, ID: u.ID, Name: u.Name}
}

// UserFilter narrows a list of users.
type UserFilter struct {
	Search string // a part of the e-mail address or the name
	Role   Role   // empty is any
}

// UserDraft is the state of a user that a caller asks for. Name is required; other absent
// members keep their values.
type UserDraft struct {
	Email optional.Value[string]
	Name  optional.Value[string]
	Role  optional.Value[string]
	// Problems are the problems found while reading the input.
	Problems fault.Problems
}

// Users lists the users of the caller's account. It requires ADMIN or OWNER.
func (s *Service) Users(ctx context.Context, caller Caller, filter UserFilter, request page.Request) (page.List[User], error) {
	return List(ctx, s.Store, caller, ReadTx.Users, filter, request)
}

// User returns one user of the caller's account. It requires ADMIN or OWNER.
func (s *Service) User(ctx context.Context, caller Caller, id string) (User, error) {
	return Get(ctx, s.Store, caller, ReadTx.User, id)
}

// ReplaceUser changes a user's name, role or e-mail address. It requires ADMIN or OWNER;
// only an OWNER changes an OWNER, and the last OWNER keeps the role.
func (s *Service) ReplaceUser(ctx context.Context, caller Caller, id string, draft UserDraft, match changes.Match[User]) (User, error) {
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (User, error) {
		return changes.Replace(ctx, tx, userTarget(ctx, tx, caller, id, match),
			func(before User) (User, error) { return draft.apply(tx, caller, before) },
			func(before, after User) error { return updateUser(ctx, tx, before, after) })
	})
}

// DeleteUser deletes a user with their sessions and links, but keeps the keys that the user made.
// It requires ADMIN or OWNER; only an OWNER deletes an OWNER, and the last OWNER cannot be deleted.
func (s *Service) DeleteUser(ctx context.Context, caller Caller, id string, match changes.Match[User]) error {
	return Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) error {
		return changes.Delete(ctx, tx, userTarget(ctx, tx, caller, id, match), func(user User) error {
			if err := keepOwner(ctx, tx, user); err != nil {
				return err
			}
			if err := endSessions(ctx, tx, caller.Actor(), user, ""); err != nil {
				return err
			}
			if err := tx.DeleteLinks(ctx, user.Account, user.ID); err != nil {
				return err
			}
			return tx.DeleteUser(ctx, user.Account, user.ID)
		})
	})
}

// SetRole gives a user a role on behalf of the operator.
func SetRole(ctx context.Context, tx Tx, user User, role Role) (User, error) {
	if user.Role == role {
		return user, nil
	}
	after := user
	after.Role, after.UpdatedAt = role, tx.Now()
	if err := updateUser(ctx, tx, user, after); err != nil {
		return User{}, err
	}
	return after, changes.Record(ctx, tx, user.Account, changes.Operator(), KindUser, user.ID, &user, &after)
}

// FirstOwner returns the account's oldest OWNER.
func FirstOwner(ctx context.Context, tx ReadTx, account string) (User, error) {
	owners, err := tx.Owners(ctx, account)
	if err == nil && len(owners) == 0 {
		err = fault.Missing("user", "owner")
	}
	if err != nil {
		return User{}, err
	}
	return owners[0], nil
}

// userTarget describes the write of a user. Its Load refuses callers who may not
// change the user.
func userTarget(ctx context.Context, tx Tx, caller Caller, id string, match changes.Match[User]) changes.Target[User] {
	return Target(ctx, caller, KindUser, id, match, func(ctx context.Context, account, id string) (User, error) {
		user, err := tx.User(ctx, account, id)
		if err == nil && !caller.Role.Covers(user.Role) {
			err = fault.New(fault.Forbidden, "Changing a user with the role %s needs that role; %s.", user.Role, caller.has())
		}
		return user, err
	})
}

// apply returns the user with the members of the draft, or says why it is not allowed.
func (d UserDraft) apply(tx Tx, caller Caller, user User) (User, error) {
	problems := d.Problems
	naming.RequireName(&problems, d.Name, maxName)
	role := parseRole(&problems, d.Role, user.Role)
	email := d.Email.Or(user.Email)
	if email != user.Email {
		checkEmail(&problems, email)
	}
	if err := problems.Err(); err != nil {
		return User{}, err
	}
	if err := caller.mayGive(role); err != nil {
		return User{}, err
	}
	if email != user.Email || !user.Role.Covers(role) {
		if err := caller.requireLasting(); err != nil {
			return User{}, err
		}
	}
	if email != user.Email {
		user.Email, user.Address = email, AddressOf(email)
	}
	user.Name, user.Role, user.UpdatedAt = d.Name.Or(""), role, tx.Now()
	return user.Checked(), nil
}

// Checked returns the user with CanSignIn computed from the other members.
func (u User) Checked() User {
	u.CanSignIn = u.Identity != "" || u.Address != "" && u.PasswordHash != ""
	return u
}

// mayGive refuses a role above the caller's own.
func (c Caller) mayGive(role Role) error {
	if c.Role.Covers(role) {
		return nil
	}
	return fault.New(fault.Forbidden, "You cannot give a role above your own: %s, and this would give the role %s.", c.has(), role).
		At(fault.Attribute("role"))
}

// updateUser stores a user. It refuses to remove the last OWNER or to reuse an address.
func updateUser(ctx context.Context, tx Tx, before, after User) error {
	if after.Role != Owner {
		if err := keepOwner(ctx, tx, before); err != nil {
			return err
		}
	}
	return taken(after.Email, tx.UpdateUser(ctx, after))
}

// taken replaces an AlreadyExists error with the refusal that the e-mail address is in use.
func taken(email string, err error) error {
	if fault.Is(err, fault.AlreadyExists) {
		return errTaken(email)
	}
	return err
}

func errTaken(email string) error {
	return fault.New(fault.AlreadyExists, "Somebody on this server has the e-mail address %q already.", email).At(fault.Attribute("email"))
}

// keepOwner refuses to remove the account's last OWNER, or the last OWNER who can sign in.
func keepOwner(ctx context.Context, tx ReadTx, leaves User) error {
	if leaves.Role != Owner {
		return nil
	}
	owners, err := tx.Owners(ctx, leaves.Account)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if owner.ID != leaves.ID && (owner.CanSignIn || !leaves.CanSignIn) {
			return nil
		}
	}
	return fault.New(fault.LastOwner, "This is the account's last OWNER who can sign in. Make somebody else an OWNER first.")
}

// checkEmail notes a problem if a text does not look like an e-mail address. It does not
// check that mail arrives.
func checkEmail(problems *fault.Problems, email string) {
	local, domain, separated := strings.Cut(email, "@")
	odd := func(r rune) bool { return unicode.IsSpace(r) || naming.IsHidden(r) || r == '@' }
	if !separated || local == "" || domain == "" || !naming.Fits(email, 3, maxEmail) || strings.ContainsFunc(local+domain, odd) {
		problems.Attribute("email", "must be an e-mail address such as ada@example.com, of at most %d characters", maxEmail)
		return
	}
	if _, err := hosts.Domain(domain); err != nil {
		problems.Attribute("email", "must have a domain as its registry spells it, in lower case, such as bücher.example or xn--bcher-kva.example")
	}
}

// AddressOf returns an e-mail address in the form for comparisons and storage. Invalid
// addresses, which old versions stored, are lowercased in ASCII.
func AddressOf(email string) string {
	address, err := hosts.Mailbox(email)
	if err != nil {
		return hosts.LowerASCII(email)
	}
	return address
}

// hasAddress reports whether address is AddressOf the user's e-mail. The stored form may
// differ: nodes of an older version lowercased addresses by Unicode.
func (u User) hasAddress(address string) bool { return AddressOf(u.Email) == address }

// userByAddress returns the user, in any account, who signs in with an address.
func userByAddress(ctx context.Context, tx ReadTx, address string) (User, error) {
	user, err := tx.UserByAddress(ctx, address)
	if err == nil && !user.hasAddress(address) {
		return User{}, fault.Missing("user", address)
	}
	return user, err
}

// FindByEmail returns the user, in any account, with an e-mail address.
func FindByEmail(ctx context.Context, tx ReadTx, email string) (User, error) {
	user, err := userByAddress(ctx, tx, AddressOf(email))
	if fault.Is(err, fault.NotFound) {
		err = fault.Missing("user", email)
	}
	return user, err
}
