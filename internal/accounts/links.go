package accounts

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/transaction"
)

// resetAge is how long a link that sets a password works.
const resetAge = 24 * time.Hour

// LinkKind says what a link does. It is also the path of the link; codes have no path.
type LinkKind string

// The kinds of link.
const (
	SetupLink LinkKind = "setup" // completes the account's first OWNER; the subject is the account
	JoinLink  LinkKind = "join"  // accepts an invitation
	ResetLink LinkKind = "reset" // sets a user's password
	CodeLink  LinkKind = "code"  // signs in a terminal; the subject is the session that made the code
)

// Link works once, and only while its maker may give the link's role. Only a hash of the
// token is stored.
type Link struct {
	ID      string   `json:"-"`
	Hash    string   `json:"-"`
	Account string   `json:"-"`
	Kind    LinkKind `json:"kind"`
	Subject string   `json:"user"` // the id of a user, invitation, account or session; callers see only links of users
	// Role is the role of the link's user; empty for a code.
	Role      Role      `json:"role"`
	Maker     LinkMaker `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	// ExpiresAt is when the link stops working; nil is never.
	ExpiresAt *time.Time `json:"expires_at"`
}

// LinkMaker is the actor who made a link: a person, a key or the operator. It is empty
// for codes and set-up links.
type LinkMaker struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

func makerOf(actor changes.Actor) LinkMaker { return LinkMaker{Type: actor.Type, ID: actor.ID} }

// mayGive reports whether the maker of a link may still give a role.
func (m LinkMaker) mayGive(ctx context.Context, tx ReadTx, account string, role Role) (bool, error) {
	var maker Caller
	works := true
	switch m.Type {
	case changes.ActorKey:
		key, err := tx.Key(ctx, account, m.ID)
		if err != nil {
			return false, ignoreMissing(err)
		}
		maker, works = key.Caller(), key.Works(tx.Now())
	case changes.ActorUser:
		user, err := tx.User(ctx, account, m.ID)
		if err != nil {
			return false, ignoreMissing(err)
		}
		maker = Caller{Role: user.Role}
	default:
		return m.Type == changes.ActorOperator || m == LinkMaker{}, nil
	}
	return works && Needs{Role: Admin}.Permit(maker) == nil && maker.mayGive(role) == nil, nil
}

// ignoreMissing returns err, or nil if err is NotFound.
func ignoreMissing(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

func (l Link) works(now time.Time) bool { return l.ExpiresAt == nil || now.Before(*l.ExpiresAt) }

// saveLink stores a link and returns its token. An older link of the same kind and subject
// stops working.
func saveLink(ctx context.Context, tx Tx, link Link) (token string, err error) {
	secret := newToken()
	link.ID, link.Hash, link.CreatedAt = newID(), secret.Hash(), tx.Now()
	return secret.text, tx.SaveLink(ctx, link)
}

// errNoLink returns the refusal of a link that does not work, whatever the reason.
func errNoLink() error {
	return fault.New(fault.NotFound, "This link does not work: it was used, has expired, or never existed. Ask for a new one.")
}

// MakeSetupLink makes a link that completes the account's first OWNER, and returns its
// token. It is refused once any OWNER can sign in.
func MakeSetupLink(ctx context.Context, tx Tx, account string) (token string, err error) {
	isSetUp, err := ownerCanSignIn(ctx, tx, account)
	if err != nil {
		return "", err
	}
	if isSetUp {
		return "", fault.New(fault.AlreadyExists,
			"An OWNER of this account can sign in already, so there is no set-up link. Make a link for a new password with signalbox admin users reset-password.")
	}
	return saveLink(ctx, tx, Link{Account: account, Kind: SetupLink, Subject: account, Role: Owner})
}

func ownerCanSignIn(ctx context.Context, tx ReadTx, account string) (bool, error) {
	owners, err := tx.Owners(ctx, account)
	return slices.ContainsFunc(owners, func(owner User) bool { return owner.CanSignIn }), err
}

// Reset is a link that sets a user's password. Its token is shown once.
type Reset struct {
	User      User
	Token     string
	ExpiresAt time.Time
}

// ResetPassword makes a link that sets a user's password. ADMIN or OWNER; only an OWNER
// makes a link for an OWNER.
func (s *Service) ResetPassword(ctx context.Context, caller Caller, id string) (Reset, error) {
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (Reset, error) {
		user, err := userTarget(ctx, tx, caller, id, nil).Load()
		if err == nil {
			err = caller.requireLasting()
		}
		if err != nil {
			return Reset{}, err
		}
		return MakeReset(ctx, tx, caller.Actor(), user)
	})
}

// MakeReset makes a link that sets a user's password, on behalf of an actor.
func MakeReset(ctx context.Context, tx Tx, actor changes.Actor, user User) (Reset, error) {
	if user.Address == "" {
		return Reset{}, fault.New(fault.Validation,
			"This user has no e-mail address to sign in with: use the set-up link, or give the user one first.")
	}
	expires := tx.Now().Add(resetAge)
	token, err := saveLink(ctx, tx, Link{Account: user.Account, Kind: ResetLink, Subject: user.ID, Role: user.Role,
		Maker: makerOf(actor), ExpiresAt: &expires})
	if err != nil {
		return Reset{}, err
	}
	return Reset{user, token, expires}, changes.RecordAs(ctx, tx, user.Account, actor, changes.ResetRequested, KindUser, user.ID, &user, &user)
}

// KindLink is the JSON:API type of a link that sets a password.
const KindLink = "link"

// LinkFilter narrows a list of links.
type LinkFilter struct {
	User string // the user whose password the link sets; empty is any
}

// Links lists the links that set a password. ADMIN or OWNER.
func (s *Service) Links(ctx context.Context, caller Caller, filter LinkFilter, request page.Request) (page.List[Link], error) {
	return List(ctx, s.Store, caller, ReadTx.ResetLinks, filter, request)
}

// Link returns one link that sets a password. ADMIN or OWNER.
func (s *Service) Link(ctx context.Context, caller Caller, id string) (Link, error) {
	return Get(ctx, s.Store, caller, ReadTx.ResetLink, id)
}

// WithdrawLink deletes a link that sets a password. ADMIN or OWNER; only an OWNER
// withdraws a link for an OWNER.
func (s *Service) WithdrawLink(ctx context.Context, caller Caller, id string, match changes.Match[Link]) error {
	return Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) error {
		return changes.Delete(ctx, tx, Target(ctx, caller, KindLink, id, match, tx.ResetLink), func(link Link) error {
			if _, err := userTarget(ctx, tx, caller, link.Subject, nil).Load(); err != nil {
				return err
			}
			return tx.DeleteLinks(ctx, caller.Account, link.Subject)
		})
	})
}

// RedeemDraft is the token of a link and the data that its user entered.
type RedeemDraft struct {
	Token, Email, Name, Password optional.Value[string]
	Peer, Client                 string
	Problems                     fault.Problems
}

// Redeem uses up a link and opens a session for its user. A link that does not work is
// NotFound, whatever the reason.
func (s *Service) Redeem(ctx context.Context, draft RedeemDraft) (Session, error) {
	token, sent := draft.Token.Get()
	if !sent {
		draft.Problems.Attribute("token", "is required")
		return Session{}, draft.Problems.Err()
	}
	hash := ParseSecret(token).Hash()
	link, err := transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Link, error) { return workingLink(ctx, tx, hash) })
	if err != nil {
		return Session{}, err
	}
	if err := draft.validate(link.Kind); err != nil {
		return Session{}, err
	}
	password, err := s.Passwords.Hash(ctx, Sender{Peer: draft.Peer, Known: true}, draft.Password.Or(""))
	if err != nil {
		return Session{}, err
	}
	var user User
	session, err := transaction.Write(ctx, s.Store, link.Account, func(ctx context.Context, tx Tx) (Session, error) {
		link, err := workingLink(ctx, tx, hash) // another request may have used the link meanwhile
		if err != nil {
			return Session{}, err
		}
		if user, err = draft.redeem(ctx, tx, link, password); err != nil {
			return Session{}, err
		}
		if err := tx.DeleteLinks(ctx, link.Account, link.Subject); err != nil {
			return Session{}, err
		}
		return openPersonal(ctx, tx, user, Session{Client: draft.Client})
	})
	if err == nil {
		s.attempts.trust(user.Address, draft.Peer)
	}
	return session, err
}

// workingLink returns the link whose token has a hash, if it works. Codes are refused,
// because they set no password.
func workingLink(ctx context.Context, tx ReadTx, hash string) (Link, error) {
	link, err := tx.LinkByHash(ctx, hash)
	if fault.Is(err, fault.NotFound) || err == nil && (link.Kind == CodeLink || !link.works(tx.Now())) {
		return Link{}, errNoLink()
	}
	if err != nil {
		return Link{}, err
	}
	given, err := link.Maker.mayGive(ctx, tx, link.Account, link.Role)
	if err == nil && given {
		given, err = link.fits(ctx, tx)
	}
	if err == nil && !given {
		err = errNoLink()
	}
	return link, err
}

// fits reports whether a link still fits its subject: no OWNER of the account can sign in
// yet, and the user of a reset link has not got a higher role since.
func (l Link) fits(ctx context.Context, tx ReadTx) (bool, error) {
	switch l.Kind {
	case SetupLink:
		isSetUp, err := ownerCanSignIn(ctx, tx, l.Account)
		return !isSetUp, err
	case ResetLink:
		user, err := tx.User(ctx, l.Account, l.Subject)
		return err == nil && l.Role.Covers(user.Role), ignoreMissing(err)
	}
	return true, nil
}

func (d *RedeemDraft) validate(kind LinkKind) error {
	checkPassword(&d.Problems, d.Password)
	naming.CheckName(&d.Problems, d.Name, maxName)
	switch email, sent := d.Email.Get(); {
	case kind == SetupLink:
		checkEmail(&d.Problems, email)
	case sent:
		d.Problems.Attribute("email", "is for the set-up link only: the user has an address already, so leave it out")
	}
	return d.Problems.Err()
}

// redeem does what the link is for, and returns the user with the new password.
func (d *RedeemDraft) redeem(ctx context.Context, tx Tx, link Link, password string) (User, error) {
	switch link.Kind {
	case SetupLink:
		return d.setUp(ctx, tx, link, password)
	case JoinLink:
		return d.join(ctx, tx, link, password)
	}
	return d.reset(ctx, tx, link, password)
}

func (d *RedeemDraft) setUp(ctx context.Context, tx Tx, link Link, password string) (User, error) {
	before, err := FirstOwner(ctx, tx, link.Account)
	if err != nil {
		return User{}, err
	}
	after, email := before, d.Email.Or("")
	after.Email, after.Address = email, AddressOf(email)
	return d.complete(ctx, tx, before, after, password)
}

func (d *RedeemDraft) reset(ctx context.Context, tx Tx, link Link, password string) (User, error) {
	user, err := tx.User(ctx, link.Account, link.Subject)
	if err != nil {
		return User{}, err
	}
	if err := endSessions(ctx, tx, user.Actor(), user, ""); err != nil {
		return User{}, err
	}
	return d.complete(ctx, tx, user, user, password)
}

// complete stores the password that a user chose, and the name if there is one.
func (d *RedeemDraft) complete(ctx context.Context, tx Tx, before, after User, password string) (User, error) {
	after.Name, after.PasswordHash, after.UpdatedAt = d.Name.Or(after.Name), password, tx.Now()
	after = after.Checked()
	if err := updateUser(ctx, tx, before, after); err != nil {
		return User{}, err
	}
	return after, changes.Record(ctx, tx, after.Account, after.Actor(), KindUser, after.ID, &before, &after)
}

func (d *RedeemDraft) join(ctx context.Context, tx Tx, link Link, password string) (User, error) {
	invitation, err := tx.Invitation(ctx, link.Account, link.Subject)
	if err != nil {
		return User{}, err
	}
	if err := requireCapacity(ctx, tx.CountUsers, link.Account, "platform.user_rows", "users", maxUsers); err != nil {
		return User{}, err
	}
	now := tx.Now()
	user := User{ID: newID(), Account: link.Account, Email: invitation.Email, Address: invitation.Address, PasswordHash: password,
		Name: d.Name.Or(invitation.Email), Role: invitation.Role, CreatedAt: now, UpdatedAt: now}.Checked()
	if err := taken(user.Email, tx.InsertUser(ctx, user)); err != nil {
		return User{}, err
	}
	if err := removeInvitation(ctx, tx, invitation); err != nil {
		return User{}, err
	}
	if err := changes.Record(ctx, tx, user.Account, user.Actor(), KindUser, user.ID, nil, &user); err != nil {
		return User{}, err
	}
	return user, changes.Record(ctx, tx, user.Account, user.Actor(), KindInvitation, invitation.ID, &invitation, nil)
}

// PasswordDraft is a person's current password and the new one.
type PasswordDraft struct {
	Current, Password optional.Value[string]
	Peer              string
	Problems          fault.Problems
}

// ChangePassword changes the password of the person who calls, and ends their other
// sessions and links. A key has no password and may not change its maker's.
func (s *Service) ChangePassword(ctx context.Context, caller Caller, draft PasswordDraft, match changes.Match[User]) (User, error) {
	if !caller.IsPerson() {
		return User{}, fault.New(fault.Forbidden, "Only a person can change their password, and this request came with an API key.")
	}
	if err := draft.validate(); err != nil {
		return User{}, err
	}
	caller, err := s.Confirm(ctx, caller) // an ended session must not reveal whether a password is right
	if err != nil {
		return User{}, err
	}
	user, err := s.CurrentUser(ctx, caller)
	if err != nil {
		return User{}, err
	}
	s.attempts.trust(user.Address, draft.Peer) // the caller is signed in
	err = s.attempt(user.Address, draft.Peer, func(from Sender) error {
		return s.verify(ctx, from, draft.Current.Or(""), user.PasswordHash, errWrongCurrent())
	})
	if err != nil {
		return User{}, err
	}
	password, err := s.Passwords.Hash(ctx, Sender{Peer: draft.Peer, Known: true}, draft.Password.Or(""))
	if err != nil {
		return User{}, err
	}
	return s.setPassword(ctx, caller, user, password, match)
}

func (d *PasswordDraft) validate() error {
	if _, sent := d.Current.Get(); !sent {
		d.Problems.Attribute("current_password", "is required")
	}
	checkPassword(&d.Problems, d.Password)
	return d.Problems.Err()
}

func errWrongCurrent() error {
	return fault.New(fault.Forbidden, "current_password is not your password.").At(fault.Attribute("current_password"))
}

// setPassword stores a new password, unless the verified password has changed meanwhile.
func (s *Service) setPassword(ctx context.Context, caller Caller, verified User, password string, match changes.Match[User]) (User, error) {
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (User, error) {
		target := Target(ctx, caller, KindUser, caller.UserID, match, tx.User)
		target.Hidden = func(before, after User) bool { return before.PasswordHash != after.PasswordHash }
		return changes.Replace(ctx, tx, target, func(user User) (User, error) {
			if user.PasswordHash != verified.PasswordHash {
				return User{}, errWrongCurrent()
			}
			user.PasswordHash, user.UpdatedAt = password, tx.Now()
			return user, nil
		}, func(_, user User) error {
			if err := endSessions(ctx, tx, caller.Actor(), user, caller.SessionID); err != nil {
				return err
			}
			if err := tx.DeleteLinks(ctx, user.Account, user.ID); err != nil {
				return err
			}
			return tx.UpdateUser(ctx, user)
		})
	})
}
