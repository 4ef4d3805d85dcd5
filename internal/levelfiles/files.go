package levelfiles

import (
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
)

// Logger is a logger in a file.
type Logger struct {
	// Names are its names in the framework: it may have several that differ in case or in their separators.
	Names []string
	// Level is None for a released logger.
	Level loglevel.Level
}

// Options describe a file.
type Options struct {
	// Interval is how often Log4j 2 looks for changes.
	Interval time.Duration
	// Window is written into the Logback file. A new value makes programs load the file.
	Window time.Time
}

// Format is a format of files.
type Format struct {
	Name      string // of the file
	Word      string // names the format on the command line
	MediaType string
	Write     func([]Logger, Options) []byte
}

// Formats returns all formats.
func Formats() []Format {
	return []Format{
		{"logback.properties", "logback", "text/plain; charset=iso-8859-1", Logback},
		{"log4j2.xml", "log4j2", "application/xml", Log4jXML},
		{"log4j2.json", "log4j2-json", "application/json", Log4jJSON},
		{"levels.json", "json", "application/json", JSON},
		{"python.json", "python", "application/json", Python},
	}
}

// root is the name of the root logger, in any case.
const root = "root"

// Resolve returns the loggers of tree that Signalbox controls, with their levels in an environment, sorted by key. names
// returns the names of a logger.
func Resolve(tree *loglevel.Tree, environment string, names func(key string) []string) []Logger {
	type keyed struct {
		key string
		Logger
	}
	var found []keyed
	for key, resolved := range tree.All(environment) {
		if tree.Controls(key) {
			found = append(found, keyed{key, Logger{names(key), resolved.Level}})
		}
	}
	slices.SortFunc(found, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	loggers := make([]Logger, len(found))
	for i, each := range found {
		loggers[i] = each.Logger
	}
	return loggers
}

// maxNames bounds the names of a logger: services choose them.
const maxNames = 4

// Names returns the names of a logger: the spellings that services reported, or else its display name if that is another
// spelling of the key, or else the key.
func Names(key, display string, spellings []string) []string {
	switch {
	case len(spellings) > 0:
		return spellings[:min(len(spellings), maxNames)]
	case loglevel.Normalize(display) == key:
		return []string{display}
	}
	return []string{key}
}

// each calls write for every name of the loggers.
func each(loggers []Logger, write func(name string, level loglevel.Level)) {
	for _, logger := range loggers {
		for _, name := range logger.Names {
			write(name, logger.Level)
		}
	}
}

// isSafe reports whether a framework that replaces variables in its configuration takes a name as it is.
func isSafe(name string) bool { return !strings.Contains(name, "${") }

func isRoot(name string) bool { return strings.EqualFold(name, root) }
