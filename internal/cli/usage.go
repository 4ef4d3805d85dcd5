package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) usage() *cobra.Command {
	var period string
	return s.command(action{
		use: "usage", short: "Show the account's usage of its plan, and all limits", example: "signalbox usage\nsignalbox usage --period 2026-01",
		format: terminal.FormatTable,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&period, "period", "", "the `MONTH` of the runs as YYYY-MM (default: this one)")
		},
		run: func(ctx context.Context, c *call) error {
			usage, err := c.client.Usage.Get(ctx, period)
			if err != nil {
				return err
			}
			account, err := c.client.Account.Get(ctx)
			if err != nil {
				return err
			}
			if !c.format.IsText() {
				return c.PrintValue(c.format, struct {
					signalbox.Usage
					Plans  map[string]string `json:"plans"`
					Limits map[string]int    `json:"limits"`
				}{usage, account.Plans, account.Limits})
			}
			return terminal.PrintAll(c.Terminal, c.format, terminal.Items[limit]{Columns: limitColumns(), Name: func(l limit) string { return l.key }}, c.limits(ctx, usage, account))
		},
	})
}

// limit is a limit of the plan and its usage. used is empty if the usage is not counted.
type limit struct{ key, what, used, allowed, plan string }

func limitColumns() []terminal.Column[limit] {
	return []terminal.Column[limit]{
		{Title: "LIMIT", Text: func(l limit) string { return l.key }, Whole: true},
		{Title: "WHAT", Text: func(l limit) string { return l.what }},
		{Title: "USED", Text: func(l limit) string { return l.used }},
		{Title: "ALLOWED", Text: func(l limit) string { return l.allowed }},
		{Title: "PLAN", Text: func(l limit) string { return l.plan }},
	}
}

// limits returns every limit of the account. Limits that this program does not know have no description.
func (c *call) limits(ctx context.Context, usage signalbox.Usage, account signalbox.Account) (all []limit) {
	what := map[string]string{
		"jobs.included_runs": "runs in " + usage.Period, "jobs.active_jobs": "enabled jobs", "jobs.max_timeout_seconds": "seconds that a job may take",
		"logging.managed_loggers": "managed loggers", "logging.groups": "log groups", "platform.managed_environments": "managed environments",
		"flags.items": "managed flags", "flags.rules": "rules of one flag", "config.items": "configs",
	}
	used := c.counts(ctx)
	used["jobs.included_runs"], used["jobs.active_jobs"] = fmt.Sprint(usage.RunsUsed), fmt.Sprint(usage.ActiveJobs)
	for _, key := range slices.Sorted(maps.Keys(account.Limits)) {
		product, _, _ := strings.Cut(key, ".")
		all = append(all, limit{key, what[key], used[key], limitText(account.Limits[key]), account.Plans[product]})
	}
	return append(all, limit{"history.bytes", "history", bytesText(usage.HistoryBytes), bytesText(usage.HistoryBytesLimit), ""})
}

// counts returns the number of resources by the limit for them. Kinds that cannot be counted are left out.
func (c *call) counts(ctx context.Context) map[string]string {
	one := signalbox.Paging{Size: 1, Total: true}
	counts := map[string]string{}
	count := func(key string, total *int, err error) {
		if err == nil && total != nil {
			counts[key] = fmt.Sprint(*total)
		}
	}
	loggers, err := c.client.Loggers.List(ctx, signalbox.LoggerParams{Paging: one, Managed: new(true)})
	count("logging.managed_loggers", loggers.Total, err)
	groups, err := c.client.LogGroups.List(ctx, signalbox.LogGroupParams{Paging: one})
	count("logging.groups", groups.Total, err)
	environments, err := c.client.Environments.List(ctx, signalbox.EnvironmentParams{Paging: one, Managed: new(true)})
	count("platform.managed_environments", environments.Total, err)
	flags, err := c.client.Flags.List(ctx, signalbox.FlagParams{Paging: one, Managed: new(true)})
	count("flags.items", flags.Total, err)
	configs, err := c.client.Configs.List(ctx, signalbox.ConfigParams{Paging: one})
	count("config.items", configs.Total, err)
	return counts
}

func limitText(limit int) string {
	if limit == signalbox.Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(limit)
}

// bytesText returns a number of bytes as people read it.
func bytesText(bytes int64) string {
	const step = 1024
	if bytes == signalbox.Unlimited {
		return "unlimited"
	}
	number, units := float64(bytes), []string{"bytes", "KiB", "MiB", "GiB"}
	for number >= step && len(units) > 1 {
		number, units = number/step, units[1:]
	}
	return fmt.Sprintf("%.4g %s", number, units[0])
}
