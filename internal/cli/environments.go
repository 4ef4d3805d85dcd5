package cli

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func environmentKind() kind[signalbox.Environment] {
	in := func(c *signalbox.Client) service[signalbox.Environment, signalbox.EnvironmentParams] {
		return c.Environments
	}
	return from(in, kind[signalbox.Environment]{
		name: "environment", noun: "environment",
		of: func(e signalbox.Environment) signalbox.Resource { return e.Resource },
		columns: []terminal.Column[signalbox.Environment]{
			{Title: "ID", Text: func(e signalbox.Environment) string { return e.ID }, Whole: true},
			{Title: "NAME", Text: func(e signalbox.Environment) string { return e.Name }},
			{Title: "CLASSIFICATION", Text: func(e signalbox.Environment) string { return string(e.Classification) }},
			{Title: "MANAGED", Text: func(e signalbox.Environment) string { return terminal.YesNo(e.Managed) }},
			{Title: "COLOR", Text: func(e signalbox.Environment) string { return value(e.Color) }, Wide: true},
			{Title: "UPDATED", Text: func(e signalbox.Environment) string { return moment(&e.UpdatedAt) }, Wide: true},
		},
	})
}

func (s *shell) environments() *cobra.Command {
	k := environmentKind()
	return terminal.Group("environments", "Deployment targets", s.listEnvironments(), k.show(s, "signalbox environments get production"),
		s.createEnvironment(), s.setEnvironment(), s.promoteEnvironment(), s.deleteEnvironment())
}

func (s *shell) listEnvironments() *cobra.Command {
	var filter searchFlags
	return environmentKind().list(s, action{
		use: "list", short: "List environments", example: "signalbox environments list\nsignalbox environments list --managed -o name", flags: filter.add,
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Environment, error] {
		return c.client.Environments.All(ctx, signalbox.EnvironmentParams{Search: filter.search, Managed: filter.isManaged()})
	})
}

func (s *shell) createEnvironment() *cobra.Command {
	var name, color string
	return s.command(action{
		use: "create ID", short: "Create an environment, which is managed", example: "signalbox environments create qa --name QA --color '#0a7'",
		writes: true, format: terminal.FormatYAML,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&name, "name", "", "the `NAME` for people (default: the id)")
			cmd.Flags().StringVar(&color, "color", "", "a hex `COLOR` such as #0a7")
		},
		run: func(ctx context.Context, c *call) error {
			draft := signalbox.EnvironmentDraft{Name: cmp.Or(name, c.args[0])}
			if color != "" {
				draft.Color = &color
			}
			created, err := c.client.Environments.Create(ctx, c.args[0], draft, c.options()...)
			return environmentKind().wrote(c, created, err, "The environment %s is created.", c.args[0])
		},
	})
}

func (s *shell) setEnvironment() *cobra.Command {
	var name, color, classification string
	var managed bool
	return s.command(action{
		use: "set ID", short: "Change the name or color of an environment, or freeze and thaw its values",
		example: "signalbox environments set staging --managed\nsignalbox environments set staging --managed=false --dry-run",
		writes:  true, format: terminal.FormatYAML, completes: []completion{environmentKind().ids},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&name, "name", "", "the `NAME` for people")
			cmd.Flags().StringVar(&color, "color", "", "a hex `COLOR` such as #0a7; empty for none")
			cmd.Flags().BoolVar(&managed, "managed", false, "whether values may be written for it; with =false it is a frozen environment, whose stored values stay")
			terminal.AddChoice(cmd, &classification, "classification", "", "who sees the environment by default",
				string(signalbox.ClassificationStandard), string(signalbox.ClassificationAdHoc))
		},
		run: func(ctx context.Context, c *call) error {
			written, err := edited(ctx, c, environmentKind(), c.args[0], signalbox.Environment.Draft,
				func(_ signalbox.Environment, draft *signalbox.EnvironmentDraft) error {
					if c.changed("name") {
						draft.Name = name
					}
					if c.changed("managed") {
						draft.Managed = &managed
					}
					if c.changed("color") {
						draft.Color = &color
					}
					if value(draft.Color) == "" {
						draft.Color = nil
					}
					if classification != "" {
						draft.Classification = signalbox.Classification(classification)
					}
					return nil
				}, c.client.Environments.Replace)
			return environmentKind().wrote(c, written, err, "The environment %s is changed; managed: %s.", c.args[0], terminal.YesNo(written.Managed))
		},
	})
}

func (s *shell) promoteEnvironment() *cobra.Command {
	return s.command(action{
		use: "promote ID...", short: "Make environments managed, so that values can be written for them",
		long: "Make environments managed, so that values can be written for them. The values of an unmanaged environment are frozen.\n" +
			"Managed environments count against the plan. signalbox environments set ID --managed=false makes one unmanaged again.",
		example: "signalbox environments promote staging",
		writes:  true, each: true, format: terminal.FormatYAML, completes: []completion{environmentKind().ids},
		run: func(ctx context.Context, c *call) error {
			written, err := edited(ctx, c, environmentKind(), c.args[0], signalbox.Environment.Draft,
				func(_ signalbox.Environment, draft *signalbox.EnvironmentDraft) error {
					draft.Managed, draft.Classification = new(true), signalbox.ClassificationStandard
					return nil
				}, c.client.Environments.Replace)
			return environmentKind().wrote(c, written, err, "The environment %s is managed; values can be written for it.", c.args[0])
		},
	})
}

func (s *shell) deleteEnvironment() *cobra.Command {
	var values bool
	k := environmentKind()
	k.remove = func(ctx context.Context, c *signalbox.Client, id string, options ...signalbox.WriteOption) error {
		if values {
			return c.Environments.DeleteWithValues(ctx, id, options...)
		}
		return c.Environments.Delete(ctx, id, options...)
	}
	cmd := k.delete(s, "signalbox environments delete staging --yes", func(ctx context.Context, c *call, e signalbox.Environment) (string, error) {
		usage, err := c.client.Environments.Usage(ctx, e.ID)
		fate := "stay, and apply again if an environment with this id is created"
		if values {
			fate = "are deleted too"
		}
		return fmt.Sprintf("The environment %s will be deleted. Its %s %s.", e.ID, storedText(usage), fate), err
	})
	cmd.Flags().BoolVar(&values, "with-values", false, "also delete every value that is stored for the environment")
	return cmd
}

// storedText says how many values are stored for an environment.
func storedText(usage signalbox.EnvironmentUsage) string {
	counted := func(count int, noun string) string { return fmt.Sprintf("%d %s", count, plural(count, noun)) }
	return counted(usage.FlagRules, "flag rule") + ", " + counted(usage.FlagDefaults, "flag default") + ", " +
		counted(usage.ConfigOverrides, "config value") + " and " + counted(usage.LoggerOverrides, "level")
}
