package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
)

// errInterrupted is the error of everything that was not done because somebody interrupted the program.
var errInterrupted = errors.New("interrupted")

// grace is how long a started write may take after an interruption. Its answer says whether it was done.
const grace = 10 * time.Second

// Apply writes the steps of the plan. If it fails or is interrupted, its writes stay and a new plan has the remaining
// steps.
func (p *Plan) Apply(ctx context.Context) (written int, err error) {
	if err := p.claim(ctx); err != nil {
		return 0, err
	}
	for _, stage := range p.stages() {
		done, err := p.applyStage(ctx, stage)
		if written += done; err != nil {
			return written, err
		}
	}
	return written, p.disclaim(ctx)
}

// stages returns the steps by kind: first the writes, where a kind comes after the kinds that it refers to, then the deletes
// in the opposite order.
func (p *Plan) stages() (stages [][]*Step) {
	kinds := signalbox.DocumentKinds()
	for _, kind := range kinds {
		stages = append(stages, p.stage(kind, Create, Update))
	}
	slices.Reverse(kinds)
	for _, kind := range kinds {
		stages = append(stages, p.stage(kind, Delete))
	}
	return stages
}

func (p *Plan) stage(kind string, actions ...Action) (stage []*Step) {
	for _, step := range p.Steps {
		if step.Kind == kind && slices.Contains(actions, step.Action) {
			stage = append(stage, step)
		}
	}
	return stage
}

// applyStage does the steps of one kind. Configs depend on each other: a parent must declare an item before a child overrides
// it, and the child must drop its override before the parent removes the item. So refused configs are tried again as long as
// others succeed.
func (p *Plan) applyStage(ctx context.Context, stage []*Step) (written int, err error) {
	for len(stage) > 0 {
		refused, err := p.applyOnce(ctx, stage)
		written += len(stage) - len(refused)
		if err == nil {
			return written, nil
		}
		if ctx.Err() != nil || len(refused) == len(stage) || stage[0].Kind != "config" {
			return written, err
		}
		stage = refused
	}
	return written, nil
}

// applyOnce does steps, several at once, and returns the failed ones.
func (p *Plan) applyOnce(ctx context.Context, stage []*Step) (failed []*Step, err error) {
	several(stage, func(step *Step) { step.refused = p.applyStep(ctx, step) })
	var problems []error
	for _, step := range stage {
		if step.refused == nil {
			continue
		}
		failed = append(failed, step)
		if !errors.Is(step.refused, errInterrupted) {
			problems = append(problems, step.refused)
		}
	}
	if len(failed) > len(problems) { // one sentence is enough for all of them
		problems = append(problems, errInterrupted)
	}
	return failed, errors.Join(problems...)
}

// untilGrace returns a context that ends some time after ctx.
func untilGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(longer, func() { timer.Stop() })
	})
	return longer, func() {
		stop()
		cancel()
	}
}

func (p *Plan) applyStep(ctx context.Context, step *Step) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	ctx, cancel := untilGrace(ctx)
	defer cancel()
	err := p.writeStep(ctx, step)
	if err == nil && step.Kind == "environment" && step.Action == Create && (step.sent["managed"] != nil || step.sent["classification"] != nil) {
		_, err = p.client.Documents.Replace(ctx, step.Kind, step.ID, step.sent)
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", step.Source, step.label(), err)
	}
	return nil
}

// writeStep writes a step. For a saved plan, or a resource with runtime members, the write names the version that it replaces,
// so that it never overwrites a change that it has not read.
func (p *Plan) writeStep(ctx context.Context, step *Step) error {
	if step.version == "" || !p.exact && (len(step.Runtime) == 0 || step.Action == Delete) {
		_, err := p.write(ctx, step)
		return err
	}
	const attempts = 5
	for attempt := 1; ; attempt++ {
		found, err := p.client.Documents.Get(ctx, step.Kind, step.ID)
		if err != nil {
			return err
		}
		current, err := membersOf(found)
		if err != nil {
			return fmt.Errorf("reading the answer of the server: %w", err)
		}
		if now := version(step.Kind, current); p.exact && now != step.version {
			return changed("it", step.version, now)
		}
		if step.Action != Delete {
			if step.sent, _, err = p.send(step.Resource, current); err != nil {
				return err
			}
		}
		if _, err = p.write(ctx, step, signalbox.IfMatch(found.ETag)); !signalbox.IsVersionMismatch(err) || attempt == attempts {
			return err
		}
	}
}

// write sends a step.
func (p *Plan) write(ctx context.Context, step *Step, options ...signalbox.WriteOption) (signalbox.Document, error) {
	documents := p.client.Documents
	switch {
	case step.Action == Delete && step.Kind == "logger": // a logger becomes unmanaged; its reports stay
		return documents.Replace(ctx, step.Kind, step.ID, map[string]bool{"managed": false}, options...)
	case step.Action == Delete:
		err := documents.Delete(ctx, step.Kind, step.ID, options...)
		if signalbox.IsNotFound(err) { // somebody else deleted it
			err = nil
		}
		return signalbox.Document{}, err
	case step.Action == Create && step.Kind != "logger":
		made, err := documents.Create(ctx, step.Kind, step.ID, step.sent, options...)
		if signalbox.IsAlreadyExists(err) && !p.exact { // somebody else, or an interrupted apply, has created it
			return documents.Replace(ctx, step.Kind, step.ID, step.sent, options...)
		}
		return made, err
	default:
		return documents.Replace(ctx, step.Kind, step.ID, step.sent, options...)
	}
}
