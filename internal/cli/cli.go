package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// Run executes one command and gives the process's exit code: 0 when it
// worked, 1 when it failed, 2 when it was called wrongly.
func Run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	shell := &shell{environ: environ, stdout: stdout, stderr: stderr}
	root := shell.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	shell.complain(err)
	if _, wrong := errors.AsType[usageError](err); wrong {
		return 2
	}
	return 1
}

// usageError marks a command that was called wrongly.
type usageError struct{ error }

// Unwrap gives what was wrong.
func (e usageError) Unwrap() error { return e.error }

// shell is what every command works with.
type shell struct {
	environ        []string
	stdout, stderr io.Writer
	json           bool
}

func (s *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "signalbox",
		Short:         "Feature flags, log levels, configuration and scheduled HTTP jobs for running software",
		Version:       app.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
	}
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	root.SetVersionTemplate("signalbox {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(s.serve(), s.migrate(), s.keys(), s.accounts(), s.keyring())
	return root
}

// complain prints an error: the sentences of refusals, the text of others.
func (s *shell) complain(err error) {
	refusals := fault.All(err)
	for _, refusal := range refusals {
		s.say(s.stderr, "signalbox: %s\n", refusal.Detail)
	}
	if len(refusals) == 0 {
		s.say(s.stderr, "signalbox: %v\n", err)
	}
}

// say prints; a terminal that is gone is no reason to fail.
func (s *shell) say(to io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(to, format, args...)
}

// load reads the settings that a command's flags cover.
func (s *shell) load(cmd *cobra.Command) (settings.Settings, *slog.Logger, error) {
	loaded, warnings, err := settings.Load(s.environ, cmd.Flags())
	for _, warning := range warnings {
		s.say(s.stderr, "signalbox: %s\n", warning)
	}
	if err != nil {
		return settings.Settings{}, nil, usageError{err}
	}
	return loaded, telemetry.NewLogger(s.stderr, loaded.LogLevel, loaded.LogFormat), nil
}

// operate runs a function on the store that the settings name.
func (s *shell) operate(cmd *cobra.Command, fn func(*app.Operator) error) (err error) {
	loaded, log, err := s.load(cmd)
	if err != nil {
		return err
	}
	operator, err := app.OpenOperator(cmd.Context(), loaded, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, operator.Close()) }()
	return fn(operator)
}

// onStore gives a command the flags of the store and --json.
func (s *shell) onStore(cmd *cobra.Command) *cobra.Command {
	settings.AddStoreFlags(cmd.Flags())
	cmd.Flags().BoolVar(&s.json, "json", false, "print JSON")
	return cmd
}

// print shows a value as JSON when --json is set, and as text otherwise.
func (s *shell) print(value any, text func(io.Writer)) error {
	if !s.json {
		writer := tabwriter.NewWriter(s.stdout, 0, 4, 2, ' ', 0)
		text(writer)
		return writer.Flush()
	}
	encoder := json.NewEncoder(s.stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// exactly demands a number of arguments and says which.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return usageError{fmt.Errorf("%s takes %d arguments (%v), not %d; see %s --help",
				cmd.CommandPath(), len(names), names, len(args), cmd.CommandPath())}
		}
		return nil
	}
}

// group makes a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return usageError{fmt.Errorf("%s needs a command; see %s --help", cmd.CommandPath(), cmd.CommandPath())}
	}}
	cmd.AddCommand(commands...)
	return cmd
}
