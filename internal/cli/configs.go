package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/naming"
)

func configKind() kind[signalbox.Config] {
	in := func(c *signalbox.Client) service[signalbox.Config, signalbox.ConfigParams] { return c.Configs }
	return from(in, kind[signalbox.Config]{
		name: "config", noun: "config",
		of: func(c signalbox.Config) signalbox.Resource { return c.Resource },
		columns: []terminal.Column[signalbox.Config]{
			{Title: "ID", Text: func(c signalbox.Config) string { return c.ID }, Whole: true},
			{Title: "PARENT", Text: func(c signalbox.Config) string { return value(c.Parent) }},
			{Title: "ITEMS", Text: func(c signalbox.Config) string { return fmt.Sprint(len(c.Items)) }},
			{Title: "OVERRIDES", Text: overrideCounts},
			{Title: "NAME", Text: func(c signalbox.Config) string { return c.Name }, Wide: true},
			{Title: "UPDATED", Text: func(c signalbox.Config) string { return moment(&c.UpdatedAt) }, Wide: true},
		},
	})
}

func overrideCounts(c signalbox.Config) string {
	return eachEnvironment(c.Environments, func(o signalbox.ConfigOverrides) string { return fmt.Sprint(len(o)) })
}

func (s *shell) configs() *cobra.Command {
	k := configKind()
	return terminal.Group("configs", "Configuration of services", s.listConfigs(), k.show(s, "signalbox configs get checkout"), s.createConfig(),
		s.setConfig(), s.unsetConfig(), s.resolveConfig(), s.diffConfig(),
		k.delete(s, "signalbox configs delete checkout --yes", func(_ context.Context, _ *call, c signalbox.Config) (string, error) {
			return fmt.Sprintf("The config %s and its %d %s will be deleted; services that read it get nothing.", c.ID, len(c.Items), plural(len(c.Items), "item")), nil
		}))
}

func (s *shell) listConfigs() *cobra.Command {
	var filter searchFlags
	var parent string
	return configKind().list(s, action{
		use: "list", short: "List configs", example: "signalbox configs list\nsignalbox configs list --parent common",
		flags: func(cmd *cobra.Command) {
			filter.addSearch(cmd)
			s.addCompleted(cmd, &parent, "parent", "list the configs that inherit from the config with this `ID`", configKind().ids)
		},
		filters: func(ctx context.Context, c *call) error { return configKind().exists(ctx, c, parent) },
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Config, error] {
		return c.client.Configs.All(ctx, signalbox.ConfigParams{Search: filter.search, Parent: parent})
	})
}

func (s *shell) createConfig() *cobra.Command {
	var name, parent string
	var standalone bool
	return s.command(action{
		use: "create ID [KEY=VALUE...]", short: "Create a config", example: "signalbox configs create search timeout_ms=500 index=products",
		writes: true, format: terminal.FormatYAML,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&name, "name", "", "the `NAME` for people")
			cmd.Flags().StringVar(&parent, "parent", "", "inherit from the config with this `ID` (default: common)")
			cmd.Flags().BoolVar(&standalone, "standalone", false, "inherit from no config")
			cmd.MarkFlagsMutuallyExclusive("parent", "standalone")
			_ = cmd.RegisterFlagCompletionFunc("parent", s.completeFlag(configKind().ids))
		},
		run: func(ctx context.Context, c *call) error {
			draft := signalbox.ConfigDraft{Name: name, Standalone: standalone, Items: map[string]signalbox.ConfigItem{}}
			if parent != "" {
				draft.Parent = &parent
			}
			for _, pair := range c.args[1:] {
				key, text, err := keyAndValue(pair)
				if err != nil {
					return err
				}
				draft.Items[key] = signalbox.ConfigItem{Value: text}
			}
			created, err := c.client.Configs.Create(ctx, c.args[0], draft, c.options()...)
			return configKind().wrote(c, created, err, "The config %s is created.", c.args[0])
		},
	})
}

