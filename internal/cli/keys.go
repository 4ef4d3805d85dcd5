package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func keyKind() kind[signalbox.Key] {
	in := func(c *signalbox.Client) service[signalbox.Key, signalbox.KeyParams] { return c.Keys }
	return from(in, kind[signalbox.Key]{
		name: "api_key", noun: "API key",
		of: func(k signalbox.Key) signalbox.Resource { return k.Resource },
		columns: []terminal.Column[signalbox.Key]{
			{Title: "ID", Text: func(k signalbox.Key) string { return k.ID }, Whole: true},
			{Title: "NAME", Text: func(k signalbox.Key) string { return k.Name }},
			{Title: "ROLE", Text: func(k signalbox.Key) string { return string(k.Role) }},
			{Title: "STATUS", Text: keyStatus},
			{Title: "ENVIRONMENTS", Text: func(k signalbox.Key) string { return strings.Join(k.Scopes.Environments, ", ") }},
			{Title: "EXPIRES", Text: func(k signalbox.Key) string { return moment(k.ExpiresAt) }},
			{Title: "LAST USED", Text: func(k signalbox.Key) string { return moment(k.LastUsedAt) }},
			{Title: "ACCESS", Text: func(k signalbox.Key) string { return string(k.Access) }, Wide: true},
			{Title: "CREATED", Text: func(k signalbox.Key) string { return moment(&k.CreatedAt) }, Wide: true},
		},
	})
}

// keyStatus returns the state of a key. The server lists an expired key as active.
func keyStatus(k signalbox.Key) string {
	if k.Status == signalbox.KeyActive && k.ExpiresAt != nil && k.ExpiresAt.Before(time.Now()) {
		return "EXPIRED"
	}
	return string(k.Status)
}

func (s *shell) keys() *cobra.Command {
	return terminal.Group("keys", "API keys", s.createKey(), s.listKeys(), s.revokeKey(), s.rotateKey())
}

func (s *shell) listKeys() *cobra.Command {
	return keyKind().list(s, action{use: "list", short: "List API keys", example: "signalbox keys list"}, nil)
}

// keyFlags are the flags of keys create.
type keyFlags struct {
	role, access          string
	environments, origins []string
	lasts                 time.Duration
}

