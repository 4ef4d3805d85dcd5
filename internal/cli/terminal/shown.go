package terminal

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/naming"
)

// Names, descriptions and errors come from a server, where other people wrote them. An escape sequence in a name could
// control the reader's terminal. Everything that is printed for people goes through Sprintf, Paint or a table, which replace
// every such character by a symbol; JSON and YAML have escapes for them.

// Shown is text that is safe to print on a terminal.
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

// Fprintf writes the text that Sprintf formats. A Terminal keeps the error; on stderr, an error could not be printed either.
func Fprintf(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, string(Sprintf(format, args...)))
}

// visible prints a value as fmt does, with symbols for hidden characters.
type visible struct{ value any }

// Format implements fmt.Formatter.
func (v visible) Format(state fmt.State, verb rune) {
	_, _ = io.WriteString(state, naming.Visible(fmt.Sprintf(fmt.FormatString(state, verb), v.value)))
}

// EscapeJSON returns an equivalent JSON text whose strings have escapes for all control characters and bidirectional
// overrides. Encoders leave some of them unescaped.
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

// isUnescaped reports whether a character is hidden and may be unescaped in a JSON string. JSON always escapes characters
// below a space in strings, so outside of escapes they only stand between values.
func isUnescaped(r rune) bool { return r >= ' ' && naming.IsHidden(r) }
