package imports

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/hosts"
	"github.com/signalbox/signalbox/internal/naming"
)

// Names and reports are read by people who may not know the credentials in the lines of a crontab.

const redacted = "<redacted>"

// namesSecret reports whether the value of a header or parameter with a name, in lower case, is likely a credential.
func namesSecret(name string) bool {
	part := func(part string) bool { return strings.Contains(name, part) }
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "passw", "pwd", "credential", "signature"}, part) ||
		slices.Contains([]string{"pass", "pw", "sig", "code"}, name)
}

// parameter is a parameter of a URL's query or fragment.
var parameter = regexp.MustCompile(`([?&;#]?)([^?&;#=\s]+)=([^&;#\s]*)`)

// withoutSecrets returns a URL without its user information and the values of parameters that are likely credentials, and
// the name of the first of them.
func withoutSecrets(url string) (shown, secret string) {
	shown = parameter.ReplaceAllStringFunc(hosts.ReplaceUser(url, redacted), func(match string) string {
		parts := parameter.FindStringSubmatch(match)
		if !namesSecret(strings.ToLower(parts[2])) {
			return match
		}
		if secret == "" {
			secret = parts[2]
		}
		return parts[1] + parts[2] + "=" + redacted
	})
	return shown, secret
}

// nameFrom returns the name that a comment gives the job below it; "" if it gives none, or is a command that somebody switched off.
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
	// field is a field of a schedule.
	field = regexp.MustCompile(`^(\*|\d{1,2}|[A-Za-z]{3})([-/,](\*|\d{1,2}|[A-Za-z]{3}))*$`)
	// program is the name of a program, perhaps with its folders.
	program = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)
)

// gist returns the schedule and the program of a line, to recognize it by, and "" if they cannot be told. The rest of the
// line is not repeated: programs take passwords in too many ways to find them all.
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
