// Package naming has the rules that the keys, names and descriptions of all
// resources share. How long they may be is for each resource to say.
package naming

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
)

// MaxKey is how long the key of most resources may be.
const MaxKey = 200

// IsKey tells whether a text may be the key of a resource, which people choose
// and paths carry.
func IsKey(text string, maximum int) bool {
	if text == "" || len(text) > maximum || !isLetterOrDigit(text[0]) {
		return false
	}
	for i := range len(text) {
		if c := text[i]; !isLetterOrDigit(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isLetterOrDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// KeyRule says what a key must be.
func KeyRule(maximum int) string {
	return fmt.Sprintf("must be 1 to %d letters, digits, dots, underscores or hyphens and start with a letter or digit", maximum)
}

// IsLabel tells whether a text that a program chose may name something.
func IsLabel(text string, maximum int) bool {
	return Fits(text, 1, maximum) && !strings.ContainsFunc(text, unicode.IsControl)
}

// InPath tells whether a path can name a key. Clients take the segments . and ..
// out of a path whatever they stand for, and a slash alone is no segment.
func InPath(key string) bool { return key != "/" && key != "." && key != ".." }

// PathRule says what keys no path can name.
const PathRule = `must not be "/", "." or "..", which no path can name`

// Fits tells whether a text has so many characters.
func Fits(text string, minimum, maximum int) bool {
	length := utf8.RuneCountInString(text)
	return minimum <= length && length <= maximum
}

// CheckID notes what is wrong with the id of a new resource, which is its key.
func CheckID(problems *fault.Problems, id optional.Value[string], maximum int, resource string) {
	key, sent := id.Get()
	switch {
	case !sent:
		problems.Add(fault.New(fault.Validation, "id is required: it is the %s's key.", resource).At(fault.Pointer("/data/id")))
	case !IsKey(key, maximum):
		problems.Add(fault.New(fault.Validation, "id %s.", KeyRule(maximum)).At(fault.Pointer("/data/id")))
	}
}

// CheckName notes what is wrong with a name that may be left out.
func CheckName(problems *fault.Problems, name optional.Value[string], maximum int) {
	if text, sent := name.Get(); sent && !Fits(text, 1, maximum) {
		problems.Attribute("name", "must have 1 to %d characters", maximum)
	}
}

// RequireName notes what is wrong with a name that may not be left out.
func RequireName(problems *fault.Problems, name optional.Value[string], maximum int) {
	if _, sent := name.Get(); !sent {
		problems.Attribute("name", "is required and must have 1 to %d characters", maximum)
		return
	}
	CheckName(problems, name, maximum)
}

// CheckDescription notes that the description at path is too long.
func CheckDescription(problems *fault.Problems, path, text string, maximum int) {
	if !Fits(text, 0, maximum) {
		problems.Attribute(path, "must have at most %d characters", maximum)
	}
}
