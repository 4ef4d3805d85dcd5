package admin

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (c *commands) keyring() *cobra.Command {
	return terminal.Group("keyring", "Manage the keys that secrets are encrypted with", c.rotateKeyring())
}

func (c *commands) rotateKeyring() *cobra.Command {
	const short = "Add a new key and encrypt everything again with it"
	cmd := c.onStore(app.OpenOperator, "rotate", short, `signalbox admin keyring rotate`, func(ctx context.Context, store *app.Operator, _ []string) error {
		id, resealed, err := store.RotateKeyring(ctx)
		if err != nil {
			return err
		}
		return c.print(map[string]any{"key": id, "resealed": resealed.Values, "unopened": resealed.Unopened}, func(w io.Writer) {
			c.say(w, "The primary key is now %s. Values encrypted again: %d.\n", id, resealed.Values)
			if resealed.Unopened > 0 {
				c.say(w, "Values that no key opens, which stay as they are: %d; the first is %s.\n", resealed.Unopened, resealed.First)
			}
		})
	})
	cmd.Long = `Add a new primary key to the key ring and encrypt everything again with it. A running server notices the new key
within seconds and does the same in the background. Old keys stay in the ring, so backups can still be read.`
	return cmd
}
