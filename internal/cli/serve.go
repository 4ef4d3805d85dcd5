package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/settings"
)

func (s *shell) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: `Start the server. Without settings it listens on 127.0.0.1:8080 and keeps everything in ./data.

The first start makes an account and prints its API key and a set-up link, once. Every setting is a flag, a variable of
the environment, or a line of a KEY=VALUE file, in this order of precedence.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, log, err := s.load(cmd)
			if err != nil {
				return err
			}
			instance, err := app.New(cmd.Context(), loaded, log, s.stdout)
			if err != nil {
				return err
			}
			return instance.Run(cmd.Context())
		},
	}
	cmd.Args = argumentsOf(cmd.Use)
	settings.AddFlags(cmd.Flags())
	return cmd
}

func (s *shell) migrate() *cobra.Command {
	run := func(context.Context, *app.Operator, []string) error { // opening migrates
		return s.print(map[string]bool{"migrated": true}, func(w io.Writer) { s.say(w, "The schema is up to date.\n") })
	}
	return s.onStore(app.MakeOperator, "migrate", "Bring the database schema up to date, and stop", run)
}

func (s *shell) keyring() *cobra.Command {
	return group("keyring", "Manage the keys that secrets are encrypted with", s.rotateKeyring())
}

func (s *shell) rotateKeyring() *cobra.Command {
	const short = "Add a new key and encrypt everything again with it"
	cmd := s.onStore(app.OpenOperator, "rotate", short, func(ctx context.Context, store *app.Operator, _ []string) error {
		id, resealed, err := store.RotateKeyring(ctx)
		if err != nil {
			return err
		}
		return s.print(map[string]any{"key": id, "resealed": resealed.Values, "unopened": resealed.Unopened}, func(w io.Writer) {
			s.say(w, "The primary key is now %s. Values encrypted again: %d.\n", id, resealed.Values)
			if resealed.Unopened > 0 {
				s.say(w, "Values that no key opens, which stay as they are: %d; the first is %s.\n", resealed.Unopened, resealed.First)
			}
		})
	})
	cmd.Long = `Add a new primary key to the key ring and encrypt everything again with it. A running server notices the new key
within seconds and does the same in the background. Old keys stay in the ring, so backups can still be read.`
	return cmd
}
