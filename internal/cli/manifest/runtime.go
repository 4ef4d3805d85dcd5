package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/naming"
)

// everyEnvironment begins the path of a member of all environments.
const everyEnvironment = "environments.*."

// ofEnvironments returns the members of an environment in a resource; nil if the kind has no environments, or if their
// members may have any name.
func ofEnvironments(kind string) []string {
	return map[string][]string{
		"flag": {"enabled", "default", "rules"}, "logger": {"level", "expires_at"}, "log_group": {"level", "expires_at"},
	}[kind]
}

// readRuntime takes the names of runtime members out of the attributes.
func (r *Resource) readRuntime() error {
	text, exists := r.Attributes["runtime"]
	if !exists {
		return nil
	}
	delete(r.Attributes, "runtime")
	var names []string
	if json.Unmarshal(text, &names) != nil {
		return fmt.Errorf("the %s: runtime must be a list of members such as [enabled, rules]", r.label())
	}
	for _, name := range names {
		path, err := runtimePath(r.Kind, name)
		if err != nil {
			return fmt.Errorf("the %s: runtime: %w", r.label(), err)
		}
		r.Runtime = append(r.Runtime, path)
		if above, is := strings.CutSuffix(path, ".level"); is { // a level and its expiry belong together
			r.Runtime = append(r.Runtime, above+".expires_at")
		} else if path == "level" {
			r.Runtime = append(r.Runtime, "level_expires_at")
		}
	}
	return nil
}

// runtimePath returns the path for a name: of a member, of a member below it, or of a member of every environment.
func runtimePath(kind, name string) (string, error) {
	member, below, _ := strings.Cut(name, ".")
	perEnvironment := ofEnvironments(kind)
	switch {
	case !slices.Contains(definition(kind), member):
		if slices.Contains(perEnvironment, name) {
			return everyEnvironment + name, nil
		}
		known := append(definition(kind), perEnvironment...)
		return "", fmt.Errorf("a %s has no member %q.%s", kind, name, naming.DidYouMean(name, known))
	case member != "environments" || below == "" || perEnvironment == nil:
		return name, nil
	}
	// The id of an environment may have dots itself.
	endsIn := func(each string) bool { return strings.HasSuffix(below, "."+each) }
	if !strings.Contains(below, ".") || slices.ContainsFunc(perEnvironment, endsIn) {
		return name, nil
	}
	return "", fmt.Errorf("%s must name an environment, or end in one of %s after it", name, strings.Join(perEnvironment, ", "))
}

// keepRuntime returns the attributes to send, with the stored values of runtime members, and how the file differs from them.
func (p *Plan) keepRuntime(resource Resource, sent, current attributes) (kept attributes, overruled []Difference) {
	if len(resource.Runtime) == 0 || current == nil {
		return sent, nil
	}
	after := raw(sent)
	stored := raw(p.withoutFrozen(sent, pick(resource.Kind, current)))
	for _, path := range resource.Runtime {
		after = overlay(path, after, stored)
	}
	if json.Unmarshal(after, &kept) != nil {
		return sent, nil
	}
	shown, declared := kept, sent
	if hasHeaders(resource.Kind) {
		declared, shown = hide(declared, shown)
	}
	return kept, differences("", decode(raw(shown)), decode(raw(declared)))
}

// withoutFrozen returns the stored members without the frozen environments that a file leaves out: the server keeps these,
// and refuses to write a part of them.
func (p *Plan) withoutFrozen(sent, stored attributes) attributes {
	declared, values := sent.objects("environments"), stored.objects("environments")
	for environment := range values {
		if _, is := declared[environment]; !is && p.isFrozen(environment) {
			delete(values, environment)
			stored["environments"] = raw(values)
		}
	}
	return stored
}

// isFrozen reports whether the server has an environment that is not managed, whose values cannot be written.
func (p *Plan) isFrozen(environment string) bool {
	return string(p.stored["environment:"+environment]["managed"]) == "false"
}

// overlay replaces the value at a path below a declared value with the stored one. If nothing is stored above the path, such
// as for a new environment, the declared value stays as a first value.
func overlay(path string, declared, stored json.RawMessage) json.RawMessage {
	if path == "" {
		return stored
	}
	var have, want attributes
	if json.Unmarshal(stored, &have) != nil || have == nil {
		return declared
	}
	if json.Unmarshal(declared, &want) != nil || want == nil {
		want = attributes{}
	}
	for name := range have {
		if rest, is := below(path, name); is {
			want[name] = overlay(rest, want[name], have[name])
		}
	}
	for name := range want { // a member that people removed is not added again
		if rest, is := below(path, name); is && rest == "" && have[name] == nil {
			delete(want, name)
		}
	}
	return raw(want)
}

// below returns the rest of a path after a member, and whether the path leads through it. A star matches every member.
func below(path, name string) (rest string, leads bool) {
	for _, first := range []string{name, "*"} {
		if path == first {
			return "", true
		}
		if rest, is := strings.CutPrefix(path, first+"."); is {
			return rest, true
		}
	}
	return "", false
}
