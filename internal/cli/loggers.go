package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func loggerKind() kind[signalbox.Logger] {
	in := func(c *signalbox.Client) service[signalbox.Logger, signalbox.LoggerParams] { return c.Loggers }
	return from(in, kind[signalbox.Logger]{
		name: "logger", noun: "logger",
		of: func(l signalbox.Logger) signalbox.Resource { return l.Resource },
		columns: []terminal.Column[signalbox.Logger]{
			{Title: "ID", Text: func(l signalbox.Logger) string { return l.ID }, Whole: true},
			{Title: "LEVEL", Text: func(l signalbox.Logger) string { return levelText(l.Level, l.LevelExpiresAt) }},
			{Title: "ENVIRONMENTS", Text: func(l signalbox.Logger) string { return overridesText(l.Environments) }},
			{Title: "GROUP", Text: func(l signalbox.Logger) string { return value(l.Group) }},
			{Title: "MANAGED", Text: func(l signalbox.Logger) string { return terminal.YesNo(l.Managed) }},
			{Title: "EFFECTIVE", Text: func(l signalbox.Logger) string { return resolvedText(l.Resolved) }, Wide: true},
			{Title: "UPDATED", Text: func(l signalbox.Logger) string { return moment(&l.UpdatedAt) }, Wide: true},
		},
	})
}

// levelText returns a level and when it ends.
func levelText(level loglevel.Level, expires *time.Time) string {
	if expires == nil {
		return level.String()
	}
	return level.String() + " until " + moment(expires)
}

// overridesText returns levels of environments: "production: DEBUG until …".
func overridesText(overrides map[string]signalbox.LevelOverride) string {
	return eachEnvironment(overrides, func(o signalbox.LevelOverride) string { return levelText(o.Level, o.ExpiresAt) })
}

// resolvedText returns effective levels of environments.
func resolvedText(resolved map[string]signalbox.ResolvedLevel) string {
	return eachEnvironment(resolved, func(r signalbox.ResolvedLevel) string { return r.Level.String() })
}

func (s *shell) loggers() *cobra.Command {
	return terminal.Group("loggers", "Log levels of running services", s.listLoggers(), s.treeLoggers(),
		loggerKind().show(s, "signalbox loggers get shop.payments"), s.setLogger(), s.resetLogger())
}

func (s *shell) listLoggers() *cobra.Command {
	var filter searchFlags
	var group, service string
	return loggerKind().list(s, action{
		use: "list", short: "List loggers",
		example: "signalbox loggers list\nsignalbox loggers list --search shop --managed -o wide",
		flags: func(cmd *cobra.Command) {
			filter.add(cmd)
			s.addCompleted(cmd, &group, "group", "list the members of the group with this `ID`", groupKind().ids)
			s.addCompleted(cmd, &service, "service", "list the loggers that the service with this `ID` reports", serviceKind().ids)
		},
		filters: func(ctx context.Context, c *call) error {
			return errors.Join(groupKind().exists(ctx, c, group), serviceKind().exists(ctx, c, service))
		},
	}, func(ctx context.Context, c *call) iter.Seq2[signalbox.Logger, error] {
		return c.client.Loggers.All(ctx, signalbox.LoggerParams{Search: filter.search, Managed: filter.isManaged(), Group: group, Service: service})
	})
}

func (s *shell) treeLoggers() *cobra.Command {
	return s.command(action{
		use: "tree [NAME]", short: "Show loggers as a tree, with their levels in an environment",
		example:     "signalbox loggers tree -e production\nsignalbox loggers tree shop -e production",
		environment: required, completes: []completion{loggerKind().ids},
		run: func(ctx context.Context, c *call) error {
			all, err := collect(loggerKind().all(ctx, c.client))
			if err != nil {
				return err
			}
			below := ""
			if len(c.args) == 1 {
				below = loglevel.Normalize(c.args[0])
			}
			if !c.printTree(all, below) && below != "" {
				return loggerKind().exists(ctx, c, below)
			}
			return nil
		},
	})
}

