package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/store"
)

// Tenant is an account as the first start creates it.
type Tenant struct {
	Account accounts.Account
	Key     accounts.Key
	// Owner calls services with the account's first key.
	Owner accounts.Caller
}

// NewTenant creates an account with its owner, its first key and its
// environments. Accounts share nothing, so tests may share a database.
func NewTenant(t testing.TB, db *store.DB, plan string) Tenant {
	t.Helper()
	held, err := plans.BuiltIn().Held(plan)
	must(t, err)
	var tenant Tenant
	do(t, db, "", func(ctx context.Context, tx *store.Tx) error {
		tenant.Account, tenant.Key, err = accounts.Found(ctx, tx, "Tenant "+uuid.NewString(), held, accounts.NewSecret())
		if err != nil {
			return err
		}
		return environments.Found(ctx, tx, tenant.Account.ID)
	})
	tenant.Owner = tenant.Key.Caller()
	return tenant
}

// Environments returns the store of package environments, for a server whose
// products have no values.
func Environments(db *store.DB) environments.Store {
	return store.NewTransactions(db,
		func(tx *store.ReadTx) environments.ReadTx { return valuesOfNone{tx} },
		func(tx *store.Tx) environments.Tx { return strippedOfNone{tx, valuesOfNone{}} })
}

type valuesOfNone struct{ *store.ReadTx }

func (valuesOfNone) CountValues(context.Context, string, string) (environments.Usage, error) {
	return environments.Usage{}, nil
}

type strippedOfNone struct {
	*store.Tx
	values valuesOfNone
}

func (tx strippedOfNone) CountValues(ctx context.Context, account, environment string) (environments.Usage, error) {
	return tx.values.CountValues(ctx, account, environment)
}

func (strippedOfNone) StripValues(context.Context, accounts.Caller, string) error { return nil }

// Wait waits until a condition holds. The test fails if a check that begins after the
// time limit finds that it does not hold. So a pause of the machine fails no test.
func Wait(t testing.TB, atMost time.Duration, what string, holds func() bool) {
	t.Helper()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; <-again.C {
		late := time.Since(began) > atMost
		if holds() {
			return
		}
		if late {
			t.Fatalf("waited %s in vain until %s", atMost, what)
		}
	}
}
