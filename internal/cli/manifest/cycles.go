package manifest

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// refuseCycles refuses configs that would inherit from themselves. The dry runs of new configs
// cannot find a cycle: each is refused because its parent does not exist yet.
func (p *Plan) refuseCycles() {
	parents := map[string]string{}
	for name, stored := range p.stored {
		if id, is := strings.CutPrefix(name, "config:"); is {
			parents[id] = stored.text("parent")
		}
	}
	for _, step := range p.Steps {
		if step.Kind == "config" {
			parents[step.ID] = step.sent.text("parent") // "" if the config is deleted
		}
	}
	cycles := cyclesOf(parents)
	for _, step := range p.Steps {
		if cycle := cycles[step.ID]; step.Kind == "config" && cycle != nil {
			step.refuse(cycle)
		}
	}
}

// cyclesOf returns an error for every config that is part of a cycle.
func cyclesOf(parents map[string]string) map[string]error {
	found := map[string]error{}
	for _, start := range slices.Sorted(maps.Keys(parents)) {
		path := []string{start}
		for at := parents[start]; at != "" && len(path) <= len(parents); at = parents[at] {
			if path = append(path, at); at == start {
				found[start] = errors.New("parent: configs must not inherit from themselves: " + strings.Join(path, " → "))
				break
			}
		}
	}
	return found
}
