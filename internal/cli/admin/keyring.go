package admin

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (c *commands) keyring() *cobra.Command {
	return terminal.Group("keyring", "Manage the keys that secrets are encrypted with",
		c.generateKey(), c.listKeyring(), c.rotateKeyring(), c.retireKey())
}

func (c *commands) rotateKeyring() *cobra.Command {
	const short = "Add a new key and encrypt everything again with it"
	cmd := c.onStore(app.OpenOperator, "rotate", short, `signalbox admin keyring rotate`, func(ctx context.Context, store *app.Operator, _ []string) (result, error) {
		id, resealed, err := store.RotateKeyring(ctx)
		return result{map[string]any{"key": id, "resealed": resealed.Values, "unopened": resealed.Unopened}, func(w io.Writer) {
			terminal.Fprintf(w, "The primary key is now %s. Values encrypted again: %d.\n", id, resealed.Values)
			if resealed.Unopened > 0 {
				terminal.Fprintf(w, "Values that no key can decrypt were left as they are: %d; the first is %s.\n", resealed.Unopened, resealed.First)
			}
		}}, err
	})
	cmd.Long = `Add a new primary key to the key ring and encrypt everything again with it. A running server notices the new key
within seconds and does the same in the background. Old keys stay in the ring, so backups can still be read.`
	return cmd
}

func (c *commands) generateKey() *cobra.Command {
	return &cobra.Command{
		Use: "generate", Short: "Print a new key, for key rings that are part of deployment settings",
		Long: `Print a new key, for key rings that are part of deployment settings (SIGNALBOX_KEYRING). Add it before the last key and
restart every node, then move it to the end and restart every node again.`,
		Example: "  signalbox admin keyring generate",
		Args:    terminal.Arguments,
		RunE: func(*cobra.Command, []string) error {
			c.Say("%s\n", app.GenerateKey())
			return nil
		},
	}
}

func (c *commands) listKeyring() *cobra.Command {
	return c.onStore(app.OpenOperator, "list", "List the keys of the ring, oldest first, and how many values each has encrypted", "signalbox admin keyring list",
		func(ctx context.Context, store *app.Operator, _ []string) (result, error) {
			keys, err := store.RingKeys(ctx)
			return result{keys, func(w io.Writer) {
				terminal.Fprintf(w, "ID\tPRIMARY\tVALUES\n")
				for _, key := range keys {
					terminal.Fprintf(w, "%s\t%s\t%d\n", key.ID, terminal.YesNo(key.Primary), key.Values)
				}
			}}, err
		})
}

func (c *commands) retireKey() *cobra.Command {
	var yes bool
	run := func(ctx context.Context, store *app.Operator, args []string) (result, error) {
		said := "The key " + args[0] + " will be removed from the ring. Secrets in backups that it encrypted can then no longer be read."
		if err := c.Confirm(yes, said); err != nil {
			return result{}, err
		}
		return result{map[string]string{"retired": args[0]}, sentence("The key %s is retired.\n", args[0])}, store.RetireKey(ctx, args[0])
	}
	cmd := c.onStore(app.OpenOperator, "retire KEY", "Remove an old key that no stored value needs", "signalbox admin keyring retire $OLD_KEY --yes", run)
	cmd.Long = `Remove an old key that no stored value needs from the ring. Wait ten seconds after signalbox admin keyring rotate, until
every server has noticed the new key. Backups from before the rotation need the old key.`
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do it without asking")
	return cmd
}
