package settings

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/signalbox/signalbox/internal/naming"
)

// given is a value, and the origin of the value for messages.
type given struct{ text, origin string }

// layers are the three sources.
type layers struct {
	flags   *pflag.FlagSet // nil means that every setting is read, without flags
	environ map[string]string
	file    map[string]given
}

// find returns a setting's value from the first source that has one. It ignores settings without a flag.
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

// variables returns KEY=VALUE entries as a map.
func variables(environ []string) map[string]string {
	named := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			named[name] = value
		}
	}
	return named
}

// unknownVariables returns warnings about variables that look like misspelled settings. They are not errors, because a newer
// version or other software may share the environment.
func unknownVariables(environ map[string]string) []string {
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(environ)) {
		if misspelled(name) && !madeByKubernetes(name, environ[name]) {
			warnings = append(warnings, fmt.Sprintf("%s is not a setting and is ignored%s", name, suggestion(name)))
		}
	}
	return warnings
}

// misspelled reports whether a name starts with SIGNALBOX_ but is not a setting or a variable of tests and
// clients.
func misspelled(name string) bool {
	switch {
	case !strings.HasPrefix(name, prefix), strings.HasPrefix(name, prefix+"TEST_"):
		return false
	case name == prefix+"URL", name == prefix+"API_KEY", name == prefix+"PROFILE": // for commands that call a server
		return false
	case name == prefix+"ENVIRONMENT", name == prefix+"SERVICE": // for services that use Signalbox
		return false
	}
	return !slices.ContainsFunc(table, func(row setting) bool { return row.name == name })
}

// madeByKubernetes reports whether a variable is one that Kubernetes sets for a Service named signalbox or signalbox-….
func madeByKubernetes(name, value string) bool {
	if strings.HasSuffix(name, "_PORT") && regexp.MustCompile(`^(tcp|udp|sctp)://`).MatchString(value) {
		return true
	}
	made := regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?$`)
	return made.MatchString(name)
}

// suggestion returns a question that names the most similar setting, or "" if none is similar.
func suggestion(name string) string {
	var known []string
	for _, row := range table {
		known = append(known, strings.TrimPrefix(row.name, prefix))
	}
	nearest := naming.Nearest(strings.TrimPrefix(name, prefix), known)
	if nearest == "" {
		return ""
	}
	return "; did you mean " + prefix + nearest + "?"
}
