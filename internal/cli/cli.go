package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
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
		Args:          cobra.ArbitraryArgs,
		RunE:          unknownCommand,
	}
	root.SetOut(s.stdout)
	root.SetErr(s.stderr)
	root.SetVersionTemplate("signalbox {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(s.serve(), s.migrate(), s.keys(), s.accounts(), s.keyring(), s.events())
	return root
}

// complain prints an error: the sentences of refusals with their causes, which
// an operator may see, and the text of others.
func (s *shell) complain(err error) {
	lines := strings.Split(err.Error(), "\n")
	if refusals := fault.All(err); len(refusals) > 0 {
		lines = nil
		for _, refusal := range refusals {
			line := refusal.Detail
			if refusal.Err != nil {
				line += " (" + refusal.Err.Error() + ")"
			}
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		s.say(s.stderr, "signalbox: %s\n", line)
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

// operate runs a function on the store that the settings name, which must exist.
func (s *shell) operate(cmd *cobra.Command, fn func(*app.Operator) error) error {
	return s.operateWith(cmd, app.OpenOperator, fn)
}

// found is operate for commands that may make the store.
func (s *shell) found(cmd *cobra.Command, fn func(*app.Operator) error) error {
	return s.operateWith(cmd, app.MakeOperator, fn)
}

type openOperator func(context.Context, settings.Settings, *slog.Logger) (*app.Operator, error)

func (s *shell) operateWith(cmd *cobra.Command, open openOperator, fn func(*app.Operator) error) (err error) {
	loaded, log, err := s.load(cmd)
	if err != nil {
		return err
	}
	operator, err := open(cmd.Context(), loaded, log)
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

// exactly demands these arguments.
func exactly(names ...string) cobra.PositionalArgs { return between(len(names), names...) }

// between demands at least a number of these arguments.
func between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= len(names) {
			return nil
		}
		expected := "no arguments"
		if len(names) > 0 {
			expected = strings.Join(names, " ")
		}
		return usageError{fmt.Errorf("%s takes %s; see %s --help", cmd.CommandPath(), expected, cmd.CommandPath())}
	}
}

// unknownCommand refuses what is no command; without anything it shows the help.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return usageError{fmt.Errorf("there is no command %q; see %s --help", cmd.CommandPath()+" "+args[0], cmd.CommandPath())}
}

// group makes a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args)
		}
		return usageError{fmt.Errorf("%s needs a command; see %s --help", cmd.CommandPath(), cmd.CommandPath())}
	}}
	cmd.AddCommand(commands...)
	return cmd
}