// keyAndValue reads KEY=VALUE. A value that is not JSON becomes a JSON string.
func keyAndValue(pair string) (string, json.RawMessage, error) {
	key, text, found := strings.Cut(pair, "=")
	if !found || key == "" {
		return "", nil, terminal.Usagef("%q is not KEY=VALUE", pair)
	}
	if json.Valid([]byte(text)) {
		return key, json.RawMessage(text), nil
	}
	encoded, err := json.Marshal(text)
	return key, encoded, err
}

// editConfig changes a config.
func editConfig(ctx context.Context, c *call, change func(*signalbox.ConfigDraft) error) (signalbox.Config, error) {
	return edited(ctx, c, configKind(), c.args[0], signalbox.Config.Draft, func(config signalbox.Config, draft *signalbox.ConfigDraft) error {
		draft.Items, draft.Environments = maps.Clone(config.Items), maps.Clone(config.Environments)
		if c.environment != "" {
			overrides := signalbox.ConfigOverrides{}
			maps.Copy(overrides, config.Environments[c.environment])
			draft.Environments[c.environment] = overrides
		}
		return change(draft)
	}, c.client.Configs.Replace)
}

func (s *shell) setConfig() *cobra.Command {
	return s.command(action{
		use: "set ID KEY=VALUE...", short: "Set values of a config, everywhere or in one environment",
		long: "Set values of a config, everywhere or in one environment. A value that is JSON is read as JSON, all else is text; a text\n" +
			`that looks like JSON is written with quotes: port='"8080"'.`,
		example: "signalbox configs set checkout timeout_ms=800 -e production\nsignalbox configs set checkout retries=3",
		writes:  true, format: terminal.FormatYAML, environment: optionally, completes: []completion{configKind().ids, configKeys("=")},
		run: func(ctx context.Context, c *call) error {
			var notes []string
			written, err := editConfig(ctx, c, func(draft *signalbox.ConfigDraft) error {
				notes = nil
				known := slices.Sorted(maps.Keys(draft.Items))
				for _, pair := range c.args[1:] {
					key, set, err := keyAndValue(pair)
					if err != nil {
						return err
					}
					if _, exists := draft.Items[key]; !exists && c.environment == "" {
						notes = append(notes, newNear(key, known))
					}
					if c.environment != "" {
						draft.Environments[c.environment][key] = set
						continue
					}
					item := draft.Items[key]
					item.Value = set
					draft.Items[key] = item
				}
				return nil
			})
			c.noteAll(err, notes)
			return configKind().wrote(c, written, err, "The config %s has %s%s.", c.args[0], strings.Join(c.args[1:], " "), inEnvironment(c))
		},
	})
}

// newNear asks whether a new name is a misspelled known name; "" if no known name is similar.
func newNear(name string, known []string) string {
	if nearest := naming.Nearest(name, known); nearest != "" {
		return fmt.Sprintf("%s is new; did you mean %s?", name, nearest)
	}
	return ""
}

// noteAll prints notes about a write, unless it failed.
func (c *call) noteAll(err error, notes []string) {
	for _, note := range notes {
		if err == nil && note != "" {
			c.Note("%s", c.Paint(terminal.Warn, note))
		}
	}
}

// configKeys completes the keys of the config in the first argument, and appends after to each.
func configKeys(after string) completion {
	return func(ctx context.Context, client *signalbox.Client, given ...string) (keys []string) {
		if len(given) == 0 {
			return nil
		}
		config, _ := client.Configs.Get(ctx, given[0]) // without one there is nothing to complete
		for _, key := range slices.Sorted(maps.Keys(config.Items)) {
			keys = append(keys, key+after)
		}
		return keys
	}
}

// inEnvironment returns the end of a sentence about the command's environment, if there is one.
func inEnvironment(c *call) string {
	if c.environment == "" {
		return ""
	}
	return " in " + c.environment
}

