package levelfiles

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf16"

	"github.com/signalbox/signalbox/client/loglevel"
)

// Logback writes properties for the propertiesConfigurator of Logback 1.5.10 and later.
//
// Logback compares a hash of the file with the hash of its first poll, and does not read the file at that poll. A change
// between the start and the first poll is noticed when the window in the comment changes.
func Logback(loggers []Logger, options Options) []byte {
	var text bytes.Buffer
	text.WriteString("# Log levels from Signalbox\n")
	if !options.Window.IsZero() {
		text.WriteString("# " + options.Window.UTC().Format(time.RFC3339) + "\n")
	}
	each(loggers, func(name string, level loglevel.Level) {
		switch {
		case !isSafe(name) || isRoot(name) && level == loglevel.None:
		case isRoot(name):
			text.WriteString("logback.root=" + logbackLevel(level) + "\n")
		default:
			text.WriteString("logback.logger." + propertyKey(name) + "=" + logbackLevel(level) + "\n")
		}
	})
	return text.Bytes()
}

// logbackLevel returns Logback's name of a level. It has no FATAL.
func logbackLevel(level loglevel.Level) string {
	switch level {
	case loglevel.None:
		return "INHERITED"
	case loglevel.Fatal:
		return loglevel.Error.String()
	}
	return javaLevel(level)
}

// javaLevel returns the name of a level in Java's frameworks.
func javaLevel(level loglevel.Level) string {
	if level == loglevel.Silent {
		return "OFF"
	}
	return level.String()
}

// propertyKey escapes a name as the key of a property.
func propertyKey(name string) string {
	key := make([]byte, 0, len(name))
	for _, char := range name {
		switch {
		case char > '~' || char < ' ':
			for _, unit := range utf16.AppendRune(nil, char) {
				key = fmt.Appendf(key, `\u%04x`, unit)
			}
		case char == ' ' || char == ':' || char == '=' || char == '#' || char == '!' || char == '\\':
			key = append(key, '\\', byte(char))
		default:
			key = append(key, byte(char))
		}
	}
	return string(key)
}
