package naming

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/internal/fault"
)

// A name is shown in terminals and browsers, beside other names. An escape sequence in
// a name could control the reader's terminal, and a bidirectional override would change
// the order of the text around it.

// IsHidden reports whether a name must not contain r: control characters, line
// separators, and the bidirectional embeddings, overrides and isolates. The marks
// U+200E, U+200F and U+061C are allowed: each acts only like an invisible letter of its
// direction, and people who write from right to left need them.
func IsHidden(r rune) bool {
	return unicode.IsControl(r) || isSeparator(r) || '\u202A' <= r && r <= '\u202E' || '\u2066' <= r && r <= '\u2069'
}

func isSeparator(r rune) bool { return r == '\u2028' || r == '\u2029' }

// isLayout reports whether r is allowed in a text of several lines, but not in a name.
func isLayout(r rune) bool { return r == '\n' || r == '\t' }

// isHiddenInText is IsHidden for texts of several lines.
func isHiddenInText(r rune) bool { return IsHidden(r) && !isLayout(r) }

// HiddenRule returns the rule that a name with a hidden character breaks, as the end
// of a sentence; "" if text has no hidden character.
func HiddenRule(text string) string { return hiddenRule(text, IsHidden) }

func hiddenRule(text string, hidden func(rune) bool) string {
	at := strings.IndexFunc(text, hidden)
	if at < 0 {
		return ""
	}
	found := []rune(text[at:])[0]
	is := "which changes the order in which text is shown"
	switch {
	case isSeparator(found):
		is = "a line break"
	case unicode.IsControl(found):
		is = "a control character"
	}
	return fmt.Sprintf("must not contain U+%04X, %s", found, is)
}

// CheckHidden checks that the name at path has no hidden characters.
func CheckHidden(problems *fault.Problems, path, text string) {
	if rule := HiddenRule(text); rule != "" {
		problems.Attribute(path, "%s", rule)
	}
}

// Printable returns text without hidden characters, for names from browsers and
// identity providers: no person could be asked to correct them.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if IsHidden(r) {
			return -1
		}
		return r
	}, text)
}

// Visible returns text in one line, with a symbol for every hidden character: ␛ for
// an escape, <U+202E> for an override.
func Visible(text string) string { return visible(text, IsHidden) }

// VisibleText is Visible for text of several lines, which keeps its line breaks and tabs.
func VisibleText(text string) string { return visible(text, isHiddenInText) }

func visible(text string, hidden func(rune) bool) string {
	text = strings.ToValidUTF8(text, "\uFFFD") // a terminal that is not UTF-8 reads the byte 0x9B as an escape
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var shown strings.Builder
	for _, r := range text {
		if hidden(r) {
			shown.WriteString(symbol(r))
		} else {
			shown.WriteRune(r)
		}
	}
	return shown.String()
}

// symbol returns the symbol for a hidden character. Unicode's block Control Pictures
// has one for each control character, in the same order.
func symbol(r rune) string {
	const pictures, deleted = '\u2400', '\u2421'
	switch {
	case r < ' ':
		return string(pictures + r)
	case r == '\x7F':
		return string(deleted)
	}
	return fmt.Sprintf("<U+%04X>", r)
}
