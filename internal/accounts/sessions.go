package accounts

import (
	"cmp"
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/transaction"
)

// KindSession is the JSON:API type of a session.
const KindSession = "session"

const (
	// SessionIdle is how long a session lasts without being used.
	SessionIdle = 12 * time.Hour
	// SessionAge is how long a session lasts at most.
	SessionAge = 7 * 24 * time.Hour
	// maxSessions bounds the sessions of a person and of a key. When a further session
	// opens, the least recently used one ends.
	maxSessions = 100
	// maxClient is the length to which a User-Agent is cut.
	maxClient = 200
)

// Session is a browser or command line that is signed in as a person or with a key. Only
// the result of its creation has the plaintext, which is the cookie's value.
type Session struct {
	ID        string `json:"-"`
	Account   string `json:"-"`
	Hash      string `json:"-"`
	Plaintext string `json:"-"`
	// User is the person, or the user who made the key.
	User string `json:"user"`
	// Key is the key that opened the session; nil for a password, an identity or a code.
	Key *string `json:"api_key"`
	// Role and Scopes are the current role and scopes of the user or the key.
	Role       Role      `json:"role"`
	Scopes     Scopes    `json:"scopes"`
	Client     string    `json:"client"` // the User-Agent of the sign-in
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
	ExpiresAt  time.Time `json:"expires_at"`
}

// Recorded returns the members of a session that the history shows.
func (s Session) Recorded() any {
	return struct {
		User      string    `json:"user"`
		Key       *string   `json:"api_key"`
		CreatedAt time.Time `json:"created_at"`
		ExpiresAt time.Time `json:"expires_at"`
	}{s.User, s.Key, s.CreatedAt, s.ExpiresAt}
}

// SessionFilter narrows a list of sessions. Expired sessions are never listed.
type SessionFilter struct {
	User     string // empty is any
	Key      string // empty is any
	Personal bool   // only sessions that were not opened with a key
}

// SignInDraft is an e-mail address, a password and their sender.
type SignInDraft struct {
	Email, Password optional.Value[string]
	Peer, Client    string
	Problems        fault.Problems
}

// SignIn opens a session for a person. An unknown address and a wrong password take
// equally long and get the same Unauthorized refusal.
func (s *Service) SignIn(ctx context.Context, draft SignInDraft) (Session, error) {
	if err := draft.validate(); err != nil {
		return Session{}, err
	}
	user, err := s.signInUser(ctx, draft)
	if err != nil {
		return Session{}, err
	}
	return transaction.Write(ctx, s.Store, user.Account, func(ctx context.Context, tx Tx) (Session, error) {
		current, err := tx.User(ctx, user.Account, user.ID)
		if fault.Is(err, fault.NotFound) || err == nil && current.PasswordHash != user.PasswordHash {
			err = errNotSignedIn()
		}
		if err != nil {
			return Session{}, err
		}
		return openPersonal(ctx, tx, current, Session{Client: draft.Client})
	})
}

// signInUser returns the user with the address and the password of a draft. It reads the
// user only after the attempt was admitted, so refused attempts cost no read.
func (s *Service) signInUser(ctx context.Context, draft SignInDraft) (user User, err error) {
	address := AddressOf(draft.Email.Or(""))
	err = s.attempt(address, draft.Peer, func(from Sender) error {
		user, err = transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (User, error) { return userByAddress(ctx, tx, address) })
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		return s.verify(ctx, from, draft.Password.Or(""), user.PasswordHash, errNotSignedIn())
	})
	return user, err
}

func (d *SignInDraft) validate() error {
	if email, sent := d.Email.Get(); !sent || len(email) > 4*maxEmail {
		d.Problems.Attribute("email", "is required and must be the e-mail address that you sign in with")
	}
	if _, sent := d.Password.Get(); !sent {
		d.Problems.Attribute("password", "is required")
	}
	return d.Problems.Err()
}

func errNotSignedIn() error {
	return fault.New(fault.Unauthorized, "The e-mail address or the password is wrong.")
}

