package loglevel

import (
	"fmt"
	"strings"
)

// Level is the least severe level that is logged. The zero Level is None.
type Level uint8

// The levels, in increasing severity. A logger with None inherits its level.
const (
	None Level = iota
	Trace
	Debug
	Info
	Warn
	Error
	Fatal
	Silent // nothing is logged
)

// Default is the level of a logger that inherits no level.
const Default = Info

// Levels returns the levels in increasing severity.
func Levels() []Level { return []Level{Trace, Debug, Info, Warn, Error, Fatal, Silent} }

// Parse parses the name of a level, ignoring case.
func Parse(text string) (Level, bool) {
	for _, level := range Levels() {
		if strings.EqualFold(text, level.String()) {
			return level, true
		}
	}
	return None, false
}

// Severity returns the level's number, from 0 for TRACE to 6 for SILENT; -1 for None.
func (l Level) Severity() int { return int(l) - 1 }

// String returns the level's name; None is "".
func (l Level) String() string {
	names := [...]string{None: "", Trace: "TRACE", Debug: "DEBUG", Info: "INFO", Warn: "WARN", Error: "ERROR", Fatal: "FATAL", Silent: "SILENT"}
	if int(l) < len(names) {
		return names[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// MarshalJSON returns the name, and null for None.
func (l Level) MarshalJSON() ([]byte, error) {
	if l == None {
		return []byte("null"), nil
	}
	return []byte(`"` + l.String() + `"`), nil
}

// UnmarshalJSON parses a name, ignoring case, and null as None.
func (l *Level) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*l = None
		return nil
	}
	level, known := Parse(strings.Trim(string(text), `"`))
	if !known {
		return fmt.Errorf("%s is not a log level", text)
	}
	*l = level
	return nil
}

// separators replaces the separators of logging frameworks by dots.
//
//nolint:gochecknoglobals // a replacer holds no state
var separators = strings.NewReplacer("/", ".", ":", ".")

// Normalize returns a logger's name in lower case with its segments separated by dots.
func Normalize(name string) string { return strings.ToLower(separators.Replace(name)) }

// Parent returns the name without its last segment; false for a single segment.
func Parent(key string) (string, bool) {
	dot := strings.LastIndexByte(key, '.')
	if dot < 0 {
		return "", false
	}
	return key[:dot], true
}
