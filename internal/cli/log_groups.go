package cli

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func groupKind() kind[signalbox.LogGroup] {
	in := func(c *signalbox.Client) service[signalbox.LogGroup, signalbox.LogGroupParams] { return c.LogGroups }
	return from(in, kind[signalbox.LogGroup]{
		name: "log_group", noun: "log group",
		of: func(g signalbox.LogGroup) signalbox.Resource { return g.Resource },
		columns: []terminal.Column[signalbox.LogGroup]{
			{Title: "ID", Text: func(g signalbox.LogGroup) string { return g.ID }, Whole: true},
			{Title: "LEVEL", Text: func(g signalbox.LogGroup) string { return levelText(g.Level, g.LevelExpiresAt) }},
			{Title: "ENVIRONMENTS", Text: func(g signalbox.LogGroup) string { return overridesText(g.Environments) }},
			{Title: "NAME", Text: func(g signalbox.LogGroup) string { return g.Name }, Wide: true},
			{Title: "UPDATED", Text: func(g signalbox.LogGroup) string { return moment(&g.UpdatedAt) }, Wide: true},
		},
	})
}

func (s *shell) groups() *cobra.Command {
	k := groupKind()
	return terminal.Group("groups", "Groups of loggers that share a level", s.listGroups(), k.show(s, "signalbox groups get sql"), s.createGroup(),
		s.setGroup(), s.resetGroup(), s.moveLoggers("add", true), s.moveLoggers("rm", false),
		k.delete(s, "signalbox groups delete sql --yes", groupConsequences))
}

func groupConsequences(ctx context.Context, c *call, g signalbox.LogGroup) (string, error) {
	members, err := c.client.Loggers.List(ctx, signalbox.LoggerParams{Group: g.ID, Paging: signalbox.Paging{Size: 1, Total: true}})
	count := value(members.Total)
	return fmt.Sprintf("The log group %s will be deleted; %d %s will leave it.", g.ID, count, plural(count, "logger")), err
}

func (s *shell) listGroups() *cobra.Command {
	var filter searchFlags
	return groupKind().list(s, action{
		use: "list", short: "List log groups", example: "signalbox groups list", flags: filter.addSearch,
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.LogGroup, error] {
		return c.client.LogGroups.All(ctx, signalbox.LogGroupParams{Search: filter.search})
	})
}

func (s *shell) createGroup() *cobra.Command {
	var name string
	return s.command(action{
		use: "create ID", short: "Create a log group", example: `signalbox groups create http --name "HTTP clients"`,
		writes: true, format: terminal.FormatYAML,
		flags: func(cmd *cobra.Command) { cmd.Flags().StringVar(&name, "name", "", "the `NAME` for people") },
		run: func(ctx context.Context, c *call) error {
			created, err := c.client.LogGroups.Create(ctx, c.args[0], signalbox.LogGroupDraft{Name: name}, c.options()...)
			return groupKind().wrote(c, created, err, "The log group %s is created. Add loggers with signalbox groups add.", c.args[0])
		},
	})
}

// editGroup changes a log group.
func editGroup(ctx context.Context, c *call, change func(*signalbox.LogGroupDraft)) (signalbox.LogGroup, error) {
	return edited(ctx, c, groupKind(), c.args[0], signalbox.LogGroup.Draft, func(_ signalbox.LogGroup, draft *signalbox.LogGroupDraft) error {
		change(draft)
		return nil
	}, c.client.LogGroups.Replace)
}

func (s *shell) setGroup() *cobra.Command {
	var flags levelFlags
	return s.command(action{
		use: "set ID LEVEL", short: "Set a permanent or temporary level of a log group, everywhere or in one environment",
		example: "signalbox groups set sql DEBUG -e production --for 15m",
		writes:  true, format: terminal.FormatYAML, environment: optionally, flags: flags.add,
		completes: []completion{groupKind().ids, levels()},
		run: func(ctx context.Context, c *call) error {
			setting, err := flags.setting(c.args[1])
			if err != nil {
				return err
			}
			written, err := editGroup(ctx, c, func(draft *signalbox.LogGroupDraft) { c.setLevel(&draft.Base, draft.Environments, setting) })
			return groupKind().wrote(c, written, err, "The log group %s is at %s.", c.args[0], flags.text(c, c.args[1]))
		},
	})
}

func (s *shell) resetGroup() *cobra.Command {
	return s.command(action{
		use: "reset ID", short: "Remove the levels of a log group, everywhere or in one environment",
		example: "signalbox groups reset sql",
		writes:  true, format: terminal.FormatYAML, environment: optionally, completes: []completion{groupKind().ids},
		run: func(ctx context.Context, c *call) error {
			written, err := editGroup(ctx, c, func(draft *signalbox.LogGroupDraft) { c.resetLevels(&draft.Base, &draft.Environments) })
			return groupKind().wrote(c, written, err, "The log group %s no longer sets a level%s.", c.args[0], inEnvironment(c))
		},
	})
}

// moveLoggers returns the command that puts loggers into a group, or takes them out.
func (s *shell) moveLoggers(use string, in bool) *cobra.Command {
	short, done, example := "Put loggers into a log group", "is in", "shop.sql"
	if !in {
		short, done, example = "Take loggers out of a log group", "is no longer in", "shop.payments"
	}
	return s.command(action{
		use: use + " ID LOGGER...", short: short, example: "signalbox groups " + use + " sql " + example,
		writes: true, completes: []completion{groupKind().ids, loggerKind().ids},
		run: func(ctx context.Context, c *call) error {
			if _, err := groupKind().find(ctx, c, c.args[0]); err != nil {
				return err
			}
			for _, name := range c.args[1:] {
				if err := c.isMember(ctx, name, in); err != nil {
					return err
				}
				note := c.newLogger(ctx, name)
				written, err := editLogger(ctx, c, name, func(draft *signalbox.LoggerDraft) {
					if draft.Group = c.args[0]; !in {
						draft.Group = ""
					}
				})
				if err != nil {
					return err
				}
				c.noteAll(nil, []string{note})
				c.done(written.Notes, "The logger %s %s %s.", written.ID, done, c.args[0])
			}
			return nil
		},
	})
}

// isMember returns an error if a logger that leaves the command's group is not in it. A logger that joins need not exist yet:
// services report loggers later.
func (c *call) isMember(ctx context.Context, name string, joins bool) error {
	if joins {
		return nil
	}
	logger, err := loggerKind().find(ctx, c, name)
	if err == nil && value(logger.Group) != c.args[0] {
		return terminal.Usagef("the logger %s is not in %s", logger.ID, c.args[0])
	}
	return err
}
