package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func flagKind() kind[signalbox.Flag] {
	in := func(c *signalbox.Client) service[signalbox.Flag, signalbox.FlagParams] { return c.Flags }
	return from(in, kind[signalbox.Flag]{
		name: "flag", noun: "flag",
		of: func(f signalbox.Flag) signalbox.Resource { return f.Resource },
		columns: []terminal.Column[signalbox.Flag]{
			{Title: "ID", Text: func(f signalbox.Flag) string { return f.ID }, Whole: true},
			{Title: "TYPE", Text: func(f signalbox.Flag) string { return string(f.Type) }},
			{Title: "DEFAULT", Text: func(f signalbox.Flag) string { return string(f.Default) }},
			{Title: "ENVIRONMENTS", Text: flagEnvironments},
			{Title: "NAME", Text: func(f signalbox.Flag) string { return f.Name }, Wide: true},
			{Title: "MANAGED", Text: func(f signalbox.Flag) string { return terminal.YesNo(f.Managed) }, Wide: true},
			{Title: "EVALUATED", Text: func(f signalbox.Flag) string { return moment(f.LastEvaluated) }, Wide: true},
			{Title: "UPDATED", Text: func(f signalbox.Flag) string { return moment(&f.UpdatedAt) }, Wide: true},
		},
	})
}

// flagEnvironments returns the state of a flag in its environments: "production: on, 2 rules".
func flagEnvironments(f signalbox.Flag) string {
	return eachEnvironment(f.Environments, flagEnvironment)
}

func flagEnvironment(e flageval.Environment) string {
	text := "off"
	if e.Enabled {
		text = "on"
	}
	if count := len(e.Rules); count > 0 {
		text += fmt.Sprintf(", %d %s", count, plural(count, "rule"))
	}
	if value := string(e.Default); value != "" && value != "null" {
		text += ", " + value
	}
	return text
}

func plural(count int, noun string) string {
	if count == 1 {
		return noun
	}
	if stem, is := strings.CutSuffix(noun, "ry"); is { // delivery
		return stem + "ries"
	}
	return noun + "s"
}

func (s *shell) flags() *cobra.Command {
	k := flagKind()
	return terminal.Group("flags", "Feature flags", s.listFlags(), k.show(s, "signalbox flags get checkout-v2"), s.createFlag(),
		s.editFlagText(), s.switchFlag("on", true), s.switchFlag("off", false), s.setFlag(), s.rules(), s.whyFlag(),
		k.delete(s, "signalbox flags delete checkout-v2 --yes", flagConsequences))
}

// flagConsequences describes what deleting a flag does to the services that use it.
func flagConsequences(ctx context.Context, c *call, f signalbox.Flag) (string, error) {
	sources, err := c.client.Flags.Sources(ctx, f.ID, signalbox.SourceParams{Paging: signalbox.Paging{Size: 1, Total: true}})
	if err != nil {
		return "", err
	}
	rules := 0
	for _, environment := range f.Environments {
		rules += len(environment.Rules)
	}
	declared := value(sources.Total)
	return fmt.Sprintf("The flag %s and its %d %s will be deleted; %d %s it in code and will get the default there.", f.ID,
		rules, plural(rules, "rule"), declared, plural(declared, "place")+" declare"), nil
}

// searchFlags are the filters that most lists have.
type searchFlags struct {
	search              string
	managed, discovered bool
}

func (f *searchFlags) add(cmd *cobra.Command) {
	f.addSearch(cmd)
	cmd.Flags().BoolVar(&f.managed, "managed", false, "list only managed ones, which people control")
	cmd.Flags().BoolVar(&f.discovered, "discovered", false, "list only unmanaged ones, which services have reported")
	cmd.MarkFlagsMutuallyExclusive("managed", "discovered")
}

func (f *searchFlags) addSearch(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.search, "search", "", "list only ids and names that contain this `TEXT`")
}

// isManaged returns the filter; nil lists both.
func (f *searchFlags) isManaged() *bool {
	if f.managed == f.discovered {
		return nil
	}
	return &f.managed
}

