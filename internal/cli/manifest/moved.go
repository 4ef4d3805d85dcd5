package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// readMoved takes the former id of a resource out of its attributes.
func (r *Resource) readMoved() error {
	text, exists := r.Attributes["moved"]
	if !exists {
		return nil
	}
	delete(r.Attributes, "moved")
	var moved map[string]string
	if json.Unmarshal(text, &moved) != nil || len(moved) != 1 || moved["from"] == "" {
		return fmt.Errorf("the %s: moved must be the former id such as {from: checkout-v1}", r.label())
	}
	if r.Kind == "environment" { // other resources and services have values for it
		return fmt.Errorf("the %s: an environment cannot be moved, because everything that has values for it would lose them", r.label())
	}
	r.MovedFrom = moved["from"]
	return nil
}

// former returns a resource under its former id.
func (r Resource) former() Resource { return Resource{Kind: r.Kind, ID: r.MovedFrom, Source: r.Source} }

// moved returns the resources that get another id, under their former ids. It leaves out resources that were moved before.
func (p *Plan) moved(resources []Resource) (former []Resource, err error) {
	var problems []error
	for _, resource := range resources {
		old := resource.former()
		if _, exists := p.stored[old.name()]; resource.MovedFrom == "" || !exists {
			continue
		}
		if err := p.checkMove(resource, old, resources); err != nil {
			problems = append(problems, fmt.Errorf("%s: the %s cannot become %s: %w", resource.Source, old.label(), resource.ID, err))
		}
		former = append(former, old)
	}
	return former, errors.Join(problems...)
}

func (p *Plan) checkMove(resource, old Resource, all []Resource) error {
	owned := func(name string) bool { return slices.Contains(p.owners[p.options.Owner], name) }
	_, exists := p.stored[resource.name()]
	switch {
	case slices.ContainsFunc(all, func(r Resource) bool { return r.name() == old.name() }):
		return errors.New("the files have both")
	case p.options.Owner == "":
		return errors.New("say whose it is with --owner, because its former id is deleted")
	case !owned(old.name()):
		return terminal.Conflictf("it does not belong to the owner %q", p.options.Owner)
	case exists && !owned(resource.name()): // if it is owned, an earlier apply was interrupted
		return terminal.Conflictf("the server has both, and the new one does not belong to the owner %q", p.options.Owner)
	default:
		return nil
	}
}