func (f *keyFlags) add(s *shell, cmd *cobra.Command) {
	terminal.AddChoice(cmd, &f.role, "role", string(signalbox.RoleMember), "what the key may do", roleNames()...)
	terminal.AddChoice(cmd, &f.access, "access", string(signalbox.AccessFull), "what the key may be used for; a web page may only hold an evaluate key, and a URL only a levels key",
		string(signalbox.AccessFull), string(signalbox.AccessEvaluate), string(signalbox.AccessLevels))
	cmd.Flags().StringSliceVarP(&f.environments, "environment", "e", nil, "restrict writes to the environment with this `ID`; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("environment", s.completeFlag(environmentKind().ids))
	cmd.Flags().StringSliceVar(&f.origins, "origin", nil, "with --access evaluate, let only pages of this `ORIGIN` evaluate; may be repeated")
	terminal.AddDuration(cmd, &f.lasts, "expires-in", 0, "make it expire after this `DURATION`, such as 30d")
}

func (f *keyFlags) draft(name string) signalbox.KeyDraft {
	draft := signalbox.KeyDraft{Name: name, Role: signalbox.Role(f.role), Access: signalbox.KeyAccess(f.access)}
	if len(f.environments)+len(f.origins) > 0 {
		draft.Scopes = &signalbox.KeyScopes{Environments: f.environments, Origins: f.origins}
	}
	if f.lasts != 0 {
		draft.ExpiresAt = new(time.Now().UTC().Add(f.lasts).Truncate(time.Second))
	}
	return draft
}

func (s *shell) createKey() *cobra.Command {
	var flags keyFlags
	return s.command(action{
		use: "create NAME", short: "Create an API key and print it, once",
		example: "signalbox keys create Pipeline --role MEMBER -e staging\nsignalbox keys create CI --expires-in 30d -o 'go-template={{.key}}'",
		writes:  true, format: terminal.FormatYAML, flags: func(cmd *cobra.Command) { flags.add(s, cmd) },
		run: func(ctx context.Context, c *call) error {
			created, err := c.client.Keys.Create(ctx, flags.draft(c.args[0]), c.options()...)
			return keyKind().wrote(c, created, err, "The API key %q, with the role %s, is shown only now:\n\n    %s\n", created.Name, created.Role, c.secret(created))
		},
	})
}

// findKey returns a key by its id, or an active key by its name. It fails if several active keys have the name.
func findKey(ctx context.Context, c *call, idOrName string) (signalbox.Key, error) {
	key, err := c.client.Keys.Get(ctx, idOrName)
	if !signalbox.IsNotFound(err) {
		return key, err
	}
	var names []string
	var found []signalbox.Key
	for key, listErr := range keyKind().all(ctx, c.client) {
		if listErr != nil {
			return key, listErr
		}
		names = append(names, key.Name)
		if key.Name == idOrName && keyStatus(key) == string(signalbox.KeyActive) {
			found = append(found, key)
		}
	}
	switch len(found) {
	case 0:
		return key, notFoundNear(err, idOrName, names)
	case 1:
		return found[0], nil
	default:
		return key, terminal.Usagef("%d active keys are called %q: name one by its id, which signalbox keys list shows", len(found), idOrName)
	}
}

// keyNames completes the names of active keys.
func keyNames(ctx context.Context, client *signalbox.Client, _ ...string) (names []string) {
	for key, err := range keyKind().all(ctx, client) {
		if err == nil && keyStatus(key) == string(signalbox.KeyActive) {
			names = append(names, key.Name)
		}
	}
	return names
}

func (s *shell) revokeKey() *cobra.Command {
	return s.command(action{
		use: "revoke KEY...", short: "Revoke API keys for good, by id or name",
		example:  "signalbox keys revoke Deploy --yes",
		destroys: true, each: true, format: terminal.FormatYAML, completes: []completion{keyNames},
		run: func(ctx context.Context, c *call) error {
			key, err := findKey(ctx, c, c.args[0])
			if err != nil {
				return err
			}
			used := "was never used"
			if key.LastUsedAt != nil {
				used = "was last used about " + moment(key.LastUsedAt)
			}
			if err := c.Confirm(c.yes, fmt.Sprintf("The API key %q, which %s, will never work again.", key.Name, used)); err != nil {
				return err
			}
			revoked, err := c.client.Keys.Revoke(ctx, key.ID)
			return keyKind().wrote(c, revoked, err, "The API key %q is revoked.", key.Name)
		},
	})
}

func (s *shell) rotateKey() *cobra.Command {
	var overlap time.Duration
	return s.command(action{
		use: "rotate KEY", short: "Replace an API key; the old one works for a while longer",
		long: `Replace an API key by a new one with the same name, role and scopes, which is printed once. The old key expires after the
overlap. Give the new key to every user of the old key before then.`,
		example: "signalbox keys rotate Deploy --overlap 1h",
		writes:  true, format: terminal.FormatYAML, completes: []completion{keyNames},
		flags: func(cmd *cobra.Command) {
			terminal.AddPause(cmd, &overlap, "overlap", 24*time.Hour, "let the old key work for this `DURATION`")
		},
		run: func(ctx context.Context, c *call) error {
			if overlap <= 0 {
				return terminal.Usagef("--overlap must be longer than 0; signalbox keys revoke ends a key at once")
			}
			old, err := findKey(ctx, c, c.args[0])
			if err != nil {
				return err
			}
			return c.rotate(ctx, old, time.Now().UTC().Add(overlap).Truncate(time.Second))
		},
	})
}

// rotate creates a key like old, and makes old expire.
func (c *call) rotate(ctx context.Context, old signalbox.Key, ends time.Time) error {
	draft := old.Draft()
	created, err := c.client.Keys.Create(ctx, draft, c.options()...)
	if err != nil {
		return err
	}
	if old.ExpiresAt == nil || old.ExpiresAt.After(ends) {
		draft.ExpiresAt = &ends
		if _, err := c.client.Keys.Replace(ctx, old.ID, draft, c.options()...); err != nil {
			c.Say("The new API key %q is shown only now:\n\n    %s\n\n", created.Name, created.Secret)
			return fmt.Errorf("setting an expiry for the old key %s failed; revoke it once the new key is in use: %w", old.ID, err)
		}
	}
	return keyKind().wrote(c, created, nil, "The new API key %q is shown only now; the old one, %s, works until %s:\n\n    %s\n",
		created.Name, old.ID, moment(&ends), c.secret(created))
}

// secret returns the text of a new key. A dry run's key does not work, so it is not shown.
func (c *call) secret(created signalbox.Key) string {
	if c.dryRun {
		return "sk_api_…"
	}
	return created.Secret
}
