package admin

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/settings"
)

func (c *commands) doctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor [URL]",
		Short: "Check what a server needs, and say what to do",
		Long: `Check what a server with these settings needs: the data folder and its disk, the database and its schema, the key ring, the
clock against the database's, the port, and with a URL (or SIGNALBOX_PUBLIC_URL) whether it can be reached there. Nothing
is changed. The exit code is 1 when there is a problem.`,
		Example: "  signalbox admin doctor",
		Args:    terminal.Arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			loaded, _, err := c.load(cmd)
			if err != nil {
				return err
			}
			url := ""
			if len(args) == 1 {
				url = args[0]
			}
			return c.report(app.Examine(cmd.Context(), loaded, url))
		},
	}
	settings.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	return cmd
}

// report prints findings and fails when one is a problem.
func (c *commands) report(findings []app.Finding) error {
	colors := map[app.Verdict]terminal.Color{app.Healthy: terminal.Good, app.Doubtful: terminal.Warn, app.Broken: terminal.Bad}
	err := c.print(findings, func(io.Writer) {
		for _, finding := range findings {
			c.Say("%s  %s: %s\n", c.Paint(colors[finding.Verdict], string(finding.Verdict)), finding.Name, oneLine(finding.Detail))
		}
	})
	if err == nil && slices.ContainsFunc(findings, func(f app.Finding) bool { return f.Verdict == app.Broken }) {
		return terminal.Silent(terminal.ExitFailed)
	}
	return err
}

// oneLine joins the lines of joined errors to a sentence, each line once. Drivers indent their causes and repeat them for every
// address that they tried.
func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	joined := strings.Join(lines, "; ")
	return strings.ReplaceAll(joined, ":; ", ": ")
}
