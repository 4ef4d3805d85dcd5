package admin

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/optional"
)

// keyView is a key as --json prints it.
type keyView struct {
	ID string `json:"id"`
	accounts.Key
}

func (c *commands) keys() *cobra.Command {
	return terminal.Group("keys", "Manage API keys", c.createKey(), c.listKeys(), c.revokeKey())
}

// keyFlags are the flags of keys create.
type keyFlags struct {
	account, role, access string
	environments, origins []string
	expiresIn             time.Duration
}

func (c *commands) createKey() *cobra.Command {
	var flags keyFlags
	run := func(ctx context.Context, store *app.Operator, args []string) (result, error) {
		name := "Made on the command line"
		if len(args) == 1 {
			name = args[0]
		}
		account, key, err := store.CreateKey(ctx, flags.account, flags.draft(name))
		return result{createdView{Account: account.Key, Key: key.Plaintext, KeyID: key.ID},
			sentence("The API key %q, with the role %s, is shown only now:\n\n    %s\n\n", key.Name, key.Role, key.Plaintext)}, err
	}
	cmd := c.onStore(app.OpenOperator, "create [NAME]", "Make an API key and print it", `signalbox admin keys create "Deploy bot" --role ADMIN --expires-in 720h`, run)
	addAccountFlag(cmd, &flags.account)
	cmd.Flags().StringVar(&flags.role, "role", "MEMBER", "OWNER, ADMIN, MEMBER or VIEWER")
	cmd.Flags().StringSliceVar(&flags.environments, "environment", nil, "restrict writes to this environment; may be repeated")
	cmd.Flags().StringVar(&flags.access, "access", "full", "full, or evaluate for a key that a web page may hold, or levels for one that a URL may hold")
	cmd.Flags().StringSliceVar(&flags.origins, "origin", nil, "with --access evaluate, let only pages of this origin evaluate; may be repeated")
	terminal.AddDuration(cmd, &flags.expiresIn, "expires-in", 0, "make the key expire after this `DURATION`, such as 30d")
	return cmd
}

func addAccountFlag(cmd *cobra.Command, account *string) {
	cmd.Flags().StringVar(account, "account", "", "the account's key; not needed when there is one account")
}

func (f keyFlags) draft(name string) accounts.KeyDraft {
	draft := accounts.KeyDraft{Name: optional.Of(name), Role: optional.Of(f.role), Access: optional.Of(f.access)}
	if len(f.environments)+len(f.origins) > 0 {
		draft.Scopes = optional.Of(accounts.Scopes{Environments: f.environments, Origins: f.origins})
	}
	if f.expiresIn != 0 {
		draft.ExpiresAt = optional.Of(time.Now().UTC().Add(f.expiresIn).Truncate(time.Microsecond))
	}
	return draft
}

func (c *commands) listKeys() *cobra.Command {
	var account string
	run := func(ctx context.Context, store *app.Operator, _ []string) (result, error) {
		keys, err := store.Keys(ctx, account)
		views := make([]keyView, len(keys))
		for i, key := range keys {
			views[i] = keyView{ID: key.ID, Key: key}
		}
		return result{views, func(w io.Writer) { printKeys(w, keys) }}, err
	}
	cmd := c.onStore(app.OpenOperator, "list", "List the API keys of an account", `signalbox admin keys list --account acme`, run)
	addAccountFlag(cmd, &account)
	return cmd
}

func printKeys(w io.Writer, keys []accounts.Key) {
	terminal.Fprintf(w, "ID\tNAME\tROLE\tSTATUS\tENVIRONMENTS\tEXPIRES\tLAST USED\n")
	for _, key := range keys {
		scope := "all"
		if key.Scopes.Environments != nil {
			scope = fmt.Sprint(key.Scopes.Environments)
		}
		terminal.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", key.ID, key.Name, key.Role, keyStatus(key), scope,
			moment(key.ExpiresAt), moment(key.LastUsedAt))
	}
}

// keyStatus returns the state of a key. An expired key is still stored as active.
func keyStatus(key accounts.Key) string {
	if key.Status == accounts.Active && key.ExpiresAt != nil && key.ExpiresAt.Before(time.Now()) {
		return "EXPIRED"
	}
	return string(key.Status)
}

// moment returns a time as tables show it.
func moment(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return at.Format("2006-01-02 15:04:05Z")
}

func (c *commands) revokeKey() *cobra.Command {
	var account string
	run := func(ctx context.Context, store *app.Operator, args []string) (result, error) {
		key, err := store.RevokeKey(ctx, account, args[0])
		return result{keyView{ID: key.ID, Key: key}, sentence("The API key %q is revoked; every server refuses it within a second.\n", key.Name)}, err
	}
	cmd := c.onStore(app.OpenOperator, "revoke ID", "Revoke an API key, which never works again", `signalbox admin keys revoke $KEY_ID`, run)
	addAccountFlag(cmd, &account)
	return cmd
}
