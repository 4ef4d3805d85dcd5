package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/admin"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// Run executes one command and returns its exit code; package terminal has the codes.
func Run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	t := &terminal.Terminal{Environ: environ, In: stdin, Out: stdout, Err: stderr, Done: ctx.Done()}
	root := New(t)
	root.SetArgs(args)
	err := t.Finish(terminal.FlagRules(root.ExecuteContext(ctx)))
	if err != nil {
		t.Fail(terminal.Unprefixed(err))
	}
	return terminal.ExitCode(err)
}

// New returns the program's root command with all subcommands.
func New(t *terminal.Terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "signalbox",
		Short: "Feature flags, log levels, configuration and scheduled HTTP jobs for running software",
		Long: `Feature flags, log levels, configuration and scheduled HTTP jobs for running software.

serve starts a server, and admin works on its database. All other commands speak to a server, which signalbox login or
SIGNALBOX_URL and SIGNALBOX_API_KEY select.

Exit codes: 0 done, or no difference, 1 failed, 2 wrong usage, 3 not found, 4 conflict, 5 a limit was reached,
6 unauthorized, 10 different.`,
		Version:       app.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          terminal.UnknownCommand,
	}
	root.SetOut(t)
	root.SetErr(t.Err)
	root.SetVersionTemplate("signalbox {{.Version}}\n")
	root.SetFlagErrorFunc(terminal.UnknownFlag)
	root.AddCommand(admin.Serve(t), admin.New(t))
	root.AddCommand((&shell{Terminal: t}).commands()...)
	return root
}
