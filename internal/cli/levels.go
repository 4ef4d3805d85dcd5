package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/durable"
	"github.com/signalbox/signalbox/internal/levelfiles"
)

const (
	environmentVariable = "SIGNALBOX_ENVIRONMENT"
	// fileInterval is how often Log4j 2 looks at a file. Looking costs less than asking a server.
	fileInterval = 5 * time.Second
	// keepReleased is how long a file names a released logger; see internal/logging.
	keepReleased = 24 * time.Hour
	// readyTimeout is how long --once waits for the server.
	readyTimeout = 30 * time.Second
	// fileMode lets the program beside read the file, which may run as another user.
	fileMode = 0o644
)

func (s *shell) levels() *cobra.Command {
	return terminal.Group("levels", "Log levels for programs that read them from a file", s.followLevels())
}

// followFlags are the flags of levels follow.
type followFlags struct {
	environment, format, service string
	once                         bool
}

// levelFormats returns the formats by the words of --format, and these words in order.
func levelFormats() (words []string, formats map[string]levelfiles.Format) {
	formats = map[string]levelfiles.Format{}
	for _, format := range levelfiles.Formats() {
		words, formats[format.Word] = append(words, format.Word), format
	}
	return words, formats
}

func (s *shell) followLevels() *cobra.Command {
	var flags followFlags
	words, formats := levelFormats()
	return s.command(action{
		use: "follow FILE", short: "Keep the levels of an environment in a file that a logging framework reads",
		long: `Keep the levels of an environment in a file that a logging framework reads, until the command is stopped. A change arrives at once
over the event socket. The file is replaced as a whole. While the server cannot be reached the file stays as it is, temporary
levels end on time, and a start uses the last known levels. Needs an API key; the role VIEWER is enough.

The names of loggers are those that people gave them: signalbox loggers set com.example.Shop keeps the case of the name.`,
		example: "signalbox levels follow --format log4j2 -e production --once levels.xml",
		flags: func(cmd *cobra.Command) {
			terminal.AddChoice(cmd, &flags.format, "format", words[0], "what reads the file", words...)
			cmd.Flags().StringVarP(&flags.environment, "environment", "e", "", "the environment's `ID` ("+environmentVariable+")")
			cmd.Flags().StringVar(&flags.service, "service", "", "the `NAME` of the service that reads the file, for the list of connections")
			cmd.Flags().BoolVar(&flags.once, "once", false, "write the file once and end; fail if the server does not answer")
		},
		run: func(ctx context.Context, c *call) error {
			flags.environment = cmp.Or(flags.environment, c.Variable(environmentVariable))
			if flags.environment == "" {
				return terminal.Usagef("%s needs an environment: add -e, such as -e production", c.cmd.CommandPath())
			}
			if c.key == "" {
				return terminal.Usagef("%s needs an API key, because a session ends: set %s or --api-key", c.cmd.CommandPath(), keyVariable)
			}
			return c.followLevels(ctx, flags, &levelWriter{path: c.args[0], format: formats[flags.format]})
		},
	})
}

// followLevels writes the file whenever levels change.
func (c *call) followLevels(ctx context.Context, flags followFlags, writer *levelWriter) error {
	log := slog.New(slog.NewTextHandler(c.Err, nil))
	box, err := live.Start(ctx, live.WithURL(c.url), live.WithKey(c.key), live.WithEnvironment(flags.environment), live.WithService(flags.service), live.WithLogger(log))
	if err != nil {
		return terminal.Usage(err)
	}
	defer box.Close(ctx)
	if flags.once {
		waiting, cancel := context.WithTimeout(ctx, readyTimeout)
		defer cancel()
		if err := box.Ready(waiting); err != nil {
			return err
		}
		return writer.write(box.ControlledLoggers(), time.Now())
	}
	changed := make(chan struct{}, 1)
	stop := box.OnLevelChange(func() {
		select {
		case changed <- struct{}{}:
		default: // a write is pending already
		}
	})
	defer stop()
	for known := false; ; {
		if known = known || box.HasValues(); known { // otherwise the file of an earlier run is better than an empty one
			if err := writer.write(box.ControlledLoggers(), time.Now()); err != nil {
				log.Warn("Writing the file failed; retrying at the next change.", "file", writer.path, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// levelWriter writes levels into a file.
type levelWriter struct {
	path   string
	format levelfiles.Format

	written  []byte               // the content of the file
	names    map[string]bool      // the names that the file has a level for
	released map[string]time.Time // the names that it had a level for, and when they were released
}

// write replaces the file if its content changes.
func (w *levelWriter) write(loggers []live.ControlledLogger, now time.Time) error {
	content := w.format.Write(w.list(loggers, now), levelfiles.Options{Interval: fileInterval})
	if bytes.Equal(content, w.written) {
		return nil
	}
	if stored, err := os.ReadFile(w.path); err == nil && bytes.Equal(content, stored) {
		w.written = content
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temporary, err := durable.Create(filepath.Dir(w.path), ".signalbox-levels-*.tmp", func(file *os.File) error {
		_, err := file.Write(content)
		return errors.Join(err, file.Chmod(fileMode))
	})
	if err != nil {
		return err
	}
	if err := durable.Rename(temporary, w.path); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	w.written = content
	return nil
}

// list returns the loggers for the file: controlled loggers, and loggers that were controlled within keepReleased.
func (w *levelWriter) list(loggers []live.ControlledLogger, now time.Time) []levelfiles.Logger {
	list, names := make([]levelfiles.Logger, 0, len(loggers)), map[string]bool{}
	for _, logger := range loggers {
		known := levelfiles.Names(logger.ID, logger.Name, nil)
		list = append(list, levelfiles.Logger{Names: known, Level: logger.Level})
		for _, name := range known {
			names[name] = true
		}
	}
	if w.released == nil {
		w.released = map[string]time.Time{}
	}
	for name := range w.names {
		if !names[name] {
			w.released[name] = now
		}
	}
	w.names = names
	for _, name := range slices.Sorted(maps.Keys(w.released)) {
		if names[name] || now.Sub(w.released[name]) > keepReleased {
			delete(w.released, name)
			continue
		}
		list = append(list, levelfiles.Logger{Names: []string{name}, Level: loglevel.None})
	}
	return list
}
