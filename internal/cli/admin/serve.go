package admin

import (
	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/settings"
)

// Serve returns the command that starts the server.
func Serve(t *terminal.Terminal) *cobra.Command {
	c := &commands{Terminal: t}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: `Start the server. Without settings it listens on 127.0.0.1:8080 and keeps everything in ./data.

The first start makes an account and prints its API key and a set-up link, once. Every setting is a flag, a variable of
the environment, or a line of a KEY=VALUE file, in this order of precedence.`,
		Example: "  signalbox serve --listen 127.0.0.1:9090 --data ./tour",
		Args:    terminal.Arguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, log, err := c.load(cmd)
			if err != nil {
				return err
			}
			instance, err := app.New(cmd.Context(), loaded, log, c.Out)
			if err != nil {
				return err
			}
			return instance.Run(cmd.Context())
		},
	}
	settings.AddFlags(cmd.Flags())
	return completed(cmd)
}
