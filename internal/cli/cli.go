package cli

import (
	"cmp"
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

// Run executes one command and returns the exit code: 0 for success, 1 for failure, 2 for wrong usage.
func Run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	shell := &shell{environ: environ, stdout: stdout, stderr: stderr}
	root := shell.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	shell.printError(err)
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	return 1
}

// usageError is an error in how a command was called.
type usageError struct{ error }

// Unwrap returns the error.
func (e usageError) Unwrap() error { return e.error }

// shell is the input and output of commands.
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
	root.AddCommand(s.serve(), s.migrate(), s.keys(), s.accounts(), s.users(), s.keyring(), s.events())
	return root
}

// printError prints an error. Coded errors are printed with their causes, which an operator may see.
func (s *shell) printError(err error) {
	var lines []string
	for _, coded := range fault.All(err) {
		line := coded.Detail
		if coded.Err != nil {
			line += " (" + coded.Err.Error() + ")"
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = strings.Split(err.Error(), "\n")
	}
	for _, line := range lines {
		s.say(s.stderr, "signalbox: %s\n", line)
	}
}

// say prints and ignores errors of the terminal.
func (s *shell) say(to io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(to, format, args...)
}

// load reads the settings that a command has flags for.
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

// openStore is app.OpenOperator, or app.MakeOperator for commands that may create the store.
type openStore func(context.Context, settings.Settings, *slog.Logger) (*app.Operator, error)

// runOnStore is what a command does with the opened store.
type runOnStore func(ctx context.Context, store *app.Operator, args []string) error

// onStore returns a command with the flags of the store and --json that opens the store and calls run.
func (s *shell) onStore(open openStore, use, short string, run runOnStore) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: argumentsOf(use)}
	settings.AddStoreFlags(cmd.Flags())
	cmd.Flags().BoolVar(&s.json, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		loaded, log, err := s.load(cmd)
		if err != nil {
			return err
		}
		store, err := open(cmd.Context(), loaded, log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		return run(cmd.Context(), store, args)
	}
	return cmd
}

// print prints a value as JSON if --json is set, else as text.
func (s *shell) print(value any, text func(io.Writer)) error {
	if !s.json {
		writer := tabwriter.NewWriter(s.stdout, 0, 4, 2, ' ', 0)
		text(writer)
		return writer.Flush()
	}
	return s.printJSON(value)
}

func (s *shell) printJSON(value any) error {
	encoder := json.NewEncoder(s.stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// argumentsOf accepts the arguments that a command's Use names, such as "create NAME" or "create [NAME]".
func argumentsOf(use string) cobra.PositionalArgs {
	names := strings.Fields(use)[1:]
	required := len(names) - strings.Count(use, "[")
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= required && len(args) <= len(names) {
			return nil
		}
		expected := cmp.Or(strings.Join(names, " "), "no arguments")
		return usageError{fmt.Errorf("%s takes %s; see %s --help", cmd.CommandPath(), expected, cmd.CommandPath())}
	}
}

// unknownCommand reports an unknown command; without arguments it shows the help.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return usageError{fmt.Errorf("there is no command %q; see %s --help", cmd.CommandPath()+" "+args[0], cmd.CommandPath())}
}

// group returns a command that only has subcommands.
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
