// Package naming has the common rules for keys, names and descriptions of all
// resources. Each resource has its own lengths.
package naming

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
)

// MaxKey is how long the key of most resources may be.
const MaxKey = 200

// IsKey reports whether text may be the key of a resource.
func IsKey(text string, maximum int) bool {
	if text == "" || len(text) > maximum || !isLetterOrDigit(text[0]) {
		return false
	}
	for i := range len(text) {
		if !isLetterOrDigit(text[i]) && text[i] != '.' && text[i] != '_' && text[i] != '-' {
			return false
		}
	}
	return true
}

func isLetterOrDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// KeyRule returns the rule of keys as the end of a sentence.
func KeyRule(maximum int) string {
	return fmt.Sprintf("must be 1 to %d letters, digits, dots, underscores or hyphens and start with a letter or digit", maximum)
}

// IsLabel reports whether text may be a name that a program has chosen.
func IsLabel(text string, maximum int) bool {
	return Fits(text, 1, maximum) && !strings.ContainsFunc(text, IsHidden)
}

// LabelRule returns the rule of labels as the end of a sentence.
func LabelRule(maximum int) string {
	return fmt.Sprintf("must have 1 to %d characters and no control characters or bidirectional overrides", maximum)
}

// InPath reports whether a URL path can contain a key: clients remove the
// segments . and .. from a path, and a slash alone is no segment.
func InPath(key string) bool { return key != "/" && key != "." && key != ".." }

// PathRule is the rule of InPath as the end of a sentence.
const PathRule = `must not be "/", "." or "..", which no path can name`

// Fits reports whether text has minimum to maximum characters.
func Fits(text string, minimum, maximum int) bool {
	length := utf8.RuneCountInString(text)
	return minimum <= length && length <= maximum
}

// CheckID checks the id of a new resource, which is its key.
func CheckID(problems *fault.Problems, id optional.Value[string], maximum int, resource string) {
	key, sent := id.Get()
	switch {
	case !sent:
		problems.Add(fault.New(fault.Validation, "id is required: it is the %s's key.", resource).At(fault.Pointer("/data/id")))
	case !IsKey(key, maximum):
		problems.Add(fault.New(fault.Validation, "id %s.", KeyRule(maximum)).At(fault.Pointer("/data/id")))
	}
}

// CheckName checks a name that may be left out.
func CheckName(problems *fault.Problems, name optional.Value[string], maximum int) {
	text, sent := name.Get()
	if !sent {
		return
	}
	if !Fits(text, 1, maximum) {
		problems.Attribute("name", "must have 1 to %d characters", maximum)
	}
	CheckHidden(problems, "name", text)
}

// RequireName checks a name that may not be left out.
func RequireName(problems *fault.Problems, name optional.Value[string], maximum int) {
	if _, sent := name.Get(); !sent {
		problems.Attribute("name", "is required and must have 1 to %d characters", maximum)
		return
	}
	CheckName(problems, name, maximum)
}

// CheckDescription checks the description at path. It may have several lines.
func CheckDescription(problems *fault.Problems, path, text string, maximum int) {
	if !Fits(text, 0, maximum) {
		problems.Attribute(path, "must have at most %d characters", maximum)
	}
	if rule := hiddenRule(strings.ReplaceAll(text, "\r\n", "\n"), isHiddenInText); rule != "" {
		problems.Attribute(path, "%s", rule)
	}
}
