package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Operator runs commands on the store. A server may run at the same time. The
// changes are recorded like all others, so servers learn of them within a
// second.
type Operator struct {
	settings settings.Settings
	db       *store.DB
	plans    plans.Table
}

// OpenOperator opens and migrates an existing store. It creates none, so that a
// misspelled folder does not leave a new database behind.
func OpenOperator(ctx context.Context, s settings.Settings, log *slog.Logger) (*Operator, error) {
	if s.Database == "" && !HasDatabase(s) {
		return nil, errNoDatabase(s)
	}
	return MakeOperator(ctx, s, log)
}

// MakeOperator is OpenOperator for commands that may create the store.
func MakeOperator(ctx context.Context, s settings.Settings, log *slog.Logger) (*Operator, error) {
	table, err := planTable(s)
	if err != nil {
		return nil, err
	}
	db, err := openStore(ctx, s, serverOptions(), log, nil, nil)
	if err != nil {
		return nil, err
	}
	return &Operator{settings: s, db: db, plans: table}, nil
}

// Close closes the store.
func (o *Operator) Close() error { return o.db.Close() }

// CreateAccount creates an account on the given plans, with its first key.
func (o *Operator) CreateAccount(ctx context.Context, name, plan string) (account accounts.Account, key accounts.Key, err error) {
	held, err := o.plans.Held(plan)
	if err != nil {
		return account, key, err
	}
	secret := accounts.NewSecret()
	err = o.db.Write(ctx, "", func(ctx context.Context, tx *store.Tx) error {
		account, key, err = found(ctx, tx, name, held, secret)
		if fault.Is(err, fault.AlreadyExists) {
			return fault.New(fault.AlreadyExists, "There is an account called %q already.", name)
		}
		return err
	})
	return account, key, err
}

// Accounts lists all accounts.
func (o *Operator) Accounts(ctx context.Context) ([]accounts.Account, error) {
	return transaction.Read(ctx, o.db, func(ctx context.Context, tx *store.ReadTx) ([]accounts.Account, error) { return tx.AllAccounts(ctx) })
}

// SetPlan changes the plans of an account. Products that plan does not name keep
// their plans.
func (o *Operator) SetPlan(ctx context.Context, accountKey, plan string) (accounts.Account, error) {
	return write(ctx, o, accountKey, func(ctx context.Context, tx *store.Tx, id string) (accounts.Account, error) {
		before, err := tx.Account(ctx, id)
		if err != nil {
			return accounts.Account{}, err
		}
		held, err := o.plans.Change(before.Plans, plan)
		if err != nil {
			return accounts.Account{}, err
		}
		return accounts.SetPlans(ctx, tx, id, held)
	})
}

// CreateKey creates a key in an account on behalf of its first owner.
func (o *Operator) CreateKey(ctx context.Context, accountKey string, draft accounts.KeyDraft) (account accounts.Account, key accounts.Key, err error) {
	key, err = write(ctx, o, accountKey, func(ctx context.Context, tx *store.Tx, id string) (accounts.Key, error) {
		if account, err = tx.Account(ctx, id); err != nil {
			return accounts.Key{}, err
		}
		owner, err := accounts.FirstOwner(ctx, tx, id)
		if err != nil {
			return accounts.Key{}, err
		}
		return accounts.IssueKey(ctx, tx, accounts.Caller{Account: id, UserID: owner.ID, Role: accounts.Owner}, changes.Operator(), draft)
	})
	return account, key, err
}

// Keys lists the keys of an account.
func (o *Operator) Keys(ctx context.Context, accountKey string) ([]accounts.Key, error) {
	return everyPage(ctx, o, accountKey, func(ctx context.Context, tx *store.ReadTx, id string, request page.Request) (page.List[accounts.Key], error) {
		return tx.Keys(ctx, id, accounts.KeyFilter{}, request)
	})
}

// everyPage returns the items of all pages of a list of an account.
func everyPage[T any](ctx context.Context, o *Operator, accountKey string,
	read func(ctx context.Context, tx *store.ReadTx, id string, request page.Request) (page.List[T], error),
) ([]T, error) {
	id, err := o.account(ctx, accountKey)
	if err != nil {
		return nil, err
	}
	return transaction.Read(ctx, o.db, func(ctx context.Context, tx *store.ReadTx) ([]T, error) {
		return page.All(func(request page.Request) (page.List[T], error) { return read(ctx, tx, id, request) })
	})
}

