package settings

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// given is a value and the place it stands, in the words of messages.
type given struct{ text, origin string }

// layers are the three sources.
type layers struct {
	flags   *pflag.FlagSet // nil: no flags, every setting is wanted
	environ map[string]string
	file    map[string]given
}

// find returns a row's value from the strongest source that has one. A row whose flag is not registered is not wanted by this command.
func (l layers) find(row setting) (given, bool) {
	if l.flags != nil {
		flag := l.flags.Lookup(row.flag())
		if flag == nil {
			return given{}, false
		}
		if flag.Changed {
			origin := fmt.Sprintf("--%s (%s)", row.flag(), row.name)
			return given{strings.TrimSpace(flag.Value.String()), origin}, true
		}
	}
	if text := strings.TrimSpace(l.environ[row.name]); text != "" {
		return given{text, row.name}, true
	}
	value, ok := l.file[row.name]
	return value, ok && value.text != ""
}

// variables splits KEY=VALUE entries.
func variables(environ []string) map[string]string {
	named := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			named[name] = value
		}
	}
	return named
}

// unknownVariables warns of names that look like settings and are none. They do not stop a start: an environment may be shared with
// a newer version or other software. Values are left out, they may be secrets.
func unknownVariables(environ map[string]string, rows []setting) []string {
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(environ)) {
		if strange(name, rows) && !madeByKubernetes(name, environ[name]) {
			warnings = append(warnings, fmt.Sprintf("%s is not a setting and is ignored%s", name, suggestion(name, rows)))
		}
	}
	return warnings
}

// strange tells a misspelt setting from names that others own.
func strange(name string, rows []setting) bool {
	switch {
	case !strings.HasPrefix(name, prefix), strings.HasPrefix(name, prefix+"TEST_"):
		return false
	case name == prefix+"URL", name == prefix+"API_KEY": // the command-line client reads these
		return false
	}
	return !known(rows, name)
}

// madeByKubernetes recognizes the variables every pod gets for a Service named signalbox or signalbox-…; nobody wrote those.
func madeByKubernetes(name, value string) bool {
	if strings.HasSuffix(name, "_PORT") && regexp.MustCompile(`^(tcp|udp|sctp)://`).MatchString(value) {
		return true
	}
	made := regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?$`)
	return made.MatchString(name)
}

// suggestion names the nearest setting, unless even that one shares too little to be what was meant.
func suggestion(name string, rows []setting) string {
	nearest := slices.MinFunc(rows, func(a, b setting) int { return distance(name, a.name) - distance(name, b.name) })
	if distance(name, nearest.name)*2 > len(name)-len(prefix) {
		return ""
	}
	return "; did you mean " + nearest.name + "?"
}

// distance is the number of single-character edits between two names (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
