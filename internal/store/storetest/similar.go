package storetest

import (
	"context"
	"testing"

	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/store"
)

// similarKeys checks that SimilarKey finds keys of any kind that people confuse.
func similarKeys(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	for _, key := range []string{"Check-Out.v2", "plain"} {
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertEnvironments(ctx, environments.Environment{Account: account, Key: key, Name: key, Classification: environments.Standard})
		})
	}
	for key, want := range map[string]string{
		"checkout_V2": "Check-Out.v2", "checkoutv2": "Check-Out.v2", "Check-Out.v2": "", "checkout": "", "PLAIN": "plain", "pl%in": "",
	} {
		t.Run(key, func(t *testing.T) {
			for asked, want := range map[string]string{account: want, other: ""} { // an account sees only its own keys
				got := list(t, db, (*store.ReadTx).SimilarKey, asked, environments.Kind, key)
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	for _, kind := range []string{"flag", "logger", "log_group", "config", "job", "service", "context_type"} {
		t.Run(kind, func(t *testing.T) {
			list(t, db, (*store.ReadTx).SimilarKey, account, kind, "a")
		})
	}
	if _, err := tryGet(t, db, func(ctx context.Context, tx *store.ReadTx) (string, error) {
		return tx.SimilarKey(ctx, account, "run", "a")
	}); err == nil {
		t.Error("runs have no keys")
	}
}
