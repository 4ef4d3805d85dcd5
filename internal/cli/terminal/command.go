package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signalbox/signalbox/internal/naming"
)

// Group returns a command that only has subcommands.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return UnknownCommand(cmd, args)
		}
		return Usagef("%s needs a command; see %s --help", cmd.CommandPath(), cmd.CommandPath())
	}}
	cmd.AddCommand(commands...)
	return cmd
}

// UnknownCommand reports an unknown command; without arguments it shows the help.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var known []string
	for _, each := range cmd.Commands() {
		if each.IsAvailableCommand() {
			known = append(known, each.Name())
		}
	}
	suggested := hint(cmd, "", args[0], known)
	if below := findBelow(cmd, args[0]); below != nil {
		suggested = "did you mean " + below.CommandPath() + "?"
	}
	return Usagef("there is no command %q; %s", cmd.CommandPath()+" "+args[0], suggested)
}

// findBelow returns the only command with this name in a group of cmd, or nil.
func findBelow(cmd *cobra.Command, name string) (found *cobra.Command) {
	for _, group := range cmd.Commands() {
		for _, each := range group.Commands() {
			if each.Name() != name || !each.IsAvailableCommand() {
				continue
			}
			if found != nil {
				return nil
			}
			found = each
		}
	}
	return found
}

// UnknownFlag returns an error about the flags of a command. For an unknown flag it names the nearest known flag.
func UnknownFlag(cmd *cobra.Command, err error) error {
	if short, unknown := errors.AsType[*pflag.NotExistError](err); unknown && short.GetSpecifiedShortnames() != "" {
		return Usagef("unknown flag: -%s; see %s --help", short.GetSpecifiedName(), cmd.CommandPath())
	}
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return Usage(err)
	}
	var known []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { known = append(known, flag.Name) })
	return Usagef("unknown flag: --%s; %s", name, hint(cmd, "--", name, known))
}

// FlagRules turns cobra's errors about required and conflicting flags into usage errors in our own words. It returns other
// errors unchanged.
func FlagRules(err error) error {
	if err == nil {
		return nil
	}
	for pattern, sentence := range map[string]string{
		`^required flag\(s\) (.+) not set$`:                              "this needs %s",
		`^at least one of the flags in the group \[(.+)\] is required$`:  "this needs %s",
		`^if any flags in the group \[(.+)\] are set none of the others`: "these cannot be used together: %s",
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(err.Error())
		if found == nil {
			continue
		}
		names := strings.Fields(strings.NewReplacer(`"`, "", ",", "").Replace(found[1]))
		for i := range names {
			names[i] = "--" + names[i]
		}
		listed := strings.Join(names, " and ")
		if strings.HasPrefix(err.Error(), "at least") {
			listed = oneOf(names)
		}
		return Usagef(sentence, listed)
	}
	return err
}

// hint suggests the nearest known name, or the help if no name is near.
func hint(cmd *cobra.Command, prefix, name string, known []string) string {
	if nearest := naming.Nearest(name, known); nearest != "" {
		return "did you mean " + prefix + nearest + "?"
	}
	return "see " + cmd.CommandPath() + " --help"
}

// Arguments accepts the arguments that a command's Use names: "create NAME", "create [NAME]", or "add GROUP LOGGER...".
func Arguments(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	required := len(names) - strings.Count(cmd.Use, "[")
	endless := strings.Contains(cmd.Use, "...")
	if len(args) >= required && (endless || len(args) <= len(names)) {
		return nil
	}
	expected := cmp.Or(strings.Join(names, " "), "no arguments")
	return Usagef("%s takes %s; see %s --help", cmd.CommandPath(), expected, cmd.CommandPath())
}

// Choice is the value of a flag that takes one of several words, in upper or lower case. The shell can complete them.
type Choice struct {
	words []string
	value *string
}

// AddChoice adds a flag that takes one of several words.
func AddChoice(cmd *cobra.Command, value *string, name, fallback, usage string, words ...string) {
	*value = fallback
	cmd.Flags().Var(&Choice{words, value}, name, usage+": "+oneOf(words))
	complete := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc(name, complete) // it only fails for flags that do not exist
}

// String returns the chosen word.
func (c *Choice) String() string { return *c.value }

// Type returns the placeholder in help texts.
func (c *Choice) Type() string { return "WORD" }

// Set chooses a word.
func (c *Choice) Set(text string) error {
	for _, word := range c.words {
		if strings.EqualFold(text, word) {
			*c.value = word
			return nil
		}
	}
	return Usagef("it must be %s", oneOf(c.words))
}

// Count is the value of a flag that takes a whole number within limits.
type Count struct {
	value       *int
	least, most int
}

// AddCount adds a flag that takes a number of at least least, and at most most.
func AddCount(cmd *cobra.Command, value *int, name string, fallback, least, most int, usage string) {
	*value = fallback
	cmd.Flags().Var(&Count{value, least, most}, name, usage)
}

// String returns the number.
func (c *Count) String() string {
	if c.value == nil {
		return "0"
	}
	return strconv.Itoa(*c.value)
}

// Type returns the placeholder in help texts.
func (c *Count) Type() string { return "int" }

// Set reads a number.
func (c *Count) Set(text string) error {
	number, err := strconv.Atoi(text)
	switch {
	case c.most == math.MaxInt && (err != nil || number < c.least):
		return fmt.Errorf("it must be a number of at least %d", c.least)
	case err != nil || number < c.least || number > c.most:
		return fmt.Errorf("it must be a number from %d to %d", c.least, c.most)
	}
	*c.value = number
	return nil
}

// oneOf joins words for a sentence: "a, b or c".
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
