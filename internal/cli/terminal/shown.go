package terminal

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/naming"
)

// Names, descriptions and errors come from a server, where other people wrote them. Printed as they are, an escape
// sequence in a name would command the reader's terminal. Everything that is printed for people goes through Sprintf,
// Paint or a table, which put a symbol in the place of every such character; JSON and YAML have escapes for them.

// Shown is text that a terminal can be given as it is.
type Shown string

// Sprintf formats text for a terminal: each argument that is not Shown is printed in one line, with symbols for control
// characters and bidirectional overrides.
func Sprintf(format string, args ...any) Shown {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = arg
		if _, is := arg.(Shown); !is {
			safe[i] = visible{arg}
		}
	}
	return Shown(fmt.Sprintf(format, safe...))
}

// Fprintf writes what Sprintf returns.
func Fprintf(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, string(Sprintf(format, args...))) // as with fmt.Printf: there is nobody left to tell
}

// visible prints a value as fmt does, with symbols for hidden characters.
type visible struct{ value any }

// Format implements fmt.Formatter.
func (v visible) Format(state fmt.State, verb rune) {
	_, _ = io.WriteString(state, naming.Visible(fmt.Sprintf(fmt.FormatString(state, verb), v.value)))
}

// EscapeJSON returns a JSON text whose strings have escapes for all control characters and bidirectional overrides;
// encoders leave some of them as they are. It means the same.
func EscapeJSON(document []byte) []byte {
	if bytes.IndexFunc(document, isUnescaped) < 0 {
		return document
	}
	var escaped bytes.Buffer
	for rest := document; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if isUnescaped(r) {
			fmt.Fprintf(&escaped, `\u%04x`, r)
		} else {
			escaped.Write(rest[:size])
		}
		rest = rest[size:]
	}
	return escaped.Bytes()
}

// isUnescaped reports whether a JSON text can have a hidden character as it is: those below a space only stand between
// values, because JSON itself asks for escapes of them in strings.
func isUnescaped(r rune) bool { return r >= ' ' && naming.IsHidden(r) }