func (s *shell) listFlags() *cobra.Command {
	var filter searchFlags
	var kindOfValue string
	var stale bool
	return flagKind().list(s, action{
		use: "list", short: "List flags",
		example: "signalbox flags list\nsignalbox flags list --search checkout --managed -o wide\nsignalbox flags list --stale",
		flags: func(cmd *cobra.Command) {
			filter.add(cmd)
			terminal.AddChoice(cmd, &kindOfValue, "type", "", "list flags of one type", flagTypes()...)
			cmd.Flags().BoolVar(&stale, "stale", false, "list flags that are not used, or serve one value for long")
		},
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Flag, error] {
		params := signalbox.FlagParams{Search: filter.search, Managed: filter.isManaged(), Type: flageval.Type(kindOfValue)}
		if stale {
			params.Stale = &stale
		}
		return c.client.Flags.All(ctx, params)
	})
}

func flagTypes() []string {
	return []string{string(flageval.Boolean), string(flageval.String), string(flageval.Numeric), string(flageval.JSON)}
}

func (s *shell) createFlag() *cobra.Command {
	var name, description, kindOfValue, fallback string
	var values []string
	return s.command(action{
		use: "create ID", short: "Create a flag", writes: true, format: terminal.FormatYAML,
		example: "signalbox flags create new-search\n" +
			"signalbox flags create theme --type STRING --default light --value light --value dark",
		flags: func(cmd *cobra.Command) {
			terminal.AddChoice(cmd, &kindOfValue, "type", string(flageval.Boolean), "the type of the flag's values", flagTypes()...)
			cmd.Flags().StringVar(&fallback, "default", "", "the `VALUE` that the flag serves unless an environment sets another (default: false for BOOLEAN)")
			cmd.Flags().StringArrayVar(&values, "value", nil, "a `VALUE` that the flag may serve; repeat for each value, leave out to allow all")
			cmd.Flags().StringVar(&name, "name", "", "the `NAME` for people")
			cmd.Flags().StringVar(&description, "description", "", "what the flag decides, as `TEXT`")
		},
		run: func(ctx context.Context, c *call) error {
			draft := signalbox.FlagDraft{Name: name, Type: flageval.Type(kindOfValue)}
			if description != "" {
				draft.Description = &description
			}
			if fallback == "" && draft.Type == flageval.Boolean {
				fallback = "false"
			}
			var err error
			if draft.Default, err = flagValue(draft.Type, fallback); err != nil {
				return err
			}
			for _, text := range values {
				choice, err := flagValue(draft.Type, text)
				if err != nil {
					return err
				}
				draft.Values = append(draft.Values, signalbox.FlagChoice{Name: text, Value: choice})
			}
			created, err := c.client.Flags.Create(ctx, c.args[0], draft, c.options()...)
			return flagKind().wrote(c, created, err, "The flag %s is created; it serves %s.", c.args[0], draft.Default)
		},
	})
}

// flagValue returns a value as JSON: the text itself for a STRING flag, and JSON for all others.
func flagValue(kindOfValue flageval.Type, text string) (json.RawMessage, error) {
	if kindOfValue == flageval.String {
		return json.Marshal(text)
	}
	if !json.Valid([]byte(text)) {
		return nil, terminal.Usagef("%q is not a %s value, such as %s", text, kindOfValue,
			map[flageval.Type]string{flageval.Boolean: "true", flageval.Numeric: "1.5", flageval.JSON: `{"a": 1}`}[kindOfValue])
	}
	return json.RawMessage(text), nil
}

// servedValue returns a value that a flag is to serve, which must be one of its values when it has some.
func servedValue(f signalbox.Flag, text string) (json.RawMessage, error) {
	given, err := flagValue(f.Type, text)
	if err != nil || len(f.Values) == 0 {
		return given, err
	}
	var texts []string
	for _, choice := range f.Values {
		if sameJSON(choice.Value, given) {
			return given, nil
		}
		texts = append(texts, valueWord(f.Type, choice.Value))
	}
	return nil, terminal.Usagef("%q is not a value of %s; they are %s", text, f.ID, strings.Join(texts, ", "))
}

func sameJSON(a, b json.RawMessage) bool {
	var left, right any
	return json.Unmarshal(a, &left) == nil && json.Unmarshal(b, &right) == nil && reflect.DeepEqual(left, right)
}

// valueWord returns a value as people type it: a text without quotes.
func valueWord(of flageval.Type, value json.RawMessage) string {
	text := string(value)
	if of == flageval.String {
		_ = json.Unmarshal(value, &text) // it stays JSON
	}
	return text
}

// flagValues completes the values that the flag in the first argument may serve.
func flagValues(ctx context.Context, client *signalbox.Client, given ...string) (values []string) {
	if len(given) == 0 {
		return nil
	}
	flag, err := client.Flags.Get(ctx, given[0])
	if err != nil {
		return nil
	}
	for _, choice := range flag.Values {
		values = append(values, valueWord(flag.Type, choice.Value))
	}
	return values
}

