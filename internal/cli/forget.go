package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/naming"
)

func (s *shell) disown() *cobra.Command {
	return s.command(action{
		use: "forget KIND:ID...", short: "Remove the owner of resources, which stay on the server",
		long: `Remove the owner of resources, which stay on the server. apply --prune no longer deletes them. An apply with --owner
records the resources in its files again.`,
		example: "signalbox forget flag:checkout-v2",
		writes:  true, completes: []completion{ownedNames},
		run: func(ctx context.Context, c *call) error {
			owned, err := manifest.Owned(ctx, c.client)
			if err != nil {
				return err
			}
			for _, name := range c.args {
				if owned[name] == "" {
					return terminal.NotFoundf("no owner has %q.%s", name, naming.DidYouMean(name, slices.Collect(maps.Keys(owned))))
				}
			}
			if err := manifest.Forget(ctx, c.client, c.args, c.options()...); err != nil {
				return err
			}
			for _, name := range c.args {
				c.done(nil, "%s no longer belongs to the owner %s; the server keeps it.", name, owned[name])
			}
			return nil
		},
	})
}

// ownedNames completes the names of resources that have an owner.
func ownedNames(ctx context.Context, client *signalbox.Client, _ ...string) []string {
	owned, _ := manifest.Owned(ctx, client) // a completion cannot report an error
	return slices.Sorted(maps.Keys(owned))
}
