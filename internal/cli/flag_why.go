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
	"github.com/signalbox/signalbox/internal/condition"
)

func (s *shell) whyFlag() *cobra.Command {
	var text string
	return s.command(action{
		use: "why ID [ATTRIBUTE=VALUE...]", short: "Show what a context gets in an environment, and why",
		long: `Show what a context gets in an environment, and why. Attributes are addressed as rules address them: user.plan=pro is the
attribute plan of the user. Values that are JSON are read as JSON. A whole context can be given with --context.`,
		example:     "signalbox flags why checkout-v2 -e production user.key=ada user.plan=pro",
		environment: required, format: terminal.FormatTable, completes: []completion{flagKind().ids, whyAttributes},
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
			flag, err := c.client.Flags.Get(ctx, c.args[0])
			if err != nil {
				return err
			}
			c.explain(got, flag.Environments[c.environment].Rules)
			return nil
		},
	})
}

// contextOf returns a context from JSON and from attributes such as user.plan=pro.
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

// whyAttributes completes the attributes that are read by the rules of the flag in the first argument.
func whyAttributes(ctx context.Context, client *signalbox.Client, given ...string) (attributes []string) {
	if len(given) == 0 {
		return nil
	}
	flag, _ := client.Flags.Get(ctx, given[0]) // without one there is nothing to complete
	for _, environment := range flag.Environments {
		for _, rule := range environment.Rules {
			logic, _ := condition.Decode(rule.Logic)
			for _, name := range condition.Variables(logic) {
				attributes = append(attributes, name+"=")
			}
		}
	}
	slices.Sort(attributes)
	return slices.Compact(attributes)
}

// explain prints a value and the reason for it.
func (c *call) explain(got signalbox.FlagEvaluation, rules []flageval.Rule) {
	c.Say("%s  (%s)\n", c.Paint(terminal.Bold, string(got.Value)), got.Reason)
	switch {
	case !got.Explanation.Configured:
		c.Say("The flag has no configuration for %s.\n", got.Environment)
	case !got.Explanation.Enabled:
		c.Say("The flag is off in %s, so no rule is tried.\n", got.Environment)
	}
	for _, rule := range got.Explanation.Rules {
		outcome, color := "was not reached", terminal.Faint
		switch {
		case rule.Problem != "":
			outcome, color = "can never match: "+rule.Problem, terminal.Bad
		case rule.Matched:
			outcome, color = "matches", terminal.Good
		case rule.Evaluated:
			outcome, color = "does not match", terminal.Plain
		}
		c.Say("%s\n", strings.TrimRight(fmt.Sprintf("rule %d %s  %s", rule.Index+1, c.Paint(color, outcome), terminal.Sprintf("%s", rule.Description)), " "))
		if rule.Logic != nil && rule.Index < len(rules) {
			logic, _ := condition.Decode(rules[rule.Index].Logic)
			c.explainNode(rule.Logic, logic, 1)
		}
	}
}

// explainNode prints a node of a rule with its result, and the nodes below it. Literals are in the line of their node.
func (c *call) explainNode(node *jsonlogic.Explanation, logic condition.Logic, depth int) {
	if node.Operator != "" {
		result := "not evaluated"
		if node.Evaluated {
			text, err := json.Marshal(node.Result)
			result = string(text)
			if err != nil {
				result = fmt.Sprint(node.Result)
			}
			if node.Operator == "var" && result == "null" {
				result = "not given"
			}
		}
		shown := node.Operator
		if at, found := lookUp(logic, node.Pointer); found {
			shown = condition.Text(at)
		}
		c.Say("%s%s → %s\n", terminal.Shown(strings.Repeat("  ", depth)), shown, result)
	}
	if node.Operator != "" && !node.Evaluated {
		return
	}
	for _, below := range node.Arguments {
		if node.Operator == "fractional" && below.Operator == "cat" { // the seed says nothing to people
			below = &jsonlogic.Explanation{Arguments: below.Arguments}
			c.explainNode(below, logic, depth)
			continue
		}
		c.explainNode(below, logic, depth+1)
	}
}

// lookUp returns the value at a JSON pointer.
func lookUp(value any, pointer string) (any, bool) {
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch in := value.(type) {
		case map[string]any:
			value = in[part]
		case []any:
			index, err := strconv.Atoi(part)
			if err != nil || index < 0 || index >= len(in) {
				return nil, false
			}
			value = in[index]
		default:
			return nil, false
		}
	}
	return value, value != nil
}
