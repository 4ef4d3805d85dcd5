package manifest

import (
	"errors"
	"slices"
	"strings"

	signalbox "github.com/signalbox/signalbox/client"
)

// isEarly reports whether a dry run was refused only because of references to resources that the plan has yet to create or
// change.
func (p *Plan) isEarly(step *Step, err error) bool {
	refused, is := errors.AsType[*signalbox.APIError](err)
	if !is || len(refused.Errors) == 0 {
		return false
	}
	return !slices.ContainsFunc(refused.Errors, func(entry signalbox.ErrorEntry) bool { return !p.isEarlyProblem(step, entry) })
}

func (p *Plan) isEarlyProblem(step *Step, entry signalbox.ErrorEntry) bool {
	if step.Action == Delete {
		return entry.Code == signalbox.CodeConfigInUse && p.hasOther("config", step.ID)
	}
	if entry.Code != signalbox.CodeValidation && entry.Code != signalbox.CodeEnvironmentUnmanaged || entry.Source.Pointer == nil {
		return false
	}
	below, is := strings.CutPrefix(*entry.Source.Pointer, "/data/attributes/")
	if !is {
		return false
	}
	member, rest, _ := strings.Cut(below, "/")
	switch {
	case member == "environments" && p.writes("environment:"+unescape(rest)):
		return true
	case member == "group" || member == "group_id":
		return p.writes("log_group:" + step.sent.text("group"))
	case step.Kind == "config": // parents declare items, and children override them
		return (member == "parent" || member == "items" || member == "environments") && p.hasOther("config", step.ID)
	default:
		return false
	}
}

// unescape returns the first segment of a JSON pointer as a name.
func unescape(pointer string) string {
	segment, _, _ := strings.Cut(pointer, "/")
	return strings.ReplaceAll(strings.ReplaceAll(segment, "~1", "/"), "~0", "~")
}

// writes reports whether the plan creates or changes a resource.
func (p *Plan) writes(name string) bool {
	return slices.ContainsFunc(p.Steps, func(s *Step) bool { return (s.Action == Create || s.Action == Update) && s.name() == name })
}

// hasOther reports whether the plan changes another resource of a kind.
func (p *Plan) hasOther(kind, id string) bool {
	return slices.ContainsFunc(p.Steps, func(s *Step) bool { return s.Action != Keep && s.Kind == kind && s.ID != id })
}
