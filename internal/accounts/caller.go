package accounts

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/once"
)

// Caller is an authenticated key or person, with its account and rights.
type Caller struct {
	Account string // the account's id
	KeyID   string // empty for a person
	KeyName string
	UserID  string // the person, or the user who made the key
	// UserName is the name of the person; empty for a key.
	UserName string
	// SessionID is the session that the request came with; empty if the request came
	// with an API key.
	SessionID string
	Role      Role
	Access    Access // EvaluateAccess and LevelsAccess allow only that, whatever the role
	// Environments restricts writes to these environments; nil does not restrict.
	Environments []string
	// Origins are the origins of the web pages that may use an evaluate key; nil is any.
	Origins []string
	// ExpiresAt is when the key or the session stops working; nil is never.
	ExpiresAt *time.Time
	// KeyExpiresAt is when the key stops working, even if the session ends sooner; nil is
	// never.
	KeyExpiresAt *time.Time
	// Version is the sequence number of the account's last change. It includes every
	// change that was acknowledged before the request.
	Version int64
	// Needs are the rights that the operation requires, for Confirm.
	Needs Needs
	// DryRun makes Do roll the transaction back, and receives the changes that it
	// recorded. If it is nil, Do commits.
	DryRun *DryRun
	// Made receives the number of the first change that a write recorded, or 0 if it recorded none;
	// nil if the caller does not need the number.
	Made *int64
	// Once is the ticket of a request with an idempotency key; nil for none.
	Once *once.Ticket
	// Note is the reason that the caller gave for the write; empty for none.
	Note string
	// Reverts is the change that the caller undoes, if any; see Restore.
	Reverts changes.Reverted

	// authenticated is set by the Authenticator. access is the account's access version
	// when the credential was read.
	authenticated bool
	access        int64
}

// DryRun has the changes that a dry run would have made.
type DryRun struct{ Changes []changes.Change }

// Actor returns the caller as the actor in the history.
func (c Caller) Actor() changes.Actor {
	if c.IsPerson() {
		return changes.Actor{Type: changes.ActorUser, ID: c.UserID, Name: c.UserName, Reverts: c.Reverts, Note: c.Note}
	}
	return changes.Actor{Type: changes.ActorKey, ID: c.KeyID, Name: c.KeyName, Reverts: c.Reverts, Note: c.Note}
}

// IsPerson reports whether the caller is a user who signed in, not a key.
func (c Caller) IsPerson() bool { return c.KeyID == "" }

// Credential returns the id of the session or key that authenticated the caller.
func (c Caller) Credential() string { return cmp.Or(c.SessionID, c.KeyID) }

// has returns a clause for error texts that names the caller's role.
func (c Caller) has() string {
	if c.IsPerson() {
		return "you have the role " + string(c.Role)
	}
	return "this key has the role " + string(c.Role)
}

// Target describes the change of a resource by a caller. load reads the resource in
// the transaction of the write.
func Target[T any](ctx context.Context, caller Caller, kind, key string, match changes.Match[T],
	load func(ctx context.Context, account, key string) (T, error),
) changes.Target[T] {
	return changes.Target[T]{Account: caller.Account, Actor: caller.Actor(), Kind: kind, Key: key, Match: match,
		Load: func() (T, error) { return load(ctx, caller.Account, key) }}
}

// Require refuses a caller whose role is below role.
func (c Caller) Require(role Role) error {
	if c.Role.Covers(role) {
		return nil
	}
	return fault.New(fault.Forbidden, "This needs the role %s or higher; %s.", role, c.has())
}

// RequireUnscoped refuses a caller whose key is restricted to environments. Such a key
// may only write values in its environments.
func (c Caller) RequireUnscoped() error {
	if c.Environments == nil {
		return nil
	}
	return fault.New(fault.Forbidden,
		"This key may write values of the environments %s only, and this would change more than that.",
		strings.Join(c.Environments, ", "))
}

// RequireEnvironments refuses a caller whose key may not write in all the environments.
func (c Caller) RequireEnvironments(keys ...string) error {
	for _, key := range keys {
		if c.Environments != nil && !slices.Contains(c.Environments, key) {
			return fault.New(fault.Forbidden, "This key may write values of the environments %s only, not of %q.",
				strings.Join(c.Environments, ", "), key)
		}
	}
	return nil
}
