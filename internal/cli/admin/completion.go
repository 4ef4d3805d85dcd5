package admin

import (
	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/plans"
)

// completed adds completions to the flags of a command, and of all commands below it, that take one of a few words.
func completed(cmd *cobra.Command) *cobra.Command {
	for flag, words := range flagWords() {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for _, below := range cmd.Commands() {
		completed(below)
	}
	return cmd
}

func flagWords() map[string][]string {
	planNames := plans.BuiltIn().Names()
	return map[string][]string{
		"role": roleWords(), "access": {string(accounts.FullAccess), string(accounts.EvaluateAccess), string(accounts.LevelsAccess)},
		"plan": planNames, "bootstrap-plan": planNames,
		"log-level": {"debug", "info", "warn", "error"}, "log-format": {"auto", "text", "json"},
	}
}

func roleWords() []string {
	var words []string
	for _, role := range accounts.Roles() {
		words = append(words, string(role))
	}
	return words
}

// completeSecond completes the second argument of a command.
func completeSecond(cmd *cobra.Command, words []string) *cobra.Command {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return words, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}