// RevokeKey revokes a key of an account.
func (o *Operator) RevokeKey(ctx context.Context, accountKey, id string) (accounts.Key, error) {
	return write(ctx, o, accountKey, func(ctx context.Context, tx *store.Tx, account string) (accounts.Key, error) {
		found, err := tx.Key(ctx, account, id)
		if err != nil {
			return accounts.Key{}, err
		}
		return accounts.Revoke(ctx, tx, changes.Operator(), found)
	})
}

// write runs fn in a transaction under the lock of the account with accountKey.
func write[T any](ctx context.Context, o *Operator, accountKey string, fn func(ctx context.Context, tx *store.Tx, id string) (T, error)) (made T, err error) {
	id, err := o.account(ctx, accountKey)
	if err != nil {
		return made, err
	}
	return transaction.Write(ctx, o.db, id, func(ctx context.Context, tx *store.Tx) (T, error) { return fn(ctx, tx, id) })
}

// account returns the id of the account with this account key. "" means the only account.
func (o *Operator) account(ctx context.Context, key string) (id string, err error) {
	return transaction.Read(ctx, o.db, func(ctx context.Context, tx *store.ReadTx) (string, error) {
		if key != "" {
			account, err := tx.AccountByKey(ctx, key)
			return account.ID, err
		}
		list, err := tx.AllAccounts(ctx)
		switch {
		case err != nil:
			return "", err
		case len(list) == 0:
			return "", errors.New("there is no account yet: start the server once, or make one with signalbox admin accounts create")
		case len(list) > 1:
			return "", errors.New("there are several accounts: name one with --account")
		}
		return list[0].ID, nil
	})
}

// RotateKeyring adds a new primary key to the key ring and re-encrypts stored
// secrets with it. If it is interrupted, a running server completes it within
// seconds.
func (o *Operator) RotateKeyring(ctx context.Context) (keyID string, resealed store.Resealed, err error) {
	ring, err := o.openRing(ctx)
	if err != nil {
		return "", resealed, err
	}
	if keyID, err = ring.Rotate(); err != nil {
		return "", resealed, err
	}
	resealed, err = o.db.Reseal(ctx, ring)
	return keyID, resealed, err
}

func (o *Operator) openRing(ctx context.Context) (*sealed.Ring, error) {
	ring, err := namedRing(o.settings)
	if err != nil {
		return nil, err
	}
	return openRing(ctx, o.settings, ring, o.db)
}

// RingKey is a key of the key ring.
type RingKey struct {
	ID string `json:"id"`
	// Primary reports whether new values are sealed with the key.
	Primary bool `json:"primary"`
	// Values counts the stored values that are sealed with the key.
	Values int `json:"values"`
}

// RingKeys returns the keys of the key ring, oldest first.
func (o *Operator) RingKeys(ctx context.Context) ([]RingKey, error) {
	ring, err := o.openRing(ctx)
	if err != nil {
		return nil, err
	}
	ids := ring.IDs()
	keys := make([]RingKey, len(ids))
	for i, id := range ids {
		keys[i] = RingKey{ID: id, Primary: id == ring.Primary()}
		if keys[i].Values, err = o.db.SealedWith(ctx, id); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// RetireKey removes a key that seals no stored value from the key ring.
func (o *Operator) RetireKey(ctx context.Context, id string) error {
	ring, err := o.openRing(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(ring.IDs(), id) {
		return fault.New(fault.NotFound, "There is no key %q in the key ring; its keys are %s.", id, strings.Join(ring.IDs(), ", "))
	}
	count, err := o.db.SealedWith(ctx, id)
	if err != nil {
		return err
	}
	if count > 0 {
		return fmt.Errorf("the key %s still seals %d values: rotate the ring, which seals them with the new key", id, count)
	}
	return ring.Retire(id)
}

// GenerateKey returns a new key as a line of a key ring.
func GenerateKey() string { return sealed.Generate() }
