package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
)

// bootstrap makes the first account of an empty store and shows its key, once.
// When several nodes start at once, one of them does it.
func bootstrap(ctx context.Context, db *store.DB, table plans.Table, s settings.Settings, stdout io.Writer) error {
	held, err := table.Held(s.BootstrapPlan)
	if err != nil {
		return fmt.Errorf("SIGNALBOX_BOOTSTRAP_PLAN: %w", err)
	}
	secret := accounts.NewSecret()
	if s.BootstrapKey != "" {
		secret = accounts.ParseSecret(s.BootstrapKey)
	}
	var made *accounts.Key
	err = db.Write(ctx, "", func(tx *store.Tx) error {
		made = nil
		if err := tx.LockSchema(ctx); err != nil {
			return err
		}
		existing, err := tx.AllAccounts(ctx)
		if err != nil || len(existing) > 0 {
			return err
		}
		_, key, err := found(ctx, tx, "Default", held, secret)
		if err == nil {
			err = writeKeyFile(s.BootstrapKeyFile, key.Plaintext)
		}
		made = &key
		return err
	})
	if err != nil || made == nil {
		return err
	}
	if s.BootstrapKey != "" { // whoever chose it knows it
		return nil
	}
	return show(stdout, made.Plaintext)
}

// found makes an account with its owner, its first key and its environments.
func found(ctx context.Context, tx *store.Tx, name string, held plans.Held, secret accounts.Secret) (accounts.Account, accounts.Key, error) {
	account, key, err := accounts.Found(ctx, tx, name, held, secret)
	if err != nil {
		return accounts.Account{}, accounts.Key{}, err
	}
	return account, key, environments.Found(ctx, tx, account.ID)
}

func show(stdout io.Writer, key string) error {
	_, err := fmt.Fprintf(stdout, `
  This is the first start. Your API key, with the role OWNER, is

      %s

  It is shown only once. Make others with: signalbox keys create NAME

`, key)
	return err
}

// writeKeyFile writes the key for whoever set the server up, readable by this
// user alone. It happens before the commit: an account whose key nobody has
// would be useless.
func writeKeyFile(path, key string) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing the bootstrap key file: %w", err)
	}
	_, err = file.WriteString(key + "\n")
	if err := errors.Join(err, file.Chmod(0o600), file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("writing the bootstrap key file: %w", err)
	}
	return nil
}
