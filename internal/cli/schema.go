package cli

import (
	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON Schema of the files for apply",
		Long: `Print a JSON Schema of the files for apply. Editors complete and check files with it, for example when a file begins with

    # yaml-language-server: $schema=signalbox.schema.json

No server is needed.`,
		Example: "  signalbox schema > signalbox.schema.json",
		Args:    terminal.Arguments,
		RunE: func(*cobra.Command, []string) error {
			text, err := manifest.Schema()
			if err != nil {
				return err
			}
			var format terminal.Format
			return s.PrintValue(format, text)
		},
	}
}
