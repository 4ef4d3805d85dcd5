package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// shell makes the commands that speak to a server.
type shell struct{ *terminal.Terminal }

func (s *shell) commands() []*cobra.Command {
	return []*cobra.Command{
		s.login(), s.logout(), s.profiles(), s.whoami(), s.version(),
		s.flags(), s.loggers(), s.groups(), s.levels(), s.configs(), s.environments(), s.jobs(), s.runs(), s.services(), s.contexts(), s.usage(),
		s.describe(), s.edit(), s.api(),
		s.changes(), s.events(), s.webhooks(), s.keys(), s.people(), s.connections(), s.open(), s.mcp(), s.health(),
		s.apply(), s.diff(), s.validate(), s.schema(), s.disown(), s.export(), s.imports(),
	}
}

// need says whether a command takes an environment.
type need int

const (
	without need = iota
	optionally
	required
)

// action describes a command that speaks to a server. The same description serves every resource.
type action struct {
	use, short, long string
	// example has command lines that work; the tests run them.
	example string
	// format is the default format of the result. If it is empty, there is no flag -o.
	format string
	// environment says whether there is a flag -e.
	environment need
	// writes adds --dry-run, and destroys adds --yes.
	writes, destroys bool
	// flags adds the command's own flags.
	flags func(*cobra.Command)
	// completes has the completion of each argument; the last one completes all further arguments.
	completes []completion
	// each runs the action once for every argument, each of which is the id of a resource.
	each bool
	// filters checks the names that a list is filtered by, when the list is empty or refused.
	filters func(context.Context, *call) error
	run     func(context.Context, *call) error
}

// call is one execution of an action.
type call struct {
	*terminal.Terminal
	cmd         *cobra.Command
	client      *signalbox.Client
	url, key    string // the key is empty for a session
	args        []string
	environment string
	format      terminal.Format
	dryRun, yes bool
	note        string
}

// command returns the command of an action.
func (s *shell) command(a action) *cobra.Command {
	cmd := &cobra.Command{Use: a.use, Short: a.short, Long: a.long, Example: indent(a.example), Args: terminal.Arguments}
	var at connection
	at.addFlags(s, cmd)
	c := &call{Terminal: s.Terminal, cmd: cmd}
	a.addFlags(s, cmd, c)
	cmd.ValidArgsFunction = s.completeArguments(a.completes)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.environment == required && c.environment == "" {
			return terminal.Usagef("%s needs an environment: add -e, such as -e production", cmd.CommandPath())
		}
		c.args = args
		target, err := s.target(at)
		if err != nil {
			return err
		}
		if c.client, err = target.client(signalbox.WithNote(c.note)); err != nil {
			return terminal.Usage(err)
		}
		c.url, c.key = target.URL, target.APIKey
		return target.explain(a.execute(cmd.Context(), c))
	}
	return cmd
}

// execute runs the action. An environment that does not exist is an error, even if the command would have nothing to do in it.
func (a action) execute(ctx context.Context, c *call) error {
	if err := environmentKind().exists(ctx, c, c.environment); err != nil {
		return err
	}
	if !a.each || len(c.args) == 1 {
		return a.run(ctx, c)
	}
	var errs []error
	for i, id := range c.args {
		c.args = []string{id}
		if i > 0 && c.format.Given() && c.format.String() == terminal.FormatYAML {
			c.Say("---\n")
		}
		errs = append(errs, a.run(ctx, c))
	}
	return errors.Join(errs...)
}

func (a action) addFlags(s *shell, cmd *cobra.Command, c *call) {
	if a.format != "" {
		terminal.AddFormat(cmd, &c.format, a.format)
	}
	if a.environment != without {
		cmd.Flags().StringVarP(&c.environment, "environment", "e", "", "the environment's `ID`")
		_ = cmd.RegisterFlagCompletionFunc("environment", s.completeFlag(environmentKind().ids))
	}
	if a.writes {
		cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show what would happen and change nothing")
		cmd.Flags().StringVar(&c.note, "note", "", "say why, for the history, in up to 500 characters of `TEXT`")
	}
	if a.destroys {
		cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do it without asking")
	}
	if a.flags != nil {
		a.flags(cmd)
	}
}

// indent indents examples as cobra shows them.
func indent(example string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(example), "\n", "\n  ")
}

// options returns the options of a write.
func (c *call) options(more ...signalbox.WriteOption) []signalbox.WriteOption {
	if c.dryRun {
		return append(more, signalbox.DryRun())
	}
	return more
}

// changed reports whether a flag was given.
func (c *call) changed(flag string) bool { return c.cmd.Flags().Changed(flag) }
