package imports

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/hosts"
	"github.com/signalbox/signalbox/internal/naming"
)

// Names and reports must not show credentials in the lines of a crontab: their readers may not be allowed to know them.

// namesSecret reports whether a header or parameter is likely a credential, by its name in lower case.
func namesSecret(name string) bool {
	part := func(part string) bool { return strings.Contains(name, part) }
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "passw", "pwd", "credential", "signature"}, part) ||
		slices.Contains([]string{"pass", "pw", "sig", "code"}, name)
}

// parameter is a parameter of a URL's query or fragment.
var parameter = regexp.MustCompile(`([?&;#]?)([^?&;#=\s]+)=([^&;#\s]*)`)

// withoutSecrets returns a URL without its user information and without the values of parameters that are likely
// credentials, and the name of the first such parameter.
func withoutSecrets(url string) (shown, secret string) {
	shown = parameter.ReplaceAllStringFunc(hosts.RedactUser(url), func(match string) string {
		parts := parameter.FindStringSubmatch(match)
		if !namesSecret(strings.ToLower(parts[2])) {
			return match
		}
		if secret == "" {
			secret = parts[2]
		}
		return parts[1] + parts[2] + "=" + hosts.Redacted
	})
	return shown, secret
}

// nameFrom returns the name for a job from the comment above it, or "" if the comment is empty or is a commented-out command.
func nameFrom(comment string) string {
	words := strings.Fields(naming.Printable(strings.ReplaceAll(comment, "\t", " ")))
	if len(words) == 0 || gist(comment) != "" || slices.ContainsFunc(words, func(word string) bool { return word == "curl" || word == "wget" }) {
		return ""
	}
	for i, word := range words {
		words[i], _ = withoutSecrets(word)
	}
	return strings.Join(words, " ")
}

var (
	// field matches a field of a schedule.
	field = regexp.MustCompile(`^(\*|\d{1,2}|[A-Za-z]{3})([-/,](\*|\d{1,2}|[A-Za-z]{3}))*$`)
	// program matches the name of a program, with or without its folders.
	program = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)
)

// gist returns the schedule and the program of a line, so that people recognize the line, or "" if it has no valid schedule.
// It leaves out the rest of the line: programs take passwords in too many ways to find them all.
func gist(line string) string {
	schedule, command, err := cronSchedule(line)
	if err != nil || slices.ContainsFunc(strings.Fields(schedule), func(each string) bool { return !field.MatchString(each) }) {
		return ""
	}
	if words := strings.Fields(command); len(words) > 0 && program.MatchString(words[0]) {
		schedule += " " + words[0]
	}
	return ": " + schedule + " …"
}
