package cli

import (
	"context"
	"net/url"
	"os/exec"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) open() *cobra.Command {
	var printOnly bool
	pages := []string{"flags", "loggers", "configs", "jobs", "environments", "services", "changes", "keys", "people", "settings"}
	return s.command(action{
		use: "open [PAGE] [ID]", short: "Open the console in a browser, at a page or at one thing",
		example: "signalbox open flags checkout-v2 --print", completes: []completion{words(pages...), idsOfKind},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&printOnly, "print", false, "print the URL and open nothing")
		},
		run: func(ctx context.Context, c *call) error {
			target := c.url
			if len(c.args) > 0 {
				page := c.args[0]
				if !slices.Contains(pages, page) {
					return notFoundNear(terminal.Usagef("the console has no page %q.", page), page, pages)
				}
				if page == "changes" {
					page = "history"
				}
				target += "/" + page
			}
			if len(c.args) > 1 {
				target += "/" + url.PathEscape(c.args[1])
			}
			c.Say("%s\n", target)
			if printOnly {
				return nil
			}
			return browse(ctx, target)
		},
	})
}

// browse opens a URL in the user's browser.
func browse(ctx context.Context, target string) error {
	name, args := "xdg-open", []string{target}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", target}
	}
	if err := exec.CommandContext(ctx, name, args...).Run(); err != nil {
		return terminal.Usagef("no browser could be opened (%v); open the URL yourself", err)
	}
	return nil
}
