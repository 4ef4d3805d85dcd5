package manifest

import (
	"fmt"

	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Print prints the changed, kept and refused resources of a plan, resources with warnings, and a line with their numbers.
func (p *Plan) Print(t *terminal.Terminal) {
	for _, step := range p.Steps {
		if step.shown() {
			step.print(t)
		}
		for _, warning := range step.Warnings {
			t.Say("    %s\n", t.Paint(terminal.Warn, "! "+warning.Detail))
		}
	}
	t.Say("%d to create, %d to change, %d to delete, %d the same%s.\n", p.Count(Create), p.Count(Update), p.Count(Delete), p.Count(Keep), p.more())
	untried := 0
	for _, step := range p.Steps {
		if step.Untried {
			untried++
		}
	}
	if untried > 0 {
		t.Say("This key may not try %d of them: they were compared without the server's rules, so it may still refuse them.\n", untried)
	}
}

// more returns the counts that are zero in most plans.
func (p *Plan) more() (text string) {
	if count := p.Count(Refuse); count > 0 {
		text += fmt.Sprintf(", %d refused", count)
	}
	if count := p.Claims(); count > 0 {
		text += fmt.Sprintf(", %d to own", count)
	}
	return text
}

// shown reports whether a step is printed: it changes something, keeps runtime members or has warnings.
func (s *Step) shown() bool { return s.Action != Keep || len(s.Kept) > 0 || len(s.Warnings) > 0 }

func (s *Step) print(t *terminal.Terminal) {
	mark, color := "~", terminal.Warn
	switch s.Action {
	case Keep:
		mark, color = "=", terminal.Faint
	case Create:
		mark, color = "+", terminal.Good
	case Delete:
		mark, color = "-", terminal.Bad
	case Refuse:
		s.printRefusal(t)
		return
	}
	t.Say("%s\n", t.Paint(color, mark+" "+s.title()))
	if s.Action == Delete {
		return
	}
	for _, each := range s.Differences() {
		if each.Before != nil {
			t.Say("    %s\n", t.Paint(terminal.Bad, "- "+each.Path+": "+text(t, each.Before)))
		}
		if each.After != nil {
			t.Say("    %s\n", t.Paint(terminal.Good, "+ "+each.Path+": "+text(t, each.After)))
		}
	}
	for _, each := range s.Kept {
		t.Say("    %s\n", t.Paint(terminal.Faint, "= "+each.Path+": "+text(t, each.Before)+"  (kept"+says(t, each.After)+")"))
	}
}

// title names the resource, and says what is special about the step.
func (s *Step) title() string {
	title := s.label()
	switch {
	case s.Kind == "logger" && s.Action == Delete:
		title += "  (its levels; reports of services stay)"
	case s.Action == Create && s.before != nil:
		title += "  (was " + s.MovedFrom + ")"
	}
	if s.Late {
		title += "  (checked after the resources that it refers to are written)"
	}
	return title
}

// says returns the end of a sentence about a kept member: the value in the file.
func says(t *terminal.Terminal, declared any) string {
	if declared == nil {
		return ""
	}
	return "; the file says " + text(t, declared)
}

func (s *Step) printRefusal(t *terminal.Terminal) {
	t.Say("%s\n", t.Paint(terminal.Bad, "! "+s.label()+"  ("+s.Source+")"))
	for _, line := range terminal.Sentences(s.refused) {
		t.Say("    %s\n", line)
	}
}

// Differences returns the changes of the step, without secrets.
func (s *Step) Differences() (found []Difference) {
	before, after := s.before, s.after
	if hasHeaders(s.Kind) {
		before, after = hide(before, after)
	}
	for _, name := range definition(s.Kind) {
		found = append(found, differences(name, decode(before[name]), decode(after[name]))...)
	}
	return found
}

// text returns a value as JSON. Long values are cut on a terminal only.
func text(t *terminal.Terminal, value any) string {
	const limit = 200
	line, err := rawjson.Encode(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if runes := []rune(string(line)); t.Cuts() && len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return string(line)
}
