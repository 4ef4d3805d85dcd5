package cli

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) health() *cobra.Command {
	var base string
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a server whether it is ready; for health checks of containers",
		Long: `Ask a server whether it is ready: the exit code is 0 when it is, and 1 when it is not or does not answer. It needs no
API key.`,
		Example: "  signalbox health",
		Args:    terminal.Arguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			const patience = 5 * time.Second
			target := s.address(cmp.Or(base, s.Variable(urlVariable)))
			if target == "" {
				file, _ := s.readProfiles() // without profiles it is the default
				target = cmp.Or(strings.TrimRight(file.Profiles[file.Current].URL, "/"), defaultURL)
			}
			if err := signalbox.Ready(cmd.Context(), target, signalbox.WithTimeout(patience), signalbox.WithRetry(signalbox.RetryPolicy{})); err != nil {
				return profile{URL: target}.explain(err)
			}
			s.Say("%s is ready.\n", target)
			return nil
		},
	}
	cmd.Flags().StringVar(&base, "url", "", "the server's base `URL` ("+urlVariable+", default: the profile's, or "+defaultURL+")")
	return cmd
}
