package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	signalbox "github.com/signalbox/signalbox/client"
)

// Action is what a plan does with a resource.
type Action int

// The actions.
const (
	Keep Action = iota
	Create
	Update
	Delete
	Refuse // nothing, because it cannot be done
)

// Step is one resource of a plan.
type Step struct {
	Resource
	Action Action
	// sent are the attributes to write.
	sent attributes
	// before and after are the definitions of the resource; nil is none.
	before, after attributes
	// version is the version of the stored resource; "" if there is none.
	version string
	// Kept has the runtime members that differ from the file: the kept value, and the file's value.
	Kept []Difference
	// Warnings are the server's warnings about the resource.
	Warnings []signalbox.Warning
	// Late reports whether the server can check the resource only after others are written.
	Late bool
	// Untried reports whether there was no dry run, because the key may not write; see compareHere.
	Untried bool
	// refused is why the step cannot be done.
	refused error
}

// Options configure a plan.
type Options struct {
	// Owner is the owner of the resources; empty for none.
	Owner string
	// Prune deletes resources of the owner that are not in the files.
	Prune bool
	// TakeOver takes resources from other owners.
	TakeOver bool
	// ReadOnly makes a plan that is not applied. Without the right to write, compareHere replaces the dry run.
	ReadOnly bool
	// Variable returns a variable of the environment, for secrets; "" is none.
	Variable func(string) string
}

// Plan has the steps that apply files to a server.
type Plan struct {
	Steps   []*Step
	client  *signalbox.Client
	options Options
	owners  owners
	stored  map[string]attributes // the resources on the server, by name
	exact   bool                  // refuse to overwrite changes that were made after the plan
}

// workers is how many requests are made at once: just enough to keep a server busy.
const workers = 8

// New compares resources with the resources on a server. It changes nothing. If resources are refused, it returns both an
// error and a plan that shows the refusals.
func New(ctx context.Context, client *signalbox.Client, resources []Resource, options Options) (*Plan, error) {
	plan := &Plan{client: client, options: options, stored: map[string]attributes{}}
	if err := plan.readOwners(ctx, resources); err != nil {
		return nil, err
	}
	if err := plan.readStored(ctx, append(slices.Clone(resources), plan.unlisted(resources, nil)...)); err != nil {
		return nil, err
	}
	moved, err := plan.moved(resources)
	if err != nil {
		return nil, err
	}
	for _, resource := range resources {
		plan.Steps = append(plan.Steps, &Step{Resource: resource})
	}
	for _, resource := range append(plan.unlisted(resources, moved), moved...) {
		if stored, exists := plan.stored[resource.name()]; exists {
			plan.Steps = append(plan.Steps, &Step{Resource: resource, Action: Delete, before: pick(resource.Kind, stored), version: version(resource.Kind, stored)})
		}
	}
	plan.prepare()
	plan.refuseCycles()
	plan.try(ctx)
	if ctx.Err() != nil { // else every resource would have the same error
		return nil, errInterrupted
	}
	return plan, plan.problems()
}

// problems returns the errors of the refused steps.
func (p *Plan) problems() error {
	var problems []error
	for _, step := range p.Steps {
		if step.Action != Refuse {
			continue
		}
		if sentences, is := errors.AsType[invalid](step.refused); is {
			for _, sentence := range sentences {
				problems = append(problems, fmt.Errorf("%s: %s: %s", step.Source, step.label(), sentence))
			}
			continue
		}
		problems = append(problems, fmt.Errorf("%s: %s: %w", step.Source, step.label(), step.refused))
	}
	return errors.Join(problems...)
}

func (s *Step) refuse(err error) { s.Action, s.refused = Refuse, err }

// readStored reads all resources of the kinds that the plan has, and all environments.
func (p *Plan) readStored(ctx context.Context, resources []Resource) error {
	for _, kind := range signalbox.DocumentKinds() {
		if kind != "environment" && !slices.ContainsFunc(resources, func(r Resource) bool { return r.Kind == kind }) {
			continue
		}
		for document, err := range p.client.Documents.All(ctx, kind) {
			if err != nil {
				return err
			}
			members, err := membersOf(document)
			if err != nil {
				return fmt.Errorf("reading the %s %s of the server: %w", kind, document.ID, err)
			}
			p.stored[kind+":"+document.ID] = members
		}
	}
	return nil
}

// membersOf returns the attributes of a document.
func membersOf(document signalbox.Document) (members attributes, err error) {
	err = json.Unmarshal(document.Attributes, &members)
	return members, err
}