func (s *shell) unsetConfig() *cobra.Command {
	return s.command(action{
		use: "unset ID KEY...", short: "Remove items of a config, or their values in one environment",
		example: "signalbox configs unset checkout timeout_ms -e production",
		writes:  true, format: terminal.FormatYAML, environment: optionally, completes: []completion{configKind().ids, configKeys("")},
		run: func(ctx context.Context, c *call) error {
			written, err := editConfig(ctx, c, func(draft *signalbox.ConfigDraft) error {
				for _, key := range c.args[1:] {
					_, exists := draft.Items[key]
					if c.environment != "" {
						_, exists = draft.Environments[c.environment][key]
					}
					if !exists {
						return terminal.Usagef("the config %s has no value %q%s", c.args[0], key, inEnvironment(c))
					}
					if c.environment != "" {
						delete(draft.Environments[c.environment], key)
					} else {
						delete(draft.Items, key)
					}
				}
				return nil
			})
			return configKind().wrote(c, written, err, "The config %s has no %s%s.", c.args[0], strings.Join(c.args[1:], " "), inEnvironment(c))
		},
	})
}

// resolvedItem is one value of a resolved config.
type resolvedItem struct {
	key    string
	value  json.RawMessage
	origin signalbox.ConfigOrigin
}

func (s *shell) resolveConfig() *cobra.Command {
	return s.command(action{
		use: "resolve ID", short: "Show the values that a service gets, and where they come from",
		example:     "signalbox configs resolve checkout -e production\nsignalbox configs resolve checkout -e production -o 'go-template={{.values.timeout_ms}}'",
		environment: optionally, format: terminal.FormatTable, completes: []completion{configKind().ids},
		run: func(ctx context.Context, c *call) error {
			resolved, err := c.client.Configs.Resolve(ctx, c.args[0], c.environment)
			if err != nil {
				return configKind().suggest(ctx, c, c.args[0], err)
			}
			if !c.format.IsText() {
				return c.PrintValue(c.format, resolved)
			}
			var list []resolvedItem
			for _, key := range slices.Sorted(maps.Keys(resolved.Values)) {
				list = append(list, resolvedItem{key, resolved.Values[key], resolved.Origins[key]})
			}
			return terminal.PrintAll(c.Terminal, c.format, terminal.Items[resolvedItem]{Columns: resolvedColumns()}, list)
		},
	})
}

func resolvedColumns() []terminal.Column[resolvedItem] {
	return []terminal.Column[resolvedItem]{
		{Title: "KEY", Text: func(i resolvedItem) string { return i.key }},
		{Title: "VALUE", Text: func(i resolvedItem) string { return string(i.value) }},
		{Title: "FROM", Text: func(i resolvedItem) string { return i.origin.Config }},
		{Title: "SOURCE", Text: func(i resolvedItem) string { return i.origin.Source }},
	}
}

func (s *shell) diffConfig() *cobra.Command {
	return s.command(action{
		use: "diff ID ENVIRONMENT ENVIRONMENT", short: "Compare the values of a config in two environments",
		long:      "Compare the values of a config in two environments. The exit code is 0 when they are the same and 10 when they differ.",
		example:   "signalbox configs diff checkout staging staging",
		completes: []completion{configKind().ids, environmentKind().ids},
		run: func(ctx context.Context, c *call) error {
			var sides [2]map[string]json.RawMessage
			for i, environment := range c.args[1:] {
				resolved, err := c.client.Configs.Resolve(ctx, c.args[0], environment)
				if err != nil {
					return configKind().suggest(ctx, c, c.args[0], err)
				}
				sides[i] = resolved.Values
			}
			if c.printSides(sides) {
				return terminal.Silent(terminal.ExitDiffers)
			}
			return nil
		},
	})
}

// printSides prints values that differ and reports whether there are any.
func (c *call) printSides(sides [2]map[string]json.RawMessage) (differ bool) {
	keys := map[string]json.RawMessage{}
	maps.Copy(keys, sides[0])
	maps.Copy(keys, sides[1])
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		left, right := string(sides[0][key]), string(sides[1][key])
		if left == right {
			continue
		}
		differ = true
		if left != "" {
			c.Say("%s\n", c.Paint(terminal.Bad, "- "+key+": "+left))
		}
		if right != "" {
			c.Say("%s\n", c.Paint(terminal.Good, "+ "+key+": "+right))
		}
	}
	return differ
}
