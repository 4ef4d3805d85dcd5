package accounts

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/transaction"
)

// A request is authenticated when its headers have arrived, and its body may take
// minutes. So every write confirms its caller inside the transaction, under the
// account's lock: what was revoked, lowered or ended before counts.

// Needs is what an operation asks of its caller.
type Needs struct {
	Role      Role // the lowest role that may call
	Scoped    bool // keys restricted to environments may call
	Evaluates bool // keys that only evaluate may call
}

// Permit refuses a caller whose access, role or scope is not enough.
func (n Needs) Permit(caller Caller) error {
	if !n.Evaluates {
		if err := caller.RequireFullAccess(); err != nil {
			return err
		}
	}
	if err := caller.Require(n.Role); err != nil || n.Scoped {
		return err
	}
	return caller.RequireUnscoped()
}

// AuthorityTx is what confirming a caller reads.
type AuthorityTx interface {
	Now() time.Time
	// AccessVersion returns the number of the account's last change that DecidesAccess.
	AccessVersion(ctx context.Context, account string) (int64, error)
	Key(ctx context.Context, account, id string) (Key, error)
	// SignedIn returns a session with its user or key.
	SignedIn(ctx context.Context, account, session string) (SignedIn, error)
}

// Write runs fn in a transaction under the lock of the caller's account, with the
// caller as Confirm returns it, and returns its result.
func Write[Tx AuthorityTx, T any](ctx context.Context, store transaction.Writer[Tx], caller Caller, fn func(context.Context, Tx, Caller) (T, error)) (made T, err error) {
	err = Do(ctx, store, caller, func(ctx context.Context, tx Tx, caller Caller) error {
		made, err = fn(ctx, tx, caller)
		return err
	})
	return made, err
}

// Do is Write for a function without a result. In a dry run the transaction is rolled back.
func Do[Tx AuthorityTx](ctx context.Context, store transaction.Writer[Tx], caller Caller, fn func(context.Context, Tx, Caller) error) error {
	return store.Write(ctx, caller.Account, func(ctx context.Context, tx Tx) error {
		confirmed, err := caller.Confirm(ctx, tx)
		if err == nil {
			err = fn(ctx, tx, confirmed)
		}
		if err == nil && caller.DryRun {
			err = transaction.ErrDryRun
		}
		return err
	})
}

// Confirm returns the caller with the rights that the key or session has in the
// transaction. It is Unauthorized if the credential no longer works, and Forbidden if
// its rights no longer suffice for what the caller Needs. A caller that did not come
// from the Authenticator has no credential and is returned as it is.
func (c Caller) Confirm(ctx context.Context, tx AuthorityTx) (Caller, error) {
	if !c.authenticated {
		return c, nil
	}
	current, err := tx.AccessVersion(ctx, c.Account)
	if err != nil {
		return Caller{}, err
	}
	if current != c.access {
		if c, err = c.reload(ctx, tx, current); err != nil {
			return Caller{}, err
		}
	}
	if c.ExpiresAt != nil && !tx.Now().Before(*c.ExpiresAt) {
		return Caller{}, c.errEnded()
	}
	return c, nil
}

// readAt marks a caller whose credential was read at an access version of the account.
func (c Caller) readAt(access int64) Caller {
	c.authenticated, c.access = true, access
	return c
}

// reload reads the credential again, because something that decides access has changed.
func (c Caller) reload(ctx context.Context, tx AuthorityTx, current int64) (Caller, error) {
	fresh, works, err := c.credential(ctx, tx)
	if fault.Is(err, fault.NotFound) || err == nil && !works {
		err = c.errEnded()
	}
	if err != nil {
		return Caller{}, err
	}
	fresh = fresh.readAt(current)
	fresh.Version, fresh.Needs, fresh.DryRun, fresh.Reverts = c.Version, c.Needs, c.DryRun, c.Reverts
	return fresh, c.Needs.Permit(fresh)
}

// credential returns the caller as its key or session is stored, and whether that works.
func (c Caller) credential(ctx context.Context, tx AuthorityTx) (fresh Caller, works bool, err error) {
	if c.SessionID == "" {
		key, err := tx.Key(ctx, c.Account, c.KeyID)
		return key.Caller(), key.Works(tx.Now()), err
	}
	signedIn, err := tx.SignedIn(ctx, c.Account, c.SessionID)
	if err != nil {
		return Caller{}, false, err
	}
	return signedIn.Caller(), signedIn.works(tx.Now(), tx.Now()), nil // the request itself is a use
}

// errEnded is the refusal of a credential that no longer works.
func (c Caller) errEnded() error {
	if c.SessionID == "" {
		return errKeyEnded()
	}
	return errSessionEnded()
}

func errKeyEnded() error {
	return fault.New(fault.Unauthorized, "This API key has been revoked or has expired.")
}

// Confirm is Caller.Confirm in a reading transaction, for requests that may write nothing.
func (s *Service) Confirm(ctx context.Context, caller Caller) (Caller, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Caller, error) { return caller.Confirm(ctx, tx) })
}
