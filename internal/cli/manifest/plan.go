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
	// version is that of the resource on the server; "" for none.
	version string
	// Kept are the runtime members that the server has otherwise than the file: what is kept, and what the file says.
	Kept []Difference
	// Warnings are what the server found odd about it.
	Warnings []signalbox.Warning
	// Late reports whether the server can only check the resource when the resources that it refers to are written.
	Late bool
	// Untried reports that the key may not try it: it was compared here.
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
	// ReadOnly makes a plan that is not applied: what the key may not try is compared here.
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
	stored  map[string]attributes // what the server has, by name
	exact   bool                  // refuse to write what others changed after the plan was made
}

// workers is how many requests are made at once: just enough to keep a server busy.
const workers = 8

// New compares resources with what a server has. Nothing is changed. When resources are refused there is a plan beside the
// error, which shows them.
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
	return plan, plan.problems()
}

// problems returns why steps are refused.
func (p *Plan) problems() error {
	var problems []error
	for _, step := range p.Steps {
		if step.Action == Refuse {
			problems = append(problems, fmt.Errorf("%s: %s: %w", step.Source, step.label(), step.refused))
		}
	}
	return errors.Join(problems...)
}

func (s *Step) refuse(err error) { s.Action, s.refused = Refuse, err }

// readStored reads all resources of the kinds in question, and the environments, which values refer to.
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

// prepare works out what to send for every step.
func (p *Plan) prepare() {
	for _, step := range p.Steps {
		if step.Action == Delete {
			continue
		}
		current := p.stored[step.name()]
		step.Action = Create
		if current != nil {
			step.Action, step.before, step.version = Update, pick(step.Kind, current), version(step.Kind, current)
		} else if current = p.stored[step.former().name()]; current != nil { // it is shown as a change
			step.before = pick(step.Kind, current)
		}
		step.sent, step.Kept, step.refused = p.send(step.Resource, current)
		if step.refused != nil && !p.options.ReadOnly {
			step.Action = Refuse
		}
	}
}

// send returns the attributes to write for a resource, and the runtime members that it keeps. current is what the server has;
// nil for nothing. An error about secrets comes with attributes that have none.
func (p *Plan) send(resource Resource, current attributes) (sent attributes, kept []Difference, err error) {
	declared, err := p.withSecrets(resource, current)
	sent, kept = p.keepRuntime(resource, complete(resource.Kind, resource.ID, declared, current), current)
	return sent, kept, err
}

// try sends every step as a dry run. It separates refusals that stop the plan from those that an earlier write of the plan
// will settle.
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

// tryStep lets the server say what a step would come to. A key that may try nothing needs no secrets for it either.
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
	if step.Kind == "environment" && step.Action == Create { // which the server makes managed at first
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

// Owner returns whose resources these are; "" for nobody's.
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
