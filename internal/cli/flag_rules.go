package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func (s *shell) addRule() *cobra.Command {
	var when, serve, description string
	var at int
	return s.command(action{
		use: "add ID", short: "Add a rule to a flag in an environment",
		long: "Add a rule to a flag in an environment: a context for which its JSON Logic is true gets its value. Rules are tried in order.",
		example: `signalbox flags rule add checkout-v2 -e production --when '{"==": [{"var": "user.plan"}, "free"]}' --serve false` + "\n" +
			`signalbox flags rule add checkout-v2 -e production --when '{"in": [{"var": "user.key"}, ["ada", "bob"]]}' --serve true --at 1`,
		writes: true, format: terminal.FormatYAML, environment: required, completes: []completion{flagKind().ids},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&when, "when", "", "the condition, as JSON `LOGIC`")
			cmd.Flags().StringVar(&serve, "serve", "", "the `VALUE` to serve")
			cmd.Flags().StringVar(&description, "description", "", "what the rule is for, as `TEXT`")
			cmd.Flags().IntVar(&at, "at", 0, "the `NUMBER` of the new rule, 1 is the first (default: the last)")
			_ = cmd.MarkFlagRequired("when")
			_ = cmd.MarkFlagRequired("serve")
		},
		run: func(ctx context.Context, c *call) error {
			if !json.Valid([]byte(when)) {
				return terminal.Usagef(`--when %q is not JSON, such as {"==": [{"var": "user.plan"}, "pro"]}`, when)
			}
			var number int
			written, err := editEnvironment(ctx, c, func(f signalbox.Flag, environment *flageval.Environment) error {
				served, err := flagValue(f.Type, serve)
				if err != nil {
					return err
				}
				if number = at; at == 0 {
					number = len(environment.Rules) + 1
				}
				if number < 1 || number > len(environment.Rules)+1 {
					return terminal.Usagef("--at must be 1 to %d", len(environment.Rules)+1)
				}
				rule := flageval.Rule{Description: description, Logic: json.RawMessage(when), Value: served}
				environment.Rules = slices.Insert(environment.Rules, number-1, rule)
				return nil
			})
			return flagKind().wrote(c, written, err, "The flag %s has rule %d in %s.", c.args[0], number, c.environment)
		},
	})
}

func (s *shell) removeRule() *cobra.Command {
	return s.command(action{
		use: "rm ID NUMBER", short: "Remove a rule of a flag in an environment; 1 is the first",
		example: "signalbox flags rule rm checkout-v2 1 -e production",
		writes:  true, format: terminal.FormatYAML, environment: required, completes: []completion{flagKind().ids},
		run: func(ctx context.Context, c *call) error {
			number, err := strconv.Atoi(c.args[1])
			if err != nil {
				return terminal.Usagef("%q is not the number of a rule", c.args[1])
			}
			written, err := editEnvironment(ctx, c, func(_ signalbox.Flag, environment *flageval.Environment) error {
				if number < 1 || number > len(environment.Rules) {
					return terminal.Usagef("the flag has %d %s in %s, and no rule %d", len(environment.Rules), plural(len(environment.Rules), "rule"), c.environment, number)
				}
				environment.Rules = slices.Delete(environment.Rules, number-1, number)
				return nil
			})
			return flagKind().wrote(c, written, err, "Rule %d of the flag %s in %s is removed.", number, c.args[0], c.environment)
		},
	})
}

func (s *shell) whyFlag() *cobra.Command {
	var text string
	return s.command(action{
		use: "why ID [ATTRIBUTE=VALUE...]", short: "Show the value that a context gets in an environment, and why",
		long: `Show the value that a context gets in an environment, and why. Attributes have the same names as in rules: user.plan=pro is the
		attribute plan of the user. Values that are JSON are read as JSON. A whole context can be given with --context.`,
		example:     "signalbox flags why checkout-v2 -e production user.key=ada user.plan=pro",
		environment: required, format: terminal.FormatTable, completes: []completion{flagKind().ids, words()},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&text, "context", "{}", `a context as `+"`JSON`"+`, such as {"user": {"key": "ada"}}`)
		},
		run: func(ctx context.Context, c *call) error {
			evaluated, err := contextOf(text, c.args[1:])
			if err != nil {
				return err
			}
			got, err := c.client.Flags.Evaluate(ctx, c.args[0], c.environment, evaluated)
			if err != nil {
				return flagKind().suggest(ctx, c, c.args[0], err)
			}
			if !c.format.IsText() {
				return c.PrintValue(c.format, got)
			}
			c.explain(got)
			return nil
		},
	})
}

// contextOf returns the context in a JSON text, with further attributes such as user.plan=pro.
func contextOf(text string, attributes []string) (map[string]any, error) {
	var context map[string]any
	if err := json.Unmarshal([]byte(text), &context); err != nil || context == nil {
		return nil, terminal.Usagef(`--context must be a JSON object such as {"user": {"key": "ada"}}`)
	}
	for _, attribute := range attributes {
		name, text, found := strings.Cut(attribute, "=")
		kind, member, dotted := strings.Cut(name, ".")
		if !found || !dotted || kind == "" || member == "" {
			return nil, terminal.Usagef("%q is not an attribute such as user.plan=pro", attribute)
		}
		var given any = text
		if json.Valid([]byte(text)) {
			given = json.RawMessage(text)
		}
		members, is := context[kind].(map[string]any)
		if !is {
			members = map[string]any{}
			context[kind] = members
		}
		members[member] = given
	}
	return context, nil
}

// explain prints a value and the rules that led to it.
func (c *call) explain(got signalbox.FlagEvaluation) {
	c.Say("%s  (%s)\n", c.Paint(terminal.Bold, string(got.Value)), got.Reason)
	if !got.Explanation.Configured {
		c.Say("The flag has no configuration for %s.\n", got.Environment)
	}
	for _, rule := range got.Explanation.Rules {
		outcome, colour := "was not reached", terminal.Faint
		switch {
		case rule.Problem != "":
			outcome, colour = "can never match: "+rule.Problem, terminal.Bad
		case rule.Matched:
			outcome, colour = "matches", terminal.Good
		case rule.Evaluated:
			outcome, colour = "does not match", terminal.Plain
		}
		c.Say("rule %d %s  %s\n", rule.Index+1, c.Paint(colour, outcome), rule.Description)
		if rule.Logic != nil {
			c.explainNode(rule.Logic, 1)
		}
	}
}

// explainNode prints a node of a rule's tree with its result, and the nodes below it.
func (c *call) explainNode(node *jsonlogic.Explanation, depth int) {
	if node.Operator != "" {
		result := "not evaluated"
		if node.Evaluated {
			text, err := json.Marshal(node.Result)
			result = string(text)
			if err != nil {
				result = fmt.Sprint(node.Result)
			}
		}
		c.Say("%s%s → %s\n", strings.Repeat("  ", depth), node.Operator, result)
	}
	for _, below := range node.Arguments {
		c.explainNode(below, depth+1)
	}
}
