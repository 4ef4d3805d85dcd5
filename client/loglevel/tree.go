package loglevel

import (
	"cmp"
	"iter"
	"slices"
)

// Logger is the input of resolution. Its key is normalized.
type Logger struct {
	Key string
	// Level is the base level, Environments the overrides.
	Level        Level
	Environments map[string]Level
	// Group is the key of the logger's group; empty for none.
	Group string
	// Managed reports whether people control the logger.
	Managed bool
}

// Group is a group of loggers that share a level.
type Group struct {
	Key          string
	Level        Level
	Environments map[string]Level
}

// Origin is where a level comes from.
type Origin string

// The origins, in the order of resolution.
const (
	FromEnvironment Origin = "environment"
	FromBase        Origin = "base"
	FromGroup       Origin = "group"
	FromAncestor    Origin = "ancestor"
	FromDefault     Origin = "default"
)

// Resolution is an effective level and where it comes from.
type Resolution struct {
	Level  Level
	Origin Origin
	Of     string // key of the logger or group that has the level; empty for the default
}

// Tree resolves the levels of loggers. It is immutable and safe for concurrent use.
type Tree struct {
	nodes []node         // ancestors come before their descendants
	index map[string]int // indexes of nodes by key
}

// node is a logger with its group and nearest existing ancestor.
type node struct {
	Logger
	group      *Group // nil for none
	ancestor   int    // the ancestor's index, or noAncestor
	controlled bool   // the logger or an ancestor is managed
}

const noAncestor = -1

// NewTree returns a tree of loggers and groups. Of loggers with the same key the last wins.
func NewTree(loggers []Logger, groups []Group) *Tree {
	byKey := make(map[string]*Group, len(groups))
	for i := range groups {
		byKey[groups[i].Key] = &groups[i]
	}
	tree := &Tree{nodes: make([]node, 0, len(loggers)), index: make(map[string]int, len(loggers))}
	for _, logger := range loggers {
		tree.add(node{Logger: logger, group: byKey[logger.Group], ancestor: noAncestor})
	}
	tree.connect()
	return tree
}

func (t *Tree) add(added node) {
	if i, repeated := t.index[added.Key]; repeated {
		t.nodes[i] = added
		return
	}
	t.index[added.Key] = len(t.nodes)
	t.nodes = append(t.nodes, added)
}

// connect sorts ancestors, whose keys are shorter, before their descendants. It sets the nearest ancestor of each logger.
func (t *Tree) connect() {
	slices.SortStableFunc(t.nodes, func(a, b node) int { return cmp.Compare(len(a.Key), len(b.Key)) })
	for i := range t.nodes {
		t.index[t.nodes[i].Key] = i
	}
	for i := range t.nodes {
		each := &t.nodes[i]
		each.ancestor = t.nearest(each.Key)
		each.controlled = each.Managed || (each.ancestor != noAncestor && t.nodes[each.ancestor].controlled)
	}
}

// nearest returns the index of the nearest existing ancestor of a key.
func (t *Tree) nearest(key string) int {
	for {
		parent, has := Parent(key)
		if !has {
			return noAncestor
		}
		if i, exists := t.index[parent]; exists {
			return i
		}
		key = parent
	}
}

// own returns the level of the logger itself or its group; None if neither has a level.
func (n *node) own(environment string) Resolution {
	if level := n.Environments[environment]; level != None {
		return Resolution{level, FromEnvironment, n.Key}
	}
	if n.Level != None {
		return Resolution{n.Level, FromBase, n.Key}
	}
	if n.group != nil {
		if group := n.group.Resolve(environment); group.Origin != FromDefault {
			return Resolution{group.Level, FromGroup, group.Of}
		}
	}
	return Resolution{}
}

// below returns the resolution that descendants of n inherit.
func (n *node) below(resolved Resolution) Resolution {
	if resolved.Origin == FromDefault || resolved.Origin == FromAncestor {
		return resolved
	}
	return Resolution{resolved.Level, FromAncestor, n.Key}
}

func byDefault() Resolution { return Resolution{Level: Default, Origin: FromDefault} }

// Resolve returns the effective level of a normalized name in an environment. The tree need not have the name.
func (t *Tree) Resolve(key, environment string) Resolution {
	i, exists := t.index[key]
	if exists {
		if own := t.nodes[i].own(environment); own.Level != None {
			return own
		}
		i = t.nodes[i].ancestor
	} else {
		i = t.nearest(key)
	}
	for ; i != noAncestor; i = t.nodes[i].ancestor {
		each := &t.nodes[i]
		if own := each.own(environment); own.Level != None {
			return each.below(own)
		}
	}
	return byDefault()
}

// Environments iterates over the environments with an override of a logger of the tree, its group, its ancestors or their
// groups. It may repeat an environment. In all other environments the logger has the same level.
func (t *Tree) Environments(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		i, exists := t.index[key]
		for exists && i != noAncestor {
			each := &t.nodes[i]
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
			i = each.ancestor
		}
	}
}

// All iterates over the effective levels of every logger in an environment.
func (t *Tree) All(environment string) iter.Seq2[string, Resolution] {
	return func(yield func(string, Resolution) bool) {
		resolved := make([]Resolution, len(t.nodes))
		for i := range t.nodes {
			resolved[i] = t.resolveAfter(resolved, i, environment)
			if !yield(t.nodes[i].Key, resolved[i]) {
				return
			}
		}
	}
}

// resolveAfter resolves a logger whose ancestors are already resolved.
func (t *Tree) resolveAfter(resolved []Resolution, i int, environment string) Resolution {
	each := &t.nodes[i]
	if own := each.own(environment); own.Level != None {
		return own
	}
	if each.ancestor == noAncestor {
		return byDefault()
	}
	return t.nodes[each.ancestor].below(resolved[each.ancestor])
}

// Controls reports whether clients apply the effective level of a normalized name: the logger or an ancestor is managed.
func (t *Tree) Controls(key string) bool {
	i, exists := t.index[key]
	if !exists {
		i = t.nearest(key)
	}
	return i != noAncestor && t.nodes[i].controlled
}

// Resolve returns the effective level of the group itself.
func (g Group) Resolve(environment string) Resolution {
	if level := g.Environments[environment]; level != None {
		return Resolution{level, FromEnvironment, g.Key}
	}
	if g.Level != None {
		return Resolution{g.Level, FromBase, g.Key}
	}
	return byDefault()
}
