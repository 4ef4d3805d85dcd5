package manifest

import (
	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// Report is a plan for programs: what Print shows, as JSON.
type Report struct {
	Create int `json:"create"`
	Change int `json:"change"`
	Delete int `json:"delete"`
	Same   int `json:"same"`
	Refuse int `json:"refuse"`
	// Own is how many resources the owner gets without another change.
	Own int `json:"own"`
	// Steps has the resources that Print shows; Same counts the others too.
	Steps []ReportedStep `json:"steps"`
	// Errors are why there is no plan.
	Errors []string `json:"errors"`
}

// ReportedStep is one resource of a report.
type ReportedStep struct {
	Action    string `json:"action"` // keep, create, change, delete or refuse
	Kind      string `json:"kind"`
	ID        string `json:"id"`
	Source    string `json:"source,omitempty"` // the file and the line
	MovedFrom string `json:"moved_from,omitempty"`
	// Tried reports whether the server tried the write; see Step.Late and Step.Untried.
	Tried       bool                 `json:"tried"`
	Differences []ReportedDifference `json:"differences"`
	Kept        []ReportedKept       `json:"kept"`
	Warnings    []signalbox.Warning  `json:"warnings"`
	Errors      []string             `json:"errors"` // why it is refused
}

// ReportedDifference is one value that a step changes; null is no value.
type ReportedDifference struct {
	Path   string `json:"path"`
	Before any    `json:"before"`
	After  any    `json:"after"`
}

// ReportedKept is a runtime member that keeps its value.
type ReportedKept struct {
	Path     string `json:"path"`
	Value    any    `json:"value"`
	Declared any    `json:"declared"` // the value in the file
}

// NoPlan returns the report of a plan that could not be made.
func NoPlan(err error) Report {
	return Report{Steps: []ReportedStep{}, Errors: terminal.Sentences(err)}
}

// Report returns a plan for programs. Like Print, it has no secrets of jobs.
func (p *Plan) Report() Report {
	report := Report{Create: p.Count(Create), Change: p.Count(Update), Delete: p.Count(Delete), Same: p.Count(Keep),
		Refuse: p.Count(Refuse), Own: p.Claims(), Steps: []ReportedStep{}, Errors: []string{}}
	for _, step := range p.Steps {
		if step.shown() {
			report.Steps = append(report.Steps, step.report())
		}
	}
	return report
}

func (s *Step) report() ReportedStep {
	reported := ReportedStep{
		Action: s.Action.name(), Kind: s.Kind, ID: s.ID, Source: s.Source, MovedFrom: s.MovedFrom, Tried: !s.Late && !s.Untried && s.Action != Refuse,
		Differences: []ReportedDifference{}, Kept: []ReportedKept{}, Warnings: append([]signalbox.Warning{}, s.Warnings...), Errors: []string{},
	}
	if s.Action == Refuse {
		reported.Errors = terminal.Sentences(s.refused)
	}
	if s.Action == Create || s.Action == Update {
		for _, each := range s.Differences() {
			reported.Differences = append(reported.Differences, ReportedDifference(each))
		}
	}
	for _, each := range s.Kept {
		reported.Kept = append(reported.Kept, ReportedKept{each.Path, each.Before, each.After})
	}
	return reported
}
