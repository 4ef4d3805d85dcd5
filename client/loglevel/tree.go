package loglevel

import (
	"cmp"
	"iter"
	"slices"
)

// Logger is what resolution looks at. Its key is normalized.
type Logger struct {
	Key string
	// Level is the base level, Environments the overrides.
	Level        Level
	Environments map[string]Level
	// Group is the key of its group; empty for none.
	Group string
	// Managed tells whether the platform controls the logger.
	Managed bool
}

// Group is a bundle of loggers that share a level.
type Group struct {
	Key          string
	Level        Level
	Environments map[string]Level
}

// Origin is where a level comes from.
type Origin string

// The origins, in the order in which they are asked.
const (
	FromEnvironment Origin = "environment"
	FromBase        Origin = "base"
	FromGroup       Origin = "group"
	FromAncestor    Origin = "ancestor"
	FromDefault     Origin = "default"
)

// Resolution is an effective level and where it comes from. Of is the key of
// the logger or group that has it; empty for the default.
type Resolution struct {
	Level  Level
	Origin Origin
	Of     string
}

// Tree is a set of loggers and groups, ready for resolution.
type Tree struct {
	nodes  []node // an ancestor comes before its descendants
	places map[string]int
}

// node is a logger whose group and nearest existing ancestor were looked up.
type node struct {
	Logger
	group      *Group // nil for none
	ancestor   int    // its place in the tree; noAncestor for none
	controlled bool   // it or an ancestor is managed
}

const noAncestor = -1

// NewTree prepares loggers and groups. Of several loggers with one key the
// last counts.
func NewTree(loggers []Logger, groups []Group) *Tree {
	byKey := make(map[string]*Group, len(groups))
	for i := range groups {
		byKey[groups[i].Key] = &groups[i]
	}
	tree := &Tree{nodes: make([]node, 0, len(loggers)), places: make(map[string]int, len(loggers))}
	for _, logger := range loggers {
		tree.add(node{Logger: logger, group: byKey[logger.Group], ancestor: noAncestor})
	}
	tree.connect()
	return tree
}

func (t *Tree) add(added node) {
	if place, repeated := t.places[added.Key]; repeated {
		t.nodes[place] = added
		return
	}
	t.places[added.Key] = len(t.nodes)
	t.nodes = append(t.nodes, added)
}

// connect sorts ancestors, whose keys are shorter, before their descendants
// and looks up the nearest of each.
func (t *Tree) connect() {
	slices.SortStableFunc(t.nodes, func(a, b node) int { return cmp.Compare(len(a.Key), len(b.Key)) })
	for place := range t.nodes {
		t.places[t.nodes[place].Key] = place
	}
	for place := range t.nodes {
		each := &t.nodes[place]
		each.ancestor = t.nearest(each.Key)
		each.controlled = each.Managed || (each.ancestor != noAncestor && t.nodes[each.ancestor].controlled)
	}
}

// nearest is the place of the nearest existing ancestor of a key.
func (t *Tree) nearest(key string) int {
	for {
		parent, has := Parent(key)
		if !has {
			return noAncestor
		}
		if place, exists := t.places[parent]; exists {
			return place
		}
		key = parent
	}
}

// own is what the logger itself and its group say.
func (n *node) own(environment string) Resolution {
	if level := n.Environments[environment]; level != None {
		return Resolution{level, FromEnvironment, n.Key}
	}
	if n.Level != None {
		return Resolution{n.Level, FromBase, n.Key}
	}
	if n.group == nil {
		return Resolution{}
	}
	if level := n.group.Environments[environment]; level != None {
		return Resolution{level, FromGroup, n.group.Key}
	}
	if n.group.Level != None {
		return Resolution{n.group.Level, FromGroup, n.group.Key}
	}
	return Resolution{}
}

// below is what the descendants of a logger inherit of its resolution.
func (n *node) below(resolved Resolution) Resolution {
	if resolved.Origin == FromDefault || resolved.Origin == FromAncestor {
		return resolved
	}
	return Resolution{resolved.Level, FromAncestor, n.Key}
}

func byDefault() Resolution { return Resolution{Level: Default, Origin: FromDefault} }

// Resolve gives the effective level of a normalized name in an environment,
// whether the tree has a logger of that name or not.
func (t *Tree) Resolve(key, environment string) Resolution {
	place, exists := t.places[key]
	if exists {
		if own := t.nodes[place].own(environment); own.Level != None {
			return own
		}
		place = t.nodes[place].ancestor
	} else {
		place = t.nearest(key)
	}
	for ; place != noAncestor; place = t.nodes[place].ancestor {
		each := &t.nodes[place]
		if own := each.own(environment); own.Level != None {
			return each.below(own)
		}
	}
	return byDefault()
}

// Environments gives the environments that a logger of the tree, its group, its
// ancestors and their groups have levels of their own for, some repeatedly. In
// all others it has the same level.
func (t *Tree) Environments(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		place, exists := t.places[key]
		for exists && place != noAncestor {
			each := &t.nodes[place]
			sets := []map[string]Level{each.Environments}
			if each.group != nil {
				sets = append(sets, each.group.Environments)
			}
			for _, set := range sets {
				for environment := range set {
					if !yield(environment) {
						return
					}
				}
			}
			place = each.ancestor
		}
	}
}

// All gives the effective level of every logger in an environment, in one
// pass: ancestors come first, so each is resolved once.
func (t *Tree) All(environment string) iter.Seq2[string, Resolution] {
	return func(yield func(string, Resolution) bool) {
		resolved := make([]Resolution, len(t.nodes))
		for place := range t.nodes {
			resolved[place] = t.resolveAfter(resolved, place, environment)
			if !yield(t.nodes[place].Key, resolved[place]) {
				return
			}
		}
	}
}

// resolveAfter resolves a logger whose ancestors are resolved.
func (t *Tree) resolveAfter(resolved []Resolution, place int, environment string) Resolution {
	each := &t.nodes[place]
	if own := each.own(environment); own.Level != None {
		return own
	}
	if each.ancestor == noAncestor {
		return byDefault()
	}
	return t.nodes[each.ancestor].below(resolved[each.ancestor])
}

// Controls tells whether a client applies the effective level of a normalized
// name: the logger, or an ancestor of it, is managed. Others are left to their
// framework.
func (t *Tree) Controls(key string) bool {
	place, exists := t.places[key]
	if !exists {
		place = t.nearest(key)
	}
	return place != noAncestor && t.nodes[place].controlled
}

// Resolve gives the effective level that a group has by itself.
func (g Group) Resolve(environment string) Resolution {
	if level := g.Environments[environment]; level != None {
		return Resolution{level, FromEnvironment, g.Key}
	}
	if g.Level != None {
		return Resolution{g.Level, FromBase, g.Key}
	}
	return byDefault()
}
