package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/naming"
)

// completion returns the possible values of an argument or flag. given are the arguments before it.
type completion func(ctx context.Context, client *signalbox.Client, given ...string) []string

// completionPatience is how long a completion may take after Tab was pressed.
const completionPatience = 2 * time.Second

// words completes fixed words.
func words(fixed ...string) completion {
	return func(context.Context, *signalbox.Client, ...string) []string { return fixed }
}

// completeArguments completes the arguments of a command; the last completion is for all further arguments.
func (s *shell) completeArguments(each []completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(each) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.complete(cmd, each[min(len(args), len(each)-1)], args)
	}
}

// addCompleted adds a flag whose value is completed.
func (s *shell) addCompleted(cmd *cobra.Command, value *string, name, usage string, completes completion) {
	cmd.Flags().StringVar(value, name, "", usage)
	_ = cmd.RegisterFlagCompletionFunc(name, s.completeFlag(completes))
}

func (s *shell) completeFlag(completes completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return s.complete(cmd, completes, args)
	}
}

// complete asks the server that the command would speak to. Without an answer there is nothing to complete.
func (s *shell) complete(cmd *cobra.Command, completes completion, args []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	flag := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
	target, err := s.target(connection{flag("url"), flag("api-key"), flag("profile")})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	client, err := target.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
	defer cancel()
	hidden := func(word string) bool { return naming.VisibleText(word) != word } // a shell prints words as they are
	return slices.DeleteFunc(completes(ctx, client, args...), hidden), cobra.ShellCompDirectiveNoFileComp
}