// verify returns wrong if the password does not match the hash.
func (s *Service) verify(ctx context.Context, from Sender, password, hash string, wrong error) error {
	right, err := s.Passwords.Verify(ctx, from, password, hash)
	if err == nil && !right {
		err = wrong
	}
	return err
}

// attempt calls try and counts its failures. After many failures the person, the address
// or the network is refused for a while.
func (s *Service) attempt(address, peer string, try func(Sender) error) error {
	admitted, err := s.attempts.admit(address, peer, s.Now())
	if err != nil {
		return err
	}
	return s.attempts.settle(admitted, try(Sender{Peer: peer, Known: admitted.known}))
}

// SignInWithKey opens a session that never has more rights than the caller's key. A key
// that has one purpose is refused.
func (s *Service) SignInWithKey(ctx context.Context, caller Caller, client string) (Session, error) {
	if err := caller.RequireFullAccess(); err != nil {
		return Session{}, err
	}
	caller.Needs = Needs{Scoped: true}
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (Session, error) {
		session := Session{Account: caller.Account, User: caller.UserID, Key: &caller.KeyID, Role: caller.Role,
			Scopes: Scopes{Environments: caller.Environments}, Client: client}
		if caller.ExpiresAt != nil {
			session.ExpiresAt = *caller.ExpiresAt
		}
		return openSession(ctx, tx, caller.Actor(), session, SessionFilter{Key: caller.KeyID})
	})
}

// openPersonal stores a session of a person.
func openPersonal(ctx context.Context, tx Tx, user User, session Session) (Session, error) {
	session.Account, session.User, session.Role = user.Account, user.ID, user.Role
	return openSession(ctx, tx, user.Actor(), session, SessionFilter{User: user.ID, Personal: true})
}

// openSession stores a session. If too many sessions match like, it ends the least
// recently used ones.
func openSession(ctx context.Context, tx Tx, actor changes.Actor, session Session, like SessionFilter) (Session, error) {
	token, now := newToken(), tx.Now()
	session.ID, session.Hash, session.Plaintext = newID(), token.Hash(), token.text
	session.CreatedAt, session.LastUsedAt = now, now
	if latest := now.Add(SessionAge); session.ExpiresAt.IsZero() || session.ExpiresAt.After(latest) {
		session.ExpiresAt = latest
	}
	session.Client = cut(session.Client, maxClient)
	if err := endExcess(ctx, tx, actor, session.Account, like); err != nil {
		return Session{}, err
	}
	if err := tx.InsertSession(ctx, session); err != nil {
		return Session{}, err
	}
	return session, changes.Record(ctx, tx, session.Account, actor, KindSession, session.ID, nil, &session)
}

// cut returns at most limit printable characters of an untrusted text.
func cut(text string, limit int) string {
	runes := []rune(naming.Printable(text))
	return string(runes[:min(len(runes), limit)])
}

// leastUsed sorts sessions so that the least recently used one is last.
func leastUsed() page.Request {
	request := page.First()
	request.Sort = []page.Order{{Field: "last_used_at", Descending: true}}
	return request
}

func endExcess(ctx context.Context, tx Tx, actor changes.Actor, account string, like SessionFilter) error {
	found, err := tx.Sessions(ctx, account, like, leastUsed())
	if err != nil || len(found.Items) < maxSessions {
		return err
	}
	return end(ctx, tx, actor, account, found.Items[maxSessions-1:])
}

// endSessions ends all sessions of a user except one.
func endSessions(ctx context.Context, tx Tx, actor changes.Actor, user User, except string) error {
	var ended []Session
	for request := leastUsed(); ; request.Number++ {
		found, err := tx.Sessions(ctx, user.Account, SessionFilter{User: user.ID}, request)
		if err != nil {
			return err
		}
		for _, session := range found.Items {
			if session.ID != except {
				ended = append(ended, session)
			}
		}
		if len(found.Items) < request.Size {
			return end(ctx, tx, actor, user.Account, ended)
		}
	}
}

