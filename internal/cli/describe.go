package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) describe() *cobra.Command {
	return s.command(action{
		use: "describe KIND ID...", short: "Show one resource on a screen: its values, its history and warnings",
		long: "Show everything about one resource: its values, where it is used, its recent changes, and the server's warnings.\n" +
			"The kinds are " + strings.Join(kindNames(), ", ") + ".",
		example:   "signalbox describe flag checkout-v2\nsignalbox describe job nightly",
		completes: []completion{words(kindNames()...), idsOfKind},
		run: func(ctx context.Context, c *call) error {
			kind, err := findKind(c.args[0])
			if err != nil {
				return err
			}
			for i, id := range c.args[1:] {
				if i > 0 {
					c.Say("\n")
				}
				if err := kind.describe(ctx, c, id); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// describe prints a resource: its columns, the sections of its kind, its history, and the warnings of the server.
func (k kind[T]) describe(ctx context.Context, c *call, id string, sections func(context.Context, *call, T) error) error {
	item, err := k.find(ctx, c, id)
	if err != nil {
		return err
	}
	for _, column := range k.columns {
		if text := column.Text(item); !strings.HasPrefix(column.Title, "ENVIRONMENTS") {
			c.row(strings.ToLower(column.Title), text)
		}
	}
	if sections != nil {
		if err := sections(ctx, c, item); err != nil {
			return err
		}
	}
	if err := c.describeHistory(ctx, k.name+":"+k.of(item).ID); err != nil {
		return err
	}
	c.describeWarnings(ctx, k.name, k.of(item).ID, item)
	return nil
}

// row prints a member of the described resource, unless it is empty.
func (c *call) row(name, text string) {
	if text != "" {
		c.Say("%s  %s\n", c.Paint(terminal.Bold, fmt.Sprintf("%-14s", name)), text)
	}
}

// title begins a section of a description.
func (c *call) title(text string) { c.Say("\n%s\n", c.Paint(terminal.Bold, text)) }

// section prints a title and a line for each item, or nothing if there are none.
func section[T any](c *call, title string, items []T, line func(T) terminal.Shown) {
	if len(items) > 0 {
		c.title(title)
	}
	for _, item := range items {
		c.Say("  %s\n", line(item))
	}
}

// described is the maximum number of items in a section of a description.
const described = 5

// describeHistory prints the last changes of a resource.
func (c *call) describeHistory(ctx context.Context, resource string) error {
	changes, err := collect(first(described, c.client.Changes.All(ctx, signalbox.ChangeParams{Resource: resource, Size: described})))
	if err != nil || len(changes) == 0 {
		return err
	}
	section(c, "recent changes", changes, func(change signalbox.Change) terminal.Shown {
		return terminal.Sprintf("%s  %4s  %s by %s", moment(&change.CreatedAt), change.ID, change.Action, change.Actor.Name)
	})
	c.Say("  signalbox changes show %s shows the last one.\n", changes[0].ID)
	return nil
}

// describeWarnings prints the server's warnings about the resource, from a dry run. A key that may not write gets none.
func (c *call) describeWarnings(ctx context.Context, kind, id string, attributes any) {
	written, err := c.client.Documents.Replace(ctx, kind, id, attributes, signalbox.DryRun())
	if err != nil || written.Notes == nil {
		return
	}
	section(c, "warnings", written.Notes.Warnings, func(warning signalbox.Warning) terminal.Shown {
		return c.Paint(terminal.Warn, warning.Detail)
	})
}

func describeFlag(ctx context.Context, c *call, f signalbox.Flag) error {
	c.row("description", value(f.Description))
	var values []string
	for _, choice := range f.Values {
		values = append(values, string(choice.Value))
	}
	c.row("may serve", strings.Join(values, ", "))
	for _, name := range slices.Sorted(maps.Keys(f.Environments)) {
		environment := f.Environments[name]
		c.title(name + ": " + flagEnvironment(environment))
		c.printRules(environment.Rules)
		c.Say("  otherwise → %s\n", fallback(f, environment))
	}
	sources, err := c.client.Flags.Sources(ctx, f.ID, signalbox.SourceParams{Paging: signalbox.Paging{Size: described}})
	section(c, "declared by", sources.Items, func(source signalbox.FlagSource) terminal.Shown {
		return terminal.Sprintf("%s in %s with the default %s, last seen %s", source.Service, source.Environment, source.DeclaredDefault, moment(&source.LastSeen))
	})
	return err
}

// fallback returns what a flag serves when no rule matches.
func fallback(f signalbox.Flag, environment flageval.Environment) string {
	if text := string(environment.Default); text != "" && text != "null" {
		return text
	}
	return string(f.Default)
}

func describeLogger(_ context.Context, c *call, l signalbox.Logger) error {
	c.describeLevels(l.Environments)
	section(c, "effective levels", slices.Sorted(maps.Keys(l.Resolved)), func(name string) terminal.Shown {
		return terminal.Sprintf("%s: %s  (%s)", name, l.Resolved[name].Level, originText(l.ID, l.Resolved[name]))
	})
	section(c, "reported by", l.Sources, func(source signalbox.LoggerSourceSummary) terminal.Shown {
		return terminal.Sprintf("%s in %s at %s, last seen %s", source.Service, source.Environment, source.ResolvedLevel, moment(&source.LastSeen))
	})
	return nil
}

// describeLevels prints the levels that are set for environments.
func (c *call) describeLevels(overrides map[string]signalbox.LevelOverride) {
	section(c, "levels by environment", slices.Sorted(maps.Keys(overrides)), func(name string) terminal.Shown {
		return terminal.Sprintf("%s: %s", name, levelText(overrides[name].Level, overrides[name].ExpiresAt))
	})
}

func describeGroup(ctx context.Context, c *call, g signalbox.LogGroup) error {
	c.describeLevels(g.Environments)
	members, err := collect(c.client.Loggers.All(ctx, signalbox.LoggerParams{Group: g.ID}))
	section(c, "members", members, func(member signalbox.Logger) terminal.Shown {
		return terminal.Sprintf("%s  %s", member.ID, resolvedText(member.Resolved))
	})
	return err
}

func describeConfig(ctx context.Context, c *call, config signalbox.Config) error {
	for _, name := range append([]string{""}, slices.Sorted(maps.Keys(config.Environments))...) {
		resolved, err := c.client.Configs.Resolve(ctx, config.ID, name)
		if err != nil {
			return err
		}
		title := "values"
		if name != "" {
			title += " in " + name
		}
		c.title(title)
		for _, key := range slices.Sorted(maps.Keys(resolved.Values)) {
			origin := resolved.Origins[key]
			c.Say("  %s = %s  %s\n", key, resolved.Values[key], c.Paint(terminal.Faint, "of "+origin.Config+", "+origin.Source))
		}
	}
	return nil
}

func describeEnvironment(ctx context.Context, c *call, e signalbox.Environment) error {
	usage, err := c.client.Environments.Usage(ctx, e.ID)
	if err != nil {
		return err
	}
	c.title("stored values")
	c.Say("  %s\n", storedText(usage))
	if !e.Managed {
		c.Say("  The values are frozen, because the environment is not managed. signalbox environments promote %s thaws them.\n", e.ID)
	}
	return nil
}

func describeJob(ctx context.Context, c *call, j signalbox.Job) error {
	c.row("description", value(j.Description))
	c.row("time zone", value(j.Timezone))
	if j.Overlap != signalbox.OverlapAllow {
		c.row("overlap", string(j.Overlap))
	}
	if j.Retry != nil {
		c.row("retry", fmt.Sprintf("up to %d attempts", j.Retry.MaxAttempts))
	}
	if j.Alerts != nil {
		c.row("alerts", fmt.Sprintf("after %d %s", j.Alerts.AfterFailures, plural(j.Alerts.AfterFailures, "failure")))
	}
	if preview, err := c.client.Jobs.PreviewScheduleIn(ctx, j.Schedule, value(j.Timezone), described); err == nil && j.Enabled {
		section(c, "next runs", preview.NextLocal, fireTime)
	}
	runs, err := collect(first(described, c.client.Runs.All(ctx, signalbox.RunParams{Job: j.ID, Size: described})))
	section(c, "last runs", runs, func(run signalbox.Run) terminal.Shown {
		return terminal.Sprintf("%s  %s  %s  %s  %s", moment(&run.CreatedAt), run.ID, c.Paint(statusColor(run.Status), string(run.Status)), runResult(run), millis(run.RunMillis))
	})
	return err
}

func describeWebhook(ctx context.Context, c *call, w signalbox.Webhook) error {
	c.row("target", w.URL)
	c.row("only ids", strings.Join(w.Filter.IDs, ", "))
	c.row("only in", strings.Join(w.Filter.Environments, ", "))
	page, err := c.client.Webhooks.Deliveries(ctx, w.ID, signalbox.DeliveryParams{Size: 100})
	if err != nil {
		return err
	}
	problem, err := c.webhookProblem(ctx, w, page.Items)
	if err != nil {
		return err
	}
	section(c, "problems", problem, func(line string) terminal.Shown { return c.Paint(terminal.Bad, line) })
	section(c, "last deliveries", page.Items[:min(described, len(page.Items))], func(delivery signalbox.Delivery) terminal.Shown {
		return terminal.Sprintf("%s  %s  %s  %s", moment(&delivery.CreatedAt), delivery.ID, delivery.Type, deliveryText(delivery))
	})
	return nil
}

// deliveryText returns the state of a delivery for a line.
func deliveryText(d signalbox.Delivery) string {
	text := string(d.Status)
	if answer := deliveryAnswer(d); answer != "" {
		text += fmt.Sprintf(", %s after %d %s", answer, len(d.Attempts), plural(len(d.Attempts), "attempt"))
	}
	if d.NextAttemptAt != nil {
		text += ", next attempt " + moment(d.NextAttemptAt)
	}
	return text
}

// webhookProblem explains a failing or disabled webhook and what to do about it. It returns no lines for a
// healthy one.
func (c *call) webhookProblem(ctx context.Context, w signalbox.Webhook, newest []signalbox.Delivery) (lines []string, err error) {
	if w.State == signalbox.WebhookOK {
		return nil, nil
	}
	if failed := lastFailure(newest); failed != nil {
		result := value(failed.Error)
		if failed.Status != nil {
			result = fmt.Sprintf("HTTP %d.", *failed.Status)
		}
		lines = append(lines, fmt.Sprintf("The attempt of %s failed after %s: %s", moment(&failed.At), millis(&failed.DurationMillis), result))
		if answer := strings.TrimSpace(value(failed.Answer)); answer != "" {
			lines = append(lines, "The target said: "+strings.Join(strings.Fields(answer), " "))
		}
	}
	if w.State != signalbox.WebhookDisabled {
		return append(lines, "signalbox webhooks test "+w.ID+" tries it now."), nil
	}
	why := "It is disabled, and sends nothing."
	for change, err := range first(described, c.client.Changes.All(ctx, signalbox.ChangeParams{Resource: "webhook:" + w.ID, Size: described})) {
		if err != nil {
			return nil, err
		}
		if change.Note != nil && change.Actor.Type == "system" {
			why = "The server disabled it: " + *change.Note
			break
		}
	}
	return append(lines, why, "signalbox webhooks set "+w.ID+" --enabled starts it again."), nil
}

// lastFailure returns the newest attempt of some deliveries, if it failed; nil if it did not.
func lastFailure(deliveries []signalbox.Delivery) (last *signalbox.DeliveryAttempt) {
	for _, delivery := range deliveries {
		for _, attempt := range delivery.Attempts {
			if last == nil || attempt.At.After(last.At) {
				last = &attempt
			}
		}
	}
	if last != nil && last.Status != nil && *last.Status >= 200 && *last.Status <= 299 {
		return nil
	}
	return last
}
