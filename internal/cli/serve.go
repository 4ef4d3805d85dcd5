package cli

import (
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

The first start makes an account and prints its API key, once. Every setting is a flag, a variable of the environment,
or a line of a KEY=VALUE file, in this order of precedence.`,
		Args: exactly(),
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
	settings.AddFlags(cmd.Flags())
	return cmd
}

func (s *shell) migrate() *cobra.Command {
	return s.onStore(&cobra.Command{
		Use:   "migrate",
		Short: "Bring the database schema up to date, and stop",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.found(cmd, func(*app.Operator) error { // opening migrates
				return s.print(map[string]bool{"migrated": true}, func(w io.Writer) { s.say(w, "The schema is up to date.\n") })
			})
		},
	})
}

func (s *shell) keyring() *cobra.Command {
	return group("keyring", "Manage the keys that secrets are encrypted with", s.onStore(&cobra.Command{
		Use:   "rotate",
		Short: "Add a new key and encrypt everything again with it",
		Long: `Add a new primary key to the key ring and encrypt everything again with it. A running server notices the new key
within seconds and does the same in the background. Old keys stay in the ring, so backups can still be read.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.operate(cmd, func(operator *app.Operator) error {
				id, resealed, err := operator.RotateKeyring(cmd.Context())
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
		},
	}))
}
