package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) validate() *cobra.Command {
	var files []string
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check files for apply without a server",
		Long: `Check files for apply without a server: their form, the members and values of every resource, the rules and values of
flags, the times and URLs of jobs, and configs that inherit from themselves. Limits, and references to resources on a server, are checked by signalbox diff.`,
		Example: "  signalbox validate -f signalbox/",
		Args:    terminal.Arguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if files == nil {
				return terminal.Usagef("%s needs files: add -f, such as -f signalbox/", cmd.CommandPath())
			}
			resources, err := manifest.Read(files, s.Input())
			if err := errors.Join(err, manifest.Validate(resources)); err != nil {
				return err
			}
			s.Say("Valid: %d %s.\n", len(resources), plural(len(resources), "resource"))
			return nil
		},
	}
	addFiles(cmd, &files)
	return cmd
}
