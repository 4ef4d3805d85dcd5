package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/condition"
	"github.com/signalbox/signalbox/internal/rawjson"
)

func (s *shell) rules() *cobra.Command {
	return terminal.Group("rule", "The rules of a flag in an environment", s.listRules(), s.addRule(), s.replaceRule(), s.moveRule(), s.setPercentage(), s.removeRule())
}

// ruleFlags are the flags of commands that write a rule.
type ruleFlags struct {
	when, serve, description, by string
	percent                      float64
}

func (f *ruleFlags) add(s *shell, cmd *cobra.Command) {
	s.addCompleted(cmd, &f.when, "when", "the `CONDITION`: 'user.plan in pro,team', parts joined by 'and', or JSON Logic", attributeNames)
	s.addCompleted(cmd, &f.serve, "serve", "the `VALUE` to serve", flagValues)
	cmd.Flags().Float64Var(&f.percent, "percent", 100, "serve the value to this `PERCENTAGE` of the matching contexts, always the same ones")
	cmd.Flags().StringVar(&f.by, "by", "user.key", "the `ATTRIBUTE` that --percent divides by")
	cmd.Flags().StringVar(&f.description, "description", "", "what the rule is for, as `TEXT`")
	_ = cmd.RegisterFlagCompletionFunc("by", s.completeFlag(attributeNames))
}

// attributeNames completes the attributes that services reported, such as user.plan.
func attributeNames(ctx context.Context, client *signalbox.Client, _ ...string) (names []string) {
	for contextType, err := range client.ContextTypes.All(ctx, signalbox.ContextTypeParams{}) {
		if err != nil {
			break
		}
		names = append(names, contextType.ID+".key")
		for attribute := range contextType.Attributes {
			names = append(names, contextType.ID+"."+attribute)
		}
	}
	slices.Sort(names)
	return names
}

// logic returns the condition from --when and --percent; nil if neither is given.
func (f *ruleFlags) logic(c *call) (json.RawMessage, error) {
	var parts []any
	if c.changed("when") {
		part, err := condition.Parse(f.when)
		if err != nil {
			return nil, terminal.Usagef("--when: %v", err)
		}
		parts = append(parts, part)
	}
	if c.changed("percent") {
		share, err := condition.Share(c.args[0]+".", f.by, f.percent)
		if err != nil {
			return nil, terminal.Usage(err)
		}
		parts = append(parts, share)
	}
	if parts == nil {
		return nil, nil
	}
	return rawjson.Encode(condition.And(parts...))
}

// change sets the members of a rule for which there are command-line flags.
func (f *ruleFlags) change(c *call, of signalbox.Flag, rule *flageval.Rule) (err error) {
	logic, err := f.logic(c)
	if err != nil {
		return err
	}
	if logic != nil {
		rule.Logic = logic
	}
	if c.changed("description") {
		rule.Description = f.description
	}
	if c.changed("serve") {
		rule.Value, err = servedValue(of, f.serve)
	}
	return err
}

func (s *shell) addRule() *cobra.Command {
	var flags ruleFlags
	var at int
	return s.command(action{
		use: "add ID", short: "Add a rule to a flag in an environment",
		long: `Add a rule to a flag in an environment: contexts that match its condition get its value. Rules are tried in order.

A condition compares an attribute with a value, and several are joined by "and":

    user.plan == pro            user.age >= 18              user.plan in pro,team       user.plan not in free
    user.name contains smith    user.key starts with test-  user.email ends with @example.com
    user.beta                   not user.beta

Operators are ==, !=, <, <=, > and >= as well. Values are numbers, true, false, or text. Text needs quotes if it has more than
letters, digits and _.@:/+-. There is no "or": add a second rule. Everything else is JSON Logic. With --percent only that percentage of the matching contexts gets the value; raising it only adds contexts.`,
		example: "signalbox flags rule add checkout-v2 -e production --when 'user.plan in pro,team' --serve true --percent 25\n" +
			"signalbox flags rule add checkout-v2 -e production --when 'user.key in ada,bob' --serve true --at 1\n" +
			`signalbox flags rule add checkout-v2 -e production --when '{"==": [{"var": "user.plan"}, "free"]}' --serve false`,
		writes: true, format: terminal.FormatYAML, environment: required, completes: []completion{flagKind().ids},
		flags: func(cmd *cobra.Command) {
			flags.add(s, cmd)
			cmd.Flags().IntVar(&at, "at", 0, "the `NUMBER` of the new rule, 1 is the first (default: the last)")
			cmd.MarkFlagsOneRequired("when", "percent")
			_ = cmd.MarkFlagRequired("serve")
		},
		run: func(ctx context.Context, c *call) error {
			var number int
			written, err := editEnvironment(ctx, c, func(f signalbox.Flag, environment *flageval.Environment) error {
				var rule flageval.Rule
				if err := flags.change(c, f, &rule); err != nil {
					return err
				}
				if number = at; at == 0 {
					number = len(environment.Rules) + 1
				}
				if number < 1 || number > len(environment.Rules)+1 {
					return terminal.Usagef("--at must be 1 to %d", len(environment.Rules)+1)
				}
				environment.Rules = slices.Insert(environment.Rules, number-1, rule)
				return nil
			})
			return flagKind().wrote(c, written, err, "The flag %s has rule %d in %s.", c.args[0], number, c.environment)
		},
	})
}

