package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/naming"
)

// completion returns the possible values of an argument or flag on a server.
type completion func(context.Context, *signalbox.Client) []string

// completionPatience is how long a completion may take after Tab was pressed.
const completionPatience = 2 * time.Second

// words completes fixed words.
func words(fixed ...string) completion {
	return func(context.Context, *signalbox.Client) []string { return fixed }
}

// completeArguments completes the arguments of a command; the last completion is for all further arguments.
func (s *shell) completeArguments(each []completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(each) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.complete(cmd, each[min(len(args), len(each)-1)])
	}
}

func (s *shell) completeFlag(completes completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return s.complete(cmd, completes)
	}
}

// complete asks the server of the command. It completes nothing if the server does not answer.
func (s *shell) complete(cmd *cobra.Command, completes completion) ([]cobra.Completion, cobra.ShellCompDirective) {
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
	return slices.DeleteFunc(completes(ctx, client), hidden), cobra.ShellCompDirectiveNoFileComp
}
