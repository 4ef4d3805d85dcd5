package manifest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

// ownersMember is the member of the account's settings that has the resources of every owner.
const ownersMember = "owners"

// owners has the names of resources by owner.
type owners map[string][]string

// ownersOf reads the owners from the account's settings.
func ownersOf(settings signalbox.Settings) (owners, error) {
	found := owners{}
	text, exists := settings.Other[ownersMember]
	if !exists {
		return found, nil
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("the member %q of the account's settings does not have lists of resources by owner: %w", ownersMember, err)
	}
	return found, nil
}

// readOwners reads the owners, and refuses resources of other owners unless they are taken over.
func (p *Plan) readOwners(ctx context.Context, resources []Resource) error {
	if p.options.Owner == "" {
		return nil
	}
	settings, err := p.client.Account.Settings(ctx)
	if err != nil {
		return err
	}
	if p.owners, err = ownersOf(settings); err != nil {
		return err
	}
	return p.checkOwners(p.owners, resources)
}

// checkOwners refuses resources of other owners unless they are taken over.
func (p *Plan) checkOwners(all owners, resources []Resource) error {
	if p.options.TakeOver {
		return nil
	}
	for _, resource := range resources {
		for _, other := range slices.Sorted(maps.Keys(all)) {
			if other != p.options.Owner && slices.Contains(all[other], resource.name()) {
				return terminal.Conflictf("%s: the %s belongs to the owner %q; take it over with --take-over", resource.Source, resource.label(), other)
			}
		}
	}
	return nil
}

// unlisted returns the resources to prune: those of the owner that are not in the files. It leaves out moved resources, which
// are deleted anyway.
func (p *Plan) unlisted(resources, moved []Resource) (unlisted []Resource) {
	if !p.options.Prune {
		return nil
	}
	for _, name := range p.owners[p.options.Owner] {
		isIt := func(r Resource) bool { return r.name() == name }
		if slices.ContainsFunc(resources, isIt) || slices.ContainsFunc(moved, isIt) {
			continue
		}
		kind, id, _ := strings.Cut(name, ":")
		unlisted = append(unlisted, Resource{Kind: kind, ID: id, Source: "the owner " + p.options.Owner})
	}
	return unlisted
}

// names returns the names of the resources in the files.
func (p *Plan) names() (names []string) {
	for _, step := range p.Steps {
		if step.Action != Delete {
			names = append(names, step.name())
		}
	}
	return names
}

// resources returns the resources that the plan writes, keeps or deletes.
func (p *Plan) resources() (all []Resource) {
	for _, step := range p.Steps {
		all = append(all, step.Resource)
	}
	return all
}

// Claims returns how many resources on the server the owner newly gets.
func (p *Plan) Claims() (count int) {
	if p.options.Owner == "" {
		return 0
	}
	for _, step := range p.Steps {
		if (step.Action == Keep || step.Action == Update) && !slices.Contains(p.owners[p.options.Owner], step.name()) {
			count++
		}
	}
	return count
}

// claim records the resources of the files as the owner's, before any of them is written: an interrupted apply must not leave
// resources without an owner, which are never pruned. Another owner may have recorded them since the plan was made.
func (p *Plan) claim(ctx context.Context) error {
	var taken error
	err := p.changeOwners(ctx, func(all owners) error {
		if taken = p.checkOwners(all, p.resources()); taken != nil {
			return taken
		}
		names := p.names()
		for owner, listed := range all {
			if owner != p.options.Owner {
				all[owner] = slices.DeleteFunc(slices.Clone(listed), func(name string) bool { return slices.Contains(names, name) })
			}
		}
		all[p.options.Owner] = append(names, all[p.options.Owner]...)
		return nil
	})
	if taken != nil {
		return taken
	}
	return err
}

// disclaim removes deleted resources from the owner's list, after they were deleted.
func (p *Plan) disclaim(ctx context.Context) error {
	if !p.options.Prune && p.Count(Delete) == 0 {
		return nil
	}
	return p.changeOwners(ctx, func(all owners) error {
		names := p.names()
		all[p.options.Owner] = slices.DeleteFunc(all[p.options.Owner], func(name string) bool {
			if p.options.Prune {
				return !slices.Contains(names, name)
			}
			return slices.ContainsFunc(p.Steps, func(s *Step) bool { return s.Action == Delete && s.name() == name })
		})
		return nil
	})
}

func (p *Plan) changeOwners(ctx context.Context, change func(owners) error) error {
	if p.options.Owner == "" {
		return nil
	}
	if err := changeOwners(ctx, p.client, change); err != nil {
		return fmt.Errorf("recording the resources of the owner %q in the account's settings: %w", p.options.Owner, err)
	}
	return nil
}

// changeOwners changes the owners in the account's settings. It starts again if somebody else changed the settings meanwhile.
func changeOwners(ctx context.Context, client *signalbox.Client, change func(owners) error, options ...signalbox.WriteOption) error {
	const attempts = 5
	for attempt := 1; ; attempt++ {
		settings, err := client.Account.Settings(ctx)
		if err != nil {
			return err
		}
		all, err := ownersOf(settings)
		if err != nil {
			return err
		}
		before := string(raw(all.tidy()))
		if err := change(all); err != nil {
			return err
		}
		if after := all.tidy(); string(raw(after)) != before {
			draft := settings.Draft()
			draft.Other = maps.Clone(draft.Other)
			draft.Other[ownersMember] = raw(after)
			_, err = client.Account.ReplaceSettings(ctx, draft, append(options, signalbox.IfMatch(settings.ETag))...)
		}
		if !signalbox.IsVersionMismatch(err) || attempt == attempts {
			return err
		}
	}
}

// tidy returns the owners with sorted, unique resources, and without owners that have none.
func (o owners) tidy() owners {
	tidied := owners{}
	for owner, names := range o {
		if names = slices.Compact(slices.Sorted(slices.Values(names))); len(names) > 0 {
			tidied[owner] = names
		}
	}
	return tidied
}