func (s *shell) listRules() *cobra.Command {
	return s.command(action{
		use: "list ID", short: "List the rules of a flag in an environment, in the order in which they are tried",
		example: "signalbox flags rule list checkout-v2 -e production", format: terminal.FormatTable, environment: required,
		completes: []completion{flagKind().ids},
		run: func(ctx context.Context, c *call) error {
			flag, err := flagKind().find(ctx, c, c.args[0])
			if err != nil {
				return err
			}
			environment := flag.Environments[c.environment]
			if !c.format.IsText() {
				return c.PrintValue(c.format, append([]flageval.Rule{}, environment.Rules...))
			}
			c.printRules(environment.Rules)
			c.Say("  otherwise → %s\n", fallback(flag, environment))
			if len(environment.Rules) > 0 && !environment.Enabled {
				c.Note("no rule is tried: the flag is off in %s; signalbox flags on %s -e %s", c.environment, flag.ID, c.environment)
			}
			return nil
		},
	})
}

// printRules prints rules with their numbers and conditions.
func (c *call) printRules(rules []flageval.Rule) {
	for i, rule := range rules {
		text := string(rule.Logic)
		if logic, err := condition.Decode(rule.Logic); err == nil {
			text = condition.Text(logic)
		}
		line := terminal.Sprintf("  %d. %s → %s", i+1, text, rule.Value)
		if rule.Description != "" {
			line += "  " + c.Paint(terminal.Faint, rule.Description)
		}
		c.Say("%s\n", line)
	}
}

// editRule changes the rules of the command's flag and environment at the number in the second argument.
func editRule(ctx context.Context, c *call, change func(of signalbox.Flag, rules []flageval.Rule, at int) ([]flageval.Rule, error)) (signalbox.Flag, error) {
	number, err := strconv.Atoi(c.args[1])
	if err != nil {
		return signalbox.Flag{}, terminal.Usagef("%q is not the number of a rule; signalbox flags rule list shows them", c.args[1])
	}
	return editEnvironment(ctx, c, func(f signalbox.Flag, environment *flageval.Environment) (err error) {
		if number < 1 || number > len(environment.Rules) {
			return terminal.Usagef("the flag has %d %s in %s, and no rule %d", len(environment.Rules), plural(len(environment.Rules), "rule"), c.environment, number)
		}
		environment.Rules, err = change(f, environment.Rules, number-1)
		return err
	})
}

// ruleNumbers completes the numbers of the rules that the flag in the first argument has anywhere.
func ruleNumbers(ctx context.Context, client *signalbox.Client, given ...string) (numbers []string) {
	if len(given) == 0 {
		return nil
	}
	flag, _ := client.Flags.Get(ctx, given[0]) // without one there is nothing to complete
	most := 0
	for _, environment := range flag.Environments {
		most = max(most, len(environment.Rules))
	}
	for i := range most {
		numbers = append(numbers, strconv.Itoa(i+1))
	}
	return numbers
}

