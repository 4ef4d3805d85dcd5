package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) usage() *cobra.Command {
	var period string
	return s.command(action{
		use: "usage", short: "Show the usage of the plan by jobs, and the size of the history", example: "signalbox usage\nsignalbox usage --period 2026-01",
		format: terminal.FormatTable,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&period, "period", "", "the `MONTH` as YYYY-MM (default: this month)")
		},
		run: func(ctx context.Context, c *call) error {
			usage, err := c.client.Usage.Get(ctx, period)
			if err != nil {
				return err
			}
			if !c.format.IsText() {
				return c.PrintValue(c.format, usage)
			}
			c.Say("runs in %s: %d of %s\nenabled jobs: %d of %s\nhistory: %d of %s bytes\n", usage.Period, usage.RunsUsed, limitText(usage.RunsIncluded),
				usage.ActiveJobs, limitText(usage.ActiveJobsLimit), usage.HistoryBytes, limitText(usage.HistoryBytesLimit))
			return nil
		},
	})
}

func limitText[T int | int64](limit T) string {
	if limit == signalbox.Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(limit)
}
