package admin

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/rawjson"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// commands are the commands that work on the store.
type commands struct {
	*terminal.Terminal
	json bool
}

// New returns the command admin, which has every command of this package except serve.
func New(t *terminal.Terminal) *cobra.Command {
	c := &commands{Terminal: t}
	cmd := terminal.Group("admin", "Administer a server: its accounts, keys, people, key ring and database",
		c.accounts(), c.keys(), c.users(), c.keyring(), c.migrate(),
		c.backup(), c.restore(), c.doctor())
	cmd.Long = `Administer a server: its accounts, keys, people, key ring and database.

These commands work on the store itself, beside a running server or without one, and need no API key: anybody who can read
the data folder, or the PostgreSQL database, may run them. All other commands speak to a server.`
	return completed(cmd)
}

// load reads the settings of a command from its flags, the environment and the settings file.
func (c *commands) load(cmd *cobra.Command) (settings.Settings, *slog.Logger, error) {
	loaded, warnings, err := settings.Load(c.Environ, cmd.Flags())
	for _, warning := range warnings {
		c.Note("%s", warning)
	}
	if err != nil {
		return settings.Settings{}, nil, terminal.Usage(err)
	}
	return loaded, telemetry.NewLogger(c.Err, loaded.LogLevel, loaded.LogFormat), nil
}

// openStore is app.OpenOperator, or app.MakeOperator for commands that may create the store.
type openStore func(context.Context, settings.Settings, *slog.Logger) (*app.Operator, error)

// runOnStore runs a command with the opened store.
type runOnStore func(ctx context.Context, store *app.Operator, args []string) (result, error)

// result is what a command prints: value with --json, else text.
type result struct {
	value any
	text  func(io.Writer)
}

// sentence returns the text of a result.
func sentence(format string, args ...any) func(io.Writer) {
	return func(w io.Writer) { terminal.Fprintf(w, format, args...) }
}

// onStore returns a command with the flags of the store and --json that opens the store and calls run.
func (c *commands) onStore(open openStore, use, short, example string, run runOnStore) *cobra.Command {
	return c.onSettings(use, short, example, func(cmd *cobra.Command, loaded settings.Settings, log *slog.Logger, args []string) (err error) {
		store, err := open(cmd.Context(), loaded, log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		printed, err := run(cmd.Context(), store, args)
		if err != nil {
			return err
		}
		return c.print(printed.value, printed.text)
	})
}

// onSettings returns a command with the flags of the store and --json that does not open the store.
func (c *commands) onSettings(use, short, example string, run func(*cobra.Command, settings.Settings, *slog.Logger, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Example: "  " + example, Args: terminal.Arguments}
	settings.AddStoreFlags(cmd.Flags())
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		loaded, log, err := c.load(cmd)
		if err != nil {
			return err
		}
		return run(cmd, loaded, log, args)
	}
	return cmd
}

// print prints a value as JSON if --json is set, else as text.
func (c *commands) print(value any, text func(io.Writer)) error {
	if !c.json {
		writer := tabwriter.NewWriter(c.Out, 0, 4, 2, ' ', 0)
		text(writer)
		return writer.Flush()
	}
	document, err := rawjson.Encode(value)
	if err != nil {
		return err
	}
	_, err = c.Out.Write(terminal.EscapeJSON(append(document, '\n')))
	return err
}
