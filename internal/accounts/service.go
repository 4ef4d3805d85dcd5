package accounts

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Store runs the transactions in which accounts are read and written.
type Store = transaction.Store[ReadTx, Tx]

// TenantTx has the reads that the rules of every product need.
type TenantTx interface {
	naming.Keys
	AuthorityTx
	Account(ctx context.Context, id string) (Account, error)
	// ManagedEnvironments returns every environment of an account and whether it is managed.
	ManagedEnvironments(ctx context.Context, account string) (map[string]bool, error)
}

// ReadTx has the reads of this package.
type ReadTx interface {
	TenantTx
	AccountSettings(ctx context.Context, account string) (Settings, error)
	User(ctx context.Context, account, id string) (User, error)
	Users(ctx context.Context, account string, filter UserFilter, request page.Request) (page.List[User], error)
	CountUsers(ctx context.Context, account string) (int, error)
	// Owners returns the users with the role OWNER, oldest first.
	Owners(ctx context.Context, account string) ([]User, error)
	// UserByAddress returns the user, in any account, who signs in with an address.
	UserByAddress(ctx context.Context, address string) (User, error)
	// UserByIdentity returns the user, in any account, with an identity.
	UserByIdentity(ctx context.Context, identity string) (User, error)
	// FirstAccount returns the oldest account of the server.
	FirstAccount(ctx context.Context) (Account, error)
	Invitation(ctx context.Context, account, id string) (Invitation, error)
	Invitations(ctx context.Context, account string, filter InvitationFilter, request page.Request) (page.List[Invitation], error)
	CountInvitations(ctx context.Context, account string) (int, error)
	// InvitationsTo returns the invitations of all accounts to an address, oldest first.
	InvitationsTo(ctx context.Context, address string) ([]Invitation, error)
	// LinkByHash returns the link, in any account, whose token has this hash.
	LinkByHash(ctx context.Context, hash string) (Link, error)
	// LinkAbout returns the link with a kind and a subject.
	LinkAbout(ctx context.Context, kind LinkKind, subject string) (Link, error)
	// ResetLink returns a link that sets a password, by its id.
	ResetLink(ctx context.Context, account, id string) (Link, error)
	// ResetLinks lists the links that set a password, except expired ones.
	ResetLinks(ctx context.Context, account string, filter LinkFilter, request page.Request) (page.List[Link], error)
	Session(ctx context.Context, account, id string) (Session, error)
	Sessions(ctx context.Context, account string, filter SessionFilter, request page.Request) (page.List[Session], error)
	UserSettings(ctx context.Context, account, user string) (Settings, error)
	Key(ctx context.Context, account, id string) (Key, error)
	Keys(ctx context.Context, account string, filter KeyFilter, request page.Request) (page.List[Key], error)
}

// FoundingTx has the writes that create an account.
type FoundingTx interface {
	changes.Recorder
	Now() time.Time
	InsertAccount(ctx context.Context, account Account) error
	InsertUser(ctx context.Context, user User) error
	InsertKey(ctx context.Context, key Key) error
}

// Tx has the reads and writes of this package in one transaction.
type Tx interface {
	ReadTx
	FoundingTx
	HistoryTx
	UpdateAccount(ctx context.Context, account Account) error
	SetAccountSettings(ctx context.Context, account string, settings Settings) error
	SetUserSettings(ctx context.Context, account, user string, settings Settings) error
	UpdateUser(ctx context.Context, user User) error
	DeleteUser(ctx context.Context, account, id string) error
	InsertInvitation(ctx context.Context, invitation Invitation) error
	DeleteInvitation(ctx context.Context, account, id string) error
	// SaveLink stores a link and replaces the link with the same kind and subject.
	SaveLink(ctx context.Context, link Link) error
	DeleteLinks(ctx context.Context, account, subject string) error
	InsertSession(ctx context.Context, session Session) error
	DeleteSessions(ctx context.Context, account string, ids ...string) error
	UpdateKey(ctx context.Context, key Key) error
	DeleteKey(ctx context.Context, account, id string) error
}

// Service applies the rules of accounts to a Store.
type Service struct {
	Store     Store
	Passwords *Passwords
	// Identities decide who may sign in with an OpenID Connect provider.
	Identities IdentityRules
	// Now is the clock for the delays after failed attempts to sign in.
	Now func() time.Time

	attempts attempts // with passwords
	codes    attempts // with codes
}
