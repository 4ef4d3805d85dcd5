package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
)

// bootstrap creates the first account of an empty store and shows its key once. If
// several nodes start at once, only one of them creates it.
func (a *App) bootstrap(ctx context.Context) error {
	secret := accounts.NewSecret()
	if a.settings.BootstrapKey != "" {
		secret = accounts.ParseSecret(a.settings.BootstrapKey)
	}
	var key, link string // of the account that this node created
	err := a.db.Write(ctx, "", func(ctx context.Context, tx *store.Tx) error {
		key, link = "", "" // an earlier attempt may have been rolled back
		if err := tx.LockSchema(ctx); err != nil {
			return err
		}
		existing, err := tx.AllAccounts(ctx)
		if err != nil || len(existing) > 0 {
			return err
		}
		account, made, err := found(ctx, tx, "Default", a.firstPlans, secret)
		if err != nil {
			return err
		}
		token, err := accounts.MakeSetupLink(ctx, tx, account.ID)
		if err != nil {
			return err
		}
		key, link = made.Plaintext, linkURL(a.settings, accounts.SetupLink, token)
		return checkKeyFileWritable(a.settings.BootstrapKeyFile)
	})
	if err != nil || key == "" {
		return err
	}
	if err := handOver(key, link, a.settings, a.stdout); err != nil {
		return fmt.Errorf("%w; the first account exists: make a key for it with: signalbox admin keys create NAME", err)
	}
	return nil
}

// handOver writes the first key to the key file or the terminal, and the set-up link to the
// terminal. This follows the commit: PostgreSQL ends the transaction of a node that stalls,
// and another node then creates the account, with another key.
func handOver(key, link string, s settings.Settings, stdout io.Writer) error {
	switch {
	case s.BootstrapKeyFile != "":
		if err := writeKeyFile(s.BootstrapKeyFile, key); err != nil {
			return err
		}
		return show(stdout, shownFile+shownLink, s.BootstrapKeyFile, link)
	case s.BootstrapKey != "": // the operator chose the key and knows it
		return show(stdout, shownLink, link)
	}
	return show(stdout, shownKey+shownLink, key, link)
}

// found creates an account with its owner, its first key and its environments.
func found(ctx context.Context, tx *store.Tx, name string, held plans.Held, secret accounts.Secret) (accounts.Account, accounts.Key, error) {
	account, key, err := accounts.Found(ctx, tx, name, held, secret)
	if err != nil {
		return accounts.Account{}, accounts.Key{}, err
	}
	return account, key, environments.Found(ctx, tx, account.ID)
}

// Texts that the first start shows.
const (
	shownKey = `
  This is the first start. Your API key, with the role OWNER, is

      %s

  It is shown only once. Make others with: signalbox admin keys create NAME
`
	shownFile = `
  This is the first start. Your API key, with the role OWNER, is in the file

      %s

  Make others with: signalbox admin keys create NAME
`
	shownLink = `
  To sign in with a browser, first set up the account's owner at

      %s

  The link works once and is shown only now. Make another with: signalbox admin users setup-link

`
)

// shownURL is the text that every start shows on a terminal.
const shownURL = `
  Signalbox is ready at %s

`

func show(stdout io.Writer, format string, values ...any) error {
	if _, err := fmt.Fprintf(stdout, format, values...); err != nil {
		return fmt.Errorf("writing to standard output: %w", err)
	}
	return nil
}

// checkKeyFile refuses a key file whose folder does not exist, before a first start on
// SQLite creates anything. Later starts write no key.
func checkKeyFile(s settings.Settings) error {
	if s.BootstrapKeyFile == "" || s.Database != "" || HasDatabase(s) {
		return nil
	}
	if folder := filepath.Dir(s.BootstrapKeyFile); !isFolder(folder) {
		return fmt.Errorf("writing the bootstrap key file: there is no folder %s: make it, or name another file with SIGNALBOX_BOOTSTRAP_KEY_FILE", folder)
	}
	return nil
}

// checkKeyFileWritable creates the key file unless it exists, so that no account is created if its key
// could not be written.
func checkKeyFileWritable(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("writing the bootstrap key file: %w", err)
	}
	return file.Close()
}

// writeKeyFile writes the key to a file that only this user can read.
func writeKeyFile(path, key string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing the bootstrap key file: %w", err)
	}
	err = file.Chmod(0o600) // an existing file may have another mode
	if err == nil {
		_, err = file.WriteString(key + "\n")
	}
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("writing the bootstrap key file: %w", err)
	}
	return nil
}