// prepare sets the action and the attributes to send of every step.
func (p *Plan) prepare() {
	for _, step := range p.Steps {
		if step.Action == Delete {
			continue
		}
		current := p.stored[step.name()]
		step.Action = Create
		if current != nil {
			step.Action, step.before, step.version = Update, pick(step.Kind, current), version(step.Kind, current)
		} else if current = p.stored[step.former().name()]; current != nil { // a moved resource is shown as a change
			step.before = pick(step.Kind, current)
		}
		step.sent, step.Kept, step.refused = p.send(step.Resource, current)
		if step.refused != nil && !p.options.ReadOnly {
			step.Action = Refuse
		}
	}
}

// send returns the attributes to write for a resource, and the runtime members that it keeps. current is the stored
// resource, or nil. If secrets cannot be read, it returns an error and attributes without them.
func (p *Plan) send(resource Resource, current attributes) (sent attributes, kept []Difference, err error) {
	declared, err := p.withSecrets(resource, current)
	sent, kept = p.keepRuntime(resource, complete(resource.Kind, resource.ID, declared, current), current)
	return sent, kept, err
}

// try sends every step as a dry run. It separates errors that stop the plan from errors that an earlier write of the plan
// will fix.
func (p *Plan) try(ctx context.Context) {
	several(p.Steps, func(step *Step) {
		if step.Action != Refuse {
			step.refused = p.tryStep(ctx, step)
		}
	})
	for _, step := range p.Steps {
		if step.refused != nil && step.Action != Refuse && p.isEarly(step, step.refused) {
			step.Late, step.refused, step.after = true, nil, pick(step.Kind, step.sent)
		}
	}
	for _, step := range p.Steps {
		if step.refused != nil {
			step.Action = Refuse
		}
	}
}

// Verify refuses the resources that had no dry run and are not valid by themselves, so that a key that may only read finds what
// validate finds. Its error has all refusals of the plan.
func (p *Plan) Verify() error {
	if slices.ContainsFunc(p.Steps, func(s *Step) bool { return s.Untried }) {
		schemas, err := compiledSchemas()
		if err != nil {
			return err
		}
		for _, step := range p.Steps {
			if !step.Untried || step.Action == Delete {
				continue
			}
			if found := faults(schemas, step.Resource); len(found) > 0 {
				step.refuse(invalid(found))
			}
		}
	}
	return p.problems()
}

// invalid is why a resource is refused before a server sees it: a sentence for each reason.
type invalid []string

func (i invalid) Error() string { return strings.Join(i, "\n") }

// several calls do for every step, up to workers at once.
func several(steps []*Step, do func(*Step)) {
	var group sync.WaitGroup
	busy := make(chan struct{}, workers)
	for _, step := range steps {
		busy <- struct{}{}
		group.Go(func() {
			do(step)
			<-busy
		})
	}
	group.Wait()
}

// tryStep gets the result of a step from a dry run. Missing secrets are no error if the key
// may not write and the plan is read-only.
func (p *Plan) tryStep(ctx context.Context, step *Step) error {
	document, err := p.write(ctx, step, signalbox.DryRun())
	switch {
	case p.options.ReadOnly && signalbox.IsForbidden(err):
		p.compareHere(step)
	case step.refused != nil:
		return step.refused
	case err != nil:
		return err
	case step.Action == Delete:
		return nil
	default:
		members, err := membersOf(document)
		if err != nil {
			return fmt.Errorf("reading the answer of the server: %w", err)
		}
		step.after = pick(step.Kind, members)
	}
	if step.Kind == "environment" && step.Action == Create { // the server creates it as managed
		for _, name := range []string{"managed", "classification"} {
			if declared, exists := step.sent[name]; exists {
				step.after[name] = declared
			}
		}
	}
	if document.Notes != nil {
		step.Warnings = document.Notes.Warnings
	}
	if step.Action == Update && same(step.Kind, step.before, step.after) {
		step.Action = Keep
	}
	return nil
}

// Owner returns the owner of the resources; "" if there is none.
func (p *Plan) Owner() string { return p.options.Owner }

// Different reports whether the plan changes anything.
func (p *Plan) Different() bool { return p.Count(Keep) != len(p.Steps) || p.Claims() > 0 }

// Count returns how many steps have an action.
func (p *Plan) Count(action Action) (count int) {
	for _, step := range p.Steps {
		if step.Action == action {
			count++
		}
	}
	return count
}