// end deletes sessions and records the changes, which tell all nodes.
func end(ctx context.Context, tx Tx, actor changes.Actor, account string, sessions []Session) error {
	ids, edits := make([]string, len(sessions)), make([]changes.Edit[Session], len(sessions))
	for i := range sessions {
		ids[i] = sessions[i].ID
		edits[i] = changes.Edit[Session]{Key: sessions[i].ID, Before: &sessions[i]}
	}
	if err := tx.DeleteSessions(ctx, account, ids...); err != nil {
		return err
	}
	return changes.RecordEach(ctx, tx, account, actor, "", KindSession, edits)
}

// Sessions lists the caller's own sessions, or the sessions of filter.User. Sessions of
// other users need ADMIN or OWNER.
func (s *Service) Sessions(ctx context.Context, caller Caller, filter SessionFilter, request page.Request) (page.List[Session], error) {
	if filter.User == "" || filter.User == caller.UserID && !caller.Role.Covers(Admin) {
		filter = caller.ownSessions()
	} else if err := cmp.Or(caller.Require(Admin), caller.RequireUnscoped()); err != nil {
		return page.List[Session]{}, err
	}
	return List(ctx, s.Store, caller, ReadTx.Sessions, filter, request)
}

func (c Caller) ownSessions() SessionFilter {
	if c.IsPerson() {
		return SessionFilter{User: c.UserID, Personal: true}
	}
	return SessionFilter{Key: c.KeyID}
}

// CurrentSession returns the session of the caller's request.
func (s *Service) CurrentSession(ctx context.Context, caller Caller) (Session, error) {
	return Get(ctx, s.Store, caller, ReadTx.Session, caller.SessionID)
}

// EndSession ends a session of the caller. ADMIN and OWNER may also end sessions of
// users whose role is not above their own. For other callers the session is NotFound.
func (s *Service) EndSession(ctx context.Context, caller Caller, id string, match changes.Match[Session]) error {
	return Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) error {
		target := Target(ctx, caller, KindSession, id, match, func(ctx context.Context, account, id string) (Session, error) {
			session, err := tx.Session(ctx, account, id)
			if err == nil {
				err = caller.mayEnd(session)
			}
			return session, err
		})
		return changes.Delete(ctx, tx, target, func(Session) error { return tx.DeleteSessions(ctx, caller.Account, id) })
	})
}

func (c Caller) mayEnd(session Session) error {
	own := c.IsPerson() && session.Key == nil && session.User == c.UserID ||
		session.Key != nil && *session.Key == c.KeyID || session.ID == c.SessionID
	switch {
	case own:
		return nil
	case !c.Role.Covers(Admin) || c.RequireUnscoped() != nil:
		return fault.Missing("session", session.ID)
	case !c.Role.Covers(session.Role):
		return fault.New(fault.Forbidden, "Ending a session with the role %s needs that role; %s.", session.Role, c.has())
	}
	return nil
}

// SignedIn is a session with its user or key.
type SignedIn struct {
	Session Session
	User    User // empty for a session that was opened with a key
	Key     *Key
}

// Caller returns the session as the rest of the domain sees it.
func (s SignedIn) Caller() Caller {
	if s.Key != nil {
		caller := s.Key.Caller()
		caller.SessionID = s.Session.ID
		if caller.ExpiresAt == nil || caller.ExpiresAt.After(s.Session.ExpiresAt) {
			caller.ExpiresAt = &s.Session.ExpiresAt
		}
		return caller
	}
	return Caller{Account: s.Session.Account, UserID: s.User.ID, UserName: s.User.Name, SessionID: s.Session.ID,
		Role: s.User.Role, ExpiresAt: &s.Session.ExpiresAt}
}

// works reports whether the session may be used now, given the time of its last use.
func (s SignedIn) works(now, used time.Time) bool {
	return now.Before(s.Session.ExpiresAt) && now.Sub(used) < SessionIdle && (s.Key == nil || s.Key.Works(now))
}
