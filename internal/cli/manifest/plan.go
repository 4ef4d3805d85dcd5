package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
)

// Step is one resource of a plan.
type Step struct {
	Resource
	Action Action
	// sent are the attributes to write.
	sent attributes
	// before and after are the definitions of the resource; nil is none.
	before, after attributes
	// Warnings are the server's warnings about the resource.
	Warnings []signalbox.Warning
	// Late reports whether the server can only check the resource when the resources that it refers to are written.
	Late bool
	// refused is why the server did not accept the dry run.
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
	// Variable returns a variable of the environment, for secrets; "" is none.
	Variable func(string) string
}

// Plan has the steps that apply files to a server.
type Plan struct {
	Steps   []*Step
	client  *signalbox.Client
	options Options
	owners  owners
	stored  map[string]attributes // the server's resources, by name
}

// workers is how many requests are made at once: just enough to keep a server busy.
const workers = 8

// New compares resources with the resources of a server. It changes nothing.
func New(ctx context.Context, client *signalbox.Client, resources []Resource, options Options) (*Plan, error) {
	plan := &Plan{client: client, options: options, stored: map[string]attributes{}}
	if err := plan.readOwners(ctx, resources); err != nil {
		return nil, err
	}
	pruned := plan.unlisted(resources)
	if err := plan.readStored(ctx, append(slices.Clone(resources), pruned...)); err != nil {
		return nil, err
	}
	for _, resource := range resources {
		plan.Steps = append(plan.Steps, &Step{Resource: resource})
	}
	for _, resource := range pruned {
		if before, exists := plan.stored[resource.name()]; exists {
			plan.Steps = append(plan.Steps, &Step{Resource: resource, Action: Delete, before: pick(resource.Kind, before)})
		}
	}
	if err := plan.prepare(); err != nil {
		return nil, err
	}
	return plan, plan.try(ctx)
}

// readStored reads all resources of the kinds in question.
func (p *Plan) readStored(ctx context.Context, resources []Resource) error {
	for _, kind := range signalbox.DocumentKinds() {
		if !slices.ContainsFunc(resources, func(r Resource) bool { return r.Kind == kind }) {
			continue
		}
		for document, err := range p.client.Documents.All(ctx, kind) {
			if err != nil {
				return err
			}
			var members attributes
			if err := json.Unmarshal(document.Attributes, &members); err != nil {
				return fmt.Errorf("reading the %s %s of the server: %w", kind, document.ID, err)
			}
			p.stored[kind+":"+document.ID] = members
		}
	}
	return nil
}

// prepare sets the action and the attributes of every step.
func (p *Plan) prepare() error {
	var problems []error
	for _, step := range p.Steps {
		if step.Action == Delete {
			continue
		}
		current := p.stored[step.name()]
		step.Action = Create
		if current != nil {
			step.Action, step.before = Update, pick(step.Kind, current)
		}
		declared, err := p.withSecrets(step.Resource, current)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %w", step.Source, step.label(), err))
			continue
		}
		step.sent = complete(step.Kind, step.ID, declared, current)
	}
	return errors.Join(problems...)
}

// try sends every step as a dry run. It separates errors that stop the plan from errors that an earlier write of the plan
// will fix.
func (p *Plan) try(ctx context.Context) error {
	several(p.Steps, func(step *Step) { step.refused = p.tryStep(ctx, step) })
	var problems []error
	for _, step := range p.Steps {
		switch {
		case step.refused == nil:
		case p.isEarly(step, step.refused):
			step.Late, step.after = true, pick(step.Kind, step.sent)
		default:
			problems = append(problems, fmt.Errorf("%s: %s: %w", step.Source, step.label(), step.refused))
		}
	}
	return errors.Join(problems...)
}

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

// tryStep sends a step as a dry run and records the result.
func (p *Plan) tryStep(ctx context.Context, step *Step) error {
	document, err := p.write(ctx, step, signalbox.DryRun())
	if err != nil || step.Action == Delete {
		return err
	}
	var members attributes
	if err := json.Unmarshal(document.Attributes, &members); err != nil {
		return fmt.Errorf("reading the answer of the server: %w", err)
	}
	step.after = pick(step.Kind, members)
	if step.Kind == "environment" && step.Action == Create { // the server creates it managed; applyStep changes that
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

// Different reports whether the plan changes anything.
func (p *Plan) Different() bool {
	return slices.ContainsFunc(p.Steps, func(s *Step) bool { return s.Action != Keep }) || p.owners.taken(p.options.Owner, p.Steps)
}

// Count returns how many steps have an action.
func (p *Plan) Count(action Action) (count int) {
	for _, step := range p.Steps {
		if step.Action == action {
			count++
		}
	}
	return count
}
