package manifest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// Print writes the changes of a plan, and a line with their counts.
func (p *Plan) Print(w io.Writer, paint func(terminal.Colour, string) terminal.Shown) {
	for _, step := range p.Steps {
		if step.Action != Keep {
			step.print(w, paint)
		}
		for _, warning := range step.Warnings {
			terminal.Fprintf(w, "    %s\n", paint(terminal.Warn, "! "+warning.Detail))
		}
	}
	terminal.Fprintf(w, "%d to create, %d to change, %d to delete, %d the same.\n", p.Count(Create), p.Count(Update), p.Count(Delete), p.Count(Keep))
}

func (s *Step) print(w io.Writer, paint func(terminal.Colour, string) terminal.Shown) {
	mark, colour := "~", terminal.Warn
	switch s.Action {
	case Create:
		mark, colour = "+", terminal.Good
	case Delete:
		mark, colour = "-", terminal.Bad
	}
	title := mark + " " + s.label()
	if s.Kind == "logger" && s.Action == Delete {
		title += "  (its levels; reports of services stay)"
	}
	if s.Late {
		title += "  (checked after the resources that it refers to are written)"
	}
	terminal.Fprintf(w, "%s\n", paint(colour, title))
	if s.Action == Delete {
		return
	}
	for _, each := range s.Differences() {
		if each.Before != nil {
			terminal.Fprintf(w, "    %s\n", paint(terminal.Bad, "- "+each.Path+": "+text(each.Before)))
		}
		if each.After != nil {
			terminal.Fprintf(w, "    %s\n", paint(terminal.Good, "+ "+each.Path+": "+text(each.After)))
		}
	}
}

// Differences returns the changes of the step, without the secrets of jobs.
func (s *Step) Differences() (found []Difference) {
	before, after := s.before, s.after
	if s.Kind == "job" {
		before, after = hide(before, after)
	}
	for _, name := range definition(s.Kind) {
		found = append(found, differences(name, decode(before[name]), decode(after[name]))...)
	}
	return found
}

// text returns a value as JSON, cut to fit on a screen.
func text(value any) string {
	const limit = 200
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	line := strings.TrimSpace(encoded.String())
	if runes := []rune(line); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return line
}