// editFlag changes a flag. A discovered flag becomes managed.
func editFlag(ctx context.Context, c *call, change func(signalbox.Flag, *signalbox.FlagDraft) error) (signalbox.Flag, error) {
	return edited(ctx, c, flagKind(), c.args[0], signalbox.Flag.Draft, func(f signalbox.Flag, draft *signalbox.FlagDraft) error {
		draft.Managed, draft.Environments = new(true), maps.Clone(f.Environments)
		return change(f, draft)
	}, c.client.Flags.Replace)
}

// editEnvironment changes a flag's configuration for the environment of the command.
func editEnvironment(ctx context.Context, c *call, change func(signalbox.Flag, *flageval.Environment) error) (signalbox.Flag, error) {
	return editFlag(ctx, c, func(f signalbox.Flag, draft *signalbox.FlagDraft) error {
		environment, exists := f.Environments[c.environment]
		if !exists {
			environment = flageval.Environment{Enabled: true}
		}
		environment.Rules = slices.Clone(environment.Rules)
		if err := change(f, &environment); err != nil {
			return err
		}
		if draft.Environments == nil {
			draft.Environments = map[string]flageval.Environment{}
		}
		if environment.Rules == nil {
			environment.Rules = []flageval.Rule{}
		}
		draft.Environments[c.environment] = environment
		return nil
	})
}

func (s *shell) editFlagText() *cobra.Command {
	var name, description string
	return s.command(action{
		use: "edit ID", short: "Change the name or the description of a flag",
		example: "signalbox flags edit checkout-v2 --name 'Checkout, version 2' --description 'The new checkout'",
		writes:  true, format: terminal.FormatYAML, completes: []completion{flagKind().ids},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&name, "name", "", "the `NAME` for people")
			cmd.Flags().StringVar(&description, "description", "", "what it decides, as `TEXT`; empty for none")
			cmd.MarkFlagsOneRequired("name", "description")
		},
		run: func(ctx context.Context, c *call) error {
			written, err := editFlag(ctx, c, func(_ signalbox.Flag, draft *signalbox.FlagDraft) error {
				if c.changed("name") {
					draft.Name = name
				}
				if c.changed("description") {
					draft.Description = &description
				}
				if value(draft.Description) == "" {
					draft.Description = nil
				}
				return nil
			})
			return flagKind().wrote(c, written, err, "The flag %s is changed.", c.args[0])
		},
	})
}

func (s *shell) switchFlag(use string, on bool) *cobra.Command {
	short := "Let flags follow their rules in an environment"
	if !on {
		short = "Let flags serve their default in an environment, without their rules"
	}
	return s.command(action{
		use: use + " ID...", short: short, example: "signalbox flags " + use + " checkout-v2 -e production",
		writes: true, each: true, format: terminal.FormatYAML, environment: required, completes: []completion{flagKind().ids},
		run: func(ctx context.Context, c *call) error {
			written, err := editEnvironment(ctx, c, func(_ signalbox.Flag, environment *flageval.Environment) error {
				environment.Enabled = on
				return nil
			})
			return flagKind().wrote(c, written, err, "The flag %s is %s in %s.", c.args[0], use, c.environment)
		},
	})
}

func (s *shell) setFlag() *cobra.Command {
	return s.command(action{
		use: "set ID VALUE", short: "Change the default value of a flag, everywhere or in one environment",
		example: "signalbox flags set checkout-v2 true -e staging\nsignalbox flags set checkout-v2 false",
		writes:  true, format: terminal.FormatYAML, environment: optionally, completes: []completion{flagKind().ids, flagValues},
		run: func(ctx context.Context, c *call) (err error) {
			var written signalbox.Flag
			where := "except in environments with another default"
			if c.environment == "" {
				written, err = editFlag(ctx, c, func(f signalbox.Flag, draft *signalbox.FlagDraft) (err error) {
					draft.Default, err = servedValue(f, c.args[1])
					return err
				})
			} else {
				where = "in " + c.environment
				written, err = editEnvironment(ctx, c, func(f signalbox.Flag, environment *flageval.Environment) (err error) {
					environment.Default, err = servedValue(f, c.args[1])
					return err
				})
			}
			return flagKind().wrote(c, written, err, "The flag %s serves %s by default, %s.", c.args[0], c.args[1], where)
		},
	})
}
