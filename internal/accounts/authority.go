package accounts

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/once"
	"github.com/signalbox/signalbox/internal/transaction"
)

// A request is authenticated when its headers have arrived, and its body may take minutes. So every
// write confirms its caller again inside the transaction, under the account's lock. A revocation, a
// lowered role or an ended session so takes effect even while the body arrives.

// Needs are the rights that an operation requires of its caller.
type Needs struct {
	Role      Role // the lowest role that is allowed
	Scoped    bool // keys restricted to environments are allowed
	Evaluates bool // keys that only evaluate are allowed
	Levels    bool // only keys that only read levels are allowed
}

// Permit refuses a caller whose access, role or scopes do not meet the needs.
func (n Needs) Permit(caller Caller) error {
	if err := n.permitAccess(caller); err != nil {
		return err
	}
	if err := caller.Require(n.Role); err != nil || n.Scoped {
		return err
	}
	return caller.RequireUnscoped()
}

func (n Needs) permitAccess(caller Caller) error {
	switch {
	case n.Levels:
		return caller.requireLevelsAccess()
	case n.Evaluates && caller.Access == EvaluateAccess:
		return nil
	}
	return caller.RequireFullAccess()
}

// AuthorityTx has the reads that confirm a caller.
type AuthorityTx interface {
	Now() time.Time
	// AccessVersion returns the number of the last change whose kind DecidesAccess.
	AccessVersion(ctx context.Context, account string) (int64, error)
	Key(ctx context.Context, account, id string) (Key, error)
	// SignedIn returns a session with its user or key.
	SignedIn(ctx context.Context, account, session string) (SignedIn, error)
}

// WriteTx has the methods that every write of a caller needs.
type WriteTx interface {
	AuthorityTx
	// CarryOut marks a request with an idempotency key as carried out. It fails if a repetition
	// of the request has taken over.
	CarryOut(ctx context.Context, ticket once.Ticket) error
	// Recorded returns up to limit changes that this transaction has recorded, oldest first.
	Recorded(ctx context.Context, account string, limit int) ([]changes.Change, error)
	// OwnChange returns the number of the first change that this transaction has recorded and that is
	// no consequence of another, or 0.
	OwnChange() int64
}

// Write runs fn in a transaction under the lock of the caller's account, and returns
// the result of fn. fn gets the caller that Confirm returned.
func Write[Tx WriteTx, T any](ctx context.Context, store transaction.Writer[Tx], caller Caller, fn func(context.Context, Tx, Caller) (T, error)) (made T, err error) {
	err = Do(ctx, store, caller, func(ctx context.Context, tx Tx, caller Caller) error {
		made, err = fn(ctx, tx, caller)
		return err
	})
	return made, err
}

// Do is Write for a function without a result. In a dry run the transaction is rolled back.
func Do[Tx WriteTx](ctx context.Context, store transaction.Writer[Tx], caller Caller, fn func(context.Context, Tx, Caller) error) error {
	return store.Write(ctx, caller.Account, func(ctx context.Context, tx Tx) error {
		confirmed, err := caller.Begin(ctx, tx)
		if err == nil {
			err = fn(ctx, tx, confirmed)
		}
		if err == nil {
			err = caller.end(ctx, tx)
		}
		return err
	})
}

// end reports what the transaction has recorded, and makes a dry run roll back.
func (c Caller) end(ctx context.Context, tx WriteTx) error {
	if c.DryRun != nil {
		return c.endDryRun(ctx, tx)
	}
	if c.Made != nil {
		*c.Made = tx.OwnChange()
	}
	return nil
}

// Begin confirms the caller of a write. It also marks the caller's request as carried out, in
// the same transaction.
func (c Caller) Begin(ctx context.Context, tx WriteTx) (Caller, error) {
	confirmed, err := c.Confirm(ctx, tx)
	if err == nil && c.Once != nil {
		err = tx.CarryOut(ctx, *c.Once)
	}
	return confirmed, err
}

// dryRunChanges bounds how many changes a dry run returns.
const dryRunChanges = 100

// endDryRun reads the changes that the transaction has recorded, and makes it roll back.
func (c Caller) endDryRun(ctx context.Context, tx WriteTx) (err error) {
	if c.DryRun.Changes, err = tx.Recorded(ctx, c.Account, dryRunChanges); err != nil {
		return err
	}
	return transaction.ErrDryRun
}

// Confirm returns the caller with the rights that its key or session has now, in the
// transaction. The error is Unauthorized if the credential no longer works, and Forbidden
// if the rights no longer meet c.Needs. A caller that did not come from the Authenticator
// has no credential and is returned unchanged.
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

// readAt returns the caller as authenticated while the account had this access version.
func (c Caller) readAt(access int64) Caller {
	c.authenticated, c.access = true, access
	return c
}

// reload reads the credential again, because the account's access version has changed.
func (c Caller) reload(ctx context.Context, tx AuthorityTx, current int64) (Caller, error) {
	fresh, works, err := c.credential(ctx, tx)
	if fault.Is(err, fault.NotFound) || err == nil && !works {
		err = c.errEnded()
	}
	if err != nil {
		return Caller{}, err
	}
	fresh = fresh.readAt(current)
	fresh.Version, fresh.Needs, fresh.Reverts = c.Version, c.Needs, c.Reverts
	fresh.DryRun, fresh.Made, fresh.Once, fresh.Note = c.DryRun, c.Made, c.Once, c.Note
	return fresh, c.Needs.Permit(fresh)
}

// credential reads the caller's key or session, and reports whether it works.
func (c Caller) credential(ctx context.Context, tx AuthorityTx) (fresh Caller, works bool, err error) {
	if c.SessionID == "" {
		key, err := tx.Key(ctx, c.Account, c.KeyID)
		return key.Caller(), key.Works(tx.Now()), err
	}
	signedIn, err := tx.SignedIn(ctx, c.Account, c.SessionID)
	if err != nil {
		return Caller{}, false, err
	}
	return signedIn.Caller(), signedIn.works(tx.Now(), tx.Now()), nil // this request counts as the last use
}

// errEnded returns the refusal of a credential that no longer works.
func (c Caller) errEnded() error {
	if c.SessionID == "" {
		return errKeyEnded()
	}
	return errSessionEnded()
}

func errKeyEnded() error {
	return fault.New(fault.Unauthorized, "This API key has been revoked or has expired.")
}

// Confirm is Caller.Confirm in a read transaction, for requests that may not write.
func (s *Service) Confirm(ctx context.Context, caller Caller) (Caller, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Caller, error) { return caller.Confirm(ctx, tx) })
}