func (s *shell) replaceRule() *cobra.Command {
	var flags ruleFlags
	return s.command(action{
		use: "replace ID NUMBER", short: "Change the condition, the value or the description of a rule",
		example: "signalbox flags rule replace checkout-v2 1 -e production --when 'user.plan == team'\n" +
			"signalbox flags rule replace checkout-v2 1 -e production --serve false",
		writes: true, format: terminal.FormatYAML, environment: required, completes: []completion{flagKind().ids, ruleNumbers},
		flags: func(cmd *cobra.Command) {
			flags.add(s, cmd)
			cmd.MarkFlagsOneRequired("when", "serve", "percent", "description")
		},
		run: func(ctx context.Context, c *call) error {
			written, err := editRule(ctx, c, func(of signalbox.Flag, rules []flageval.Rule, at int) ([]flageval.Rule, error) {
				return rules, flags.change(c, of, &rules[at])
			})
			return flagKind().wrote(c, written, err, "Rule %s of the flag %s in %s is changed.", c.args[1], c.args[0], c.environment)
		},
	})
}

func (s *shell) moveRule() *cobra.Command {
	return s.command(action{
		use: "move ID NUMBER TO", short: "Move a rule to another place in the order; 1 is tried first",
		example: "signalbox flags rule move checkout-v2 1 1 -e production",
		writes:  true, format: terminal.FormatYAML, environment: required, completes: []completion{flagKind().ids, ruleNumbers},
		run: func(ctx context.Context, c *call) error {
			written, err := editRule(ctx, c, func(_ signalbox.Flag, rules []flageval.Rule, at int) ([]flageval.Rule, error) {
				to, err := strconv.Atoi(c.args[2])
				if err != nil || to < 1 || to > len(rules) {
					return nil, terminal.Usagef("a rule can be moved to 1 to %d, not to %q", len(rules), c.args[2])
				}
				moved := rules[at]
				return slices.Insert(slices.Delete(rules, at, at+1), to-1, moved), nil
			})
			return flagKind().wrote(c, written, err, "Rule %s of the flag %s in %s is rule %s now.", c.args[1], c.args[0], c.environment, c.args[2])
		},
	})
}

func (s *shell) setPercentage() *cobra.Command {
	var by string
	return s.command(action{
		use: "set-percentage ID NUMBER PERCENT", short: "Change the percentage of a rule",
		long: "Change the percentage of a rule. Contexts that got the value at a lower percentage keep it. A rule without a\n" +
			"percentage gets one.",
		example: "signalbox flags rule set-percentage checkout-v2 1 50 -e production",
		writes:  true, format: terminal.FormatYAML, environment: required,
		completes: []completion{flagKind().ids, ruleNumbers, words("0", "1", "5", "10", "25", "50", "75", "100")},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&by, "by", "user.key", "the `ATTRIBUTE` that divides, for a rule that has no percentage yet")
			_ = cmd.RegisterFlagCompletionFunc("by", s.completeFlag(attributeNames))
		},
		run: func(ctx context.Context, c *call) error {
			percent, err := strconv.ParseFloat(strings.TrimSuffix(c.args[2], "%"), 64)
			if err != nil {
				return terminal.Usagef("%q is not a percentage such as 25", c.args[2])
			}
			share, err := condition.Share(c.args[0]+".", by, percent)
			if err != nil {
				return terminal.Usage(err)
			}
			written, err := editRule(ctx, c, func(_ signalbox.Flag, rules []flageval.Rule, at int) ([]flageval.Rule, error) {
				logic, err := condition.Decode(rules[at].Logic)
				if err != nil {
					return nil, err
				}
				changed, had := condition.SetPercent(logic, percent)
				if !had {
					changed = condition.And(logic, share)
				}
				rules[at].Logic, err = rawjson.Encode(changed)
				return rules, err
			})
			return flagKind().wrote(c, written, err, "Rule %s of the flag %s in %s is for %v %% now.", c.args[1], c.args[0], c.environment, percent)
		},
	})
}

func (s *shell) removeRule() *cobra.Command {
	return s.command(action{
		use: "rm ID NUMBER", short: "Remove a rule of a flag in an environment; 1 is the first",
		example: "signalbox flags rule rm checkout-v2 1 -e production",
		writes:  true, format: terminal.FormatYAML, environment: required, completes: []completion{flagKind().ids, ruleNumbers},
		run: func(ctx context.Context, c *call) error {
			written, err := editRule(ctx, c, func(_ signalbox.Flag, rules []flageval.Rule, at int) ([]flageval.Rule, error) {
				return slices.Delete(rules, at, at+1), nil
			})
			return flagKind().wrote(c, written, err, "Rule %s of the flag %s in %s is removed.", c.args[1], c.args[0], c.environment)
		},
	})
}