// printTree prints the loggers at and below a name, indented by their depth, and reports whether there are any. Names between
// them are shown too.
func (c *call) printTree(all []signalbox.Logger, below string) bool {
	loggers := map[string]signalbox.Logger{}
	for _, logger := range all {
		if below != "" && logger.ID != below && !strings.HasPrefix(logger.ID, below+".") {
			continue
		}
		loggers[logger.ID] = logger
		for parent, is := loglevel.Parent(logger.ID); is && len(parent) >= len(below); parent, is = loglevel.Parent(parent) {
			if _, known := loggers[parent]; !known {
				loggers[parent] = signalbox.Logger{Resource: signalbox.Resource{ID: parent}}
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(loggers), compareDotted) {
		c.printTreeLine(loggers[id])
	}
	return len(loggers) > 0
}

// compareDotted sorts a name before its descendants, and its descendants before its next sibling.
func compareDotted(a, b string) int {
	return slices.Compare(strings.Split(a, "."), strings.Split(b, "."))
}

func (c *call) printTreeLine(logger signalbox.Logger) {
	depth := strings.Count(logger.ID, ".")
	name := strings.Repeat("  ", depth) + logger.ID[strings.LastIndexByte(logger.ID, '.')+1:]
	resolved, known := logger.Resolved[c.environment]
	if !known {
		c.Say("%s\n", name)
		return
	}
	origin := originText(logger.ID, resolved)
	if expires := logger.Environments[c.environment].ExpiresAt; expires != nil {
		origin += ", until " + moment(expires)
	}
	c.Say("%-40s %s  %s\n", name, c.Paint(levelColor(resolved.Level), fmt.Sprintf("%-6s", resolved.Level)), c.Paint(terminal.Faint, origin))
}

// originText says where the effective level of a logger comes from.
func originText(id string, resolved signalbox.ResolvedLevel) string {
	if of := value(resolved.Of); of != "" && of != id {
		return string(resolved.Origin) + " of " + of
	}
	return string(resolved.Origin)
}

func levelColor(level loglevel.Level) terminal.Color {
	switch {
	case level <= loglevel.Debug:
		return terminal.Warn
	case level >= loglevel.Error:
		return terminal.Faint
	default:
		return terminal.Plain
	}
}

// levels completes levels.
func levels() completion {
	var names []string
	for _, level := range loglevel.Levels() {
		names = append(names, level.String())
	}
	return words(names...)
}

// levelFlags are the arguments of commands that set a level.
type levelFlags struct{ lasts time.Duration }

func (f *levelFlags) add(cmd *cobra.Command) {
	terminal.AddDuration(cmd, &f.lasts, "for", 0, "go back after this `DURATION`, such as 30m or 1d (default: stay)")
}

// setting returns the level to set.
func (f *levelFlags) setting(text string) (signalbox.LevelSetting, error) {
	level, known := loglevel.Parse(text)
	if !known {
		return signalbox.LevelSetting{}, terminal.Usagef("%q is not a level: TRACE, DEBUG, INFO, WARN, ERROR, FATAL or SILENT", text)
	}
	return signalbox.LevelSetting{Level: level, TTL: f.lasts, Permanent: f.lasts == 0}, nil
}

// text describes the level that was set.
func (f *levelFlags) text(c *call, level string) string {
	text := strings.ToUpper(level) + inEnvironment(c)
	if f.lasts != 0 {
		text += " for " + terminal.DurationText(f.lasts)
	}
	return text
}

// setLevel sets the base level of a draft, or the level of the command's environment.
func (c *call) setLevel(base *signalbox.LevelSetting, environments map[string]signalbox.LevelSetting, setting signalbox.LevelSetting) {
	if c.environment == "" {
		*base = setting
	} else {
		environments[c.environment] = setting
	}
}

// resetLevels removes all levels of a draft, or the level of the command's environment.
func (c *call) resetLevels(base *signalbox.LevelSetting, environments *map[string]signalbox.LevelSetting) {
	if c.environment == "" {
		*base, *environments = signalbox.LevelSetting{}, nil
	} else {
		delete(*environments, c.environment)
	}
}

func (s *shell) setLogger() *cobra.Command {
	var flags levelFlags
	return s.command(action{
		use: "set NAME LEVEL", short: "Set a permanent or temporary level of a logger, everywhere or in one environment",
		example: "signalbox loggers set shop.payments DEBUG -e production --for 30m\nsignalbox loggers set shop.payments WARN",
		writes:  true, format: terminal.FormatYAML, environment: optionally, flags: flags.add,
		completes: []completion{loggerKind().ids, levels()},
		run: func(ctx context.Context, c *call) error {
			setting, err := flags.setting(c.args[1])
			if err != nil {
				return err
			}
			note := c.newLogger(ctx, c.args[0])
			written, err := editLogger(ctx, c, c.args[0], func(draft *signalbox.LoggerDraft) { c.setLevel(&draft.Base, draft.Environments, setting) })
			c.noteAll(err, []string{note})
			return loggerKind().wrote(c, written, err, "The logger %s is at %s.", written.ID, flags.text(c, c.args[1]))
		},
	})
}

// newLogger asks whether the name of a new logger is misspelled, if an existing name is similar; else it returns "". It is not
// an error, because levels may be set before a service reports a logger.
func (c *call) newLogger(ctx context.Context, name string) string {
	if _, err := c.client.Loggers.Get(ctx, name); !signalbox.IsNotFound(err) {
		return ""
	}
	return newNear(loglevel.Normalize(name), loggerKind().ids(ctx, c.client))
}

// editLogger changes a logger, or creates it. The level of an unmanaged logger was reported by a service, so it is dropped.
func editLogger(ctx context.Context, c *call, name string, change func(*signalbox.LoggerDraft)) (signalbox.Logger, error) {
	k := loggerKind()
	k.get = func(ctx context.Context, client *signalbox.Client, id string) (signalbox.Logger, error) {
		logger, err := client.Loggers.Get(ctx, id)
		if signalbox.IsNotFound(err) {
			return signalbox.Logger{Resource: signalbox.Resource{ID: id}}, nil
		}
		return logger, err
	}
	return edited(ctx, c, k, name, signalbox.Logger.Draft, func(logger signalbox.Logger, draft *signalbox.LoggerDraft) error {
		if !logger.Managed {
			*draft = signalbox.LoggerDraft{Name: logger.Name, Environments: map[string]signalbox.LevelSetting{}}
		}
		// Java's frameworks need the case of a name. A logger without a name of its own takes the one that was typed.
		if key := loglevel.Normalize(name); name != key && (draft.Name == "" || draft.Name == key) {
			draft.Name = name
		}
		change(draft)
		return nil
	}, c.client.Loggers.Replace)
}

func (s *shell) resetLogger() *cobra.Command {
	return s.command(action{
		use: "reset NAME...", short: "Remove the levels that were set for loggers, or those of an environment",
		example: "signalbox loggers reset shop.payments -e production\nsignalbox loggers reset shop.payments",
		writes:  true, each: true, format: terminal.FormatYAML, environment: optionally, completes: []completion{loggerKind().ids},
		run: func(ctx context.Context, c *call) error {
			if _, err := loggerKind().find(ctx, c, c.args[0]); err != nil {
				return err
			}
			where := cmp.Or(inEnvironment(c), " anywhere")
			written, err := editLogger(ctx, c, c.args[0], func(draft *signalbox.LoggerDraft) { c.resetLevels(&draft.Base, &draft.Environments) })
			return loggerKind().wrote(c, written, err, "The logger %s has no level of its own%s.", written.ID, where)
		},
	})
}
