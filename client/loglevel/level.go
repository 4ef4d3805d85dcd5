package loglevel

import (
	"fmt"
	"strings"
)

// Level is how severe a record must be to be written. The zero Level is None.
type Level uint8

// The levels, in increasing severity. None is no level: what has it inherits.
const (
	None Level = iota
	Trace
	Debug
	Info
	Warn
	Error
	Fatal
	Silent // fully muted
)

// Default is the level of what nothing decides about.
const Default = Info

// Levels lists the levels in increasing severity.
func Levels() []Level { return []Level{Trace, Debug, Info, Warn, Error, Fatal, Silent} }

// Parse reads the name of a level in any case.
func Parse(text string) (Level, bool) {
	for _, level := range Levels() {
		if strings.EqualFold(text, level.String()) {
			return level, true
		}
	}
	return None, false
}

// Severity is the level's number, from 0 for TRACE to 6 for SILENT; -1 for None.
func (l Level) Severity() int { return int(l) - 1 }

// String is the level's name; None has none.
func (l Level) String() string {
	switch l {
	case None:
		return ""
	case Trace:
		return "TRACE"
	case Debug:
		return "DEBUG"
	case Info:
		return "INFO"
	case Warn:
		return "WARN"
	case Error:
		return "ERROR"
	case Fatal:
		return "FATAL"
	case Silent:
		return "SILENT"
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// MarshalJSON writes the name, and null for None.
func (l Level) MarshalJSON() ([]byte, error) {
	if l == None {
		return []byte("null"), nil
	}
	return []byte(`"` + l.String() + `"`), nil
}

// UnmarshalJSON reads a name in any case, and null as None.
func (l *Level) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*l = None
		return nil
	}
	level, known := Parse(strings.Trim(string(text), `"`))
	if !known {
		return fmt.Errorf("%s is no log level", text)
	}
	*l = level
	return nil
}

// separators are what frameworks put between the segments of a name.
//
//nolint:gochecknoglobals // a replacer holds no state
var separators = strings.NewReplacer("/", ".", ":", ".")

// Normalize gives every spelling of a logger's name one text: segments are
// separated by dots and everything is in lower case.
func Normalize(name string) string { return strings.ToLower(separators.Replace(name)) }

// Parent is the name without its last segment; false for a single segment.
func Parent(key string) (string, bool) {
	dot := strings.LastIndexByte(key, '.')
	if dot < 0 {
		return "", false
	}
	return key[:dot], true
}
