package jsonlogic

import "slices"

// Invariant returns the truthiness of the rule if it is the same for all data. It recognizes operations that read no
// data, a `fractional` whose variants are all truthy or all falsy, and `and`, `or`, `!`, `!!` and `if` of such nodes. It
// assumes that the data has a targeting key; without one, a `fractional` is null.
func (r *Rule) Invariant() (truthy, ok bool) { return r.root.invariant(r.flagKey) }

func (n *node) invariant(flagKey string) (truthy, ok bool) {
	if n.kind != operationNode {
		return n.constantTruth()
	}
	switch n.op {
	case "and":
		return n.allInvariant(flagKey, true)
	case "or":
		return n.allInvariant(flagKey, false)
	case "!", "!!":
		if len(n.args) == 1 {
			truthy, ok = n.args[0].invariant(flagKey)
			return truthy == (n.op == "!!"), ok
		}
	case "if", "?:":
		return n.invariantBranch(flagKey)
	case "fractional":
		return n.invariantSplit()
	}
	return n.invariantResult(flagKey)
}

// constantTruth returns the truthiness of a literal or an array. An array is truthy if it has elements.
func (n *node) constantTruth() (truthy, ok bool) {
	if n.kind == arrayNode {
		return len(n.args) > 0, true
	}
	return n.value.Truthy(), true
}

// allInvariant is invariant for `and` (all is true) and `or` (all is false). One argument that differs from all decides.
func (n *node) allInvariant(flagKey string, all bool) (truthy, ok bool) {
	ok = true
	for _, arg := range n.args {
		truthy, known := arg.invariant(flagKey)
		if known && truthy != all {
			return !all, true
		}
		ok = ok && known
	}
	return all && len(n.args) > 0, ok
}

// invariantBranch returns the truthiness of an `if` whose reachable results are all truthy or all falsy.
func (n *node) invariantBranch(flagKey string) (truthy, ok bool) {
	var reached []*node
	rest := n.args
	for ; len(rest) >= 2; rest = rest[2:] {
		holds, known := rest[0].invariant(flagKey)
		if !known || holds {
			reached = append(reached, rest[1])
		}
		if known && holds {
			break
		}
	}
	if len(rest) == 1 {
		reached = append(reached, rest[0])
	}
	if len(rest) == 0 {
		return false, len(reached) == 0
	}
	for i, result := range reached {
		each, known := result.invariant(flagKey)
		if !known || i > 0 && each != truthy {
			return false, false
		}
		truthy = each
	}
	return truthy, true
}

// invariantSplit returns the truthiness of a `fractional` whose variants are all truthy or all falsy.
func (n *node) invariantSplit() (truthy, ok bool) {
	buckets := slices.DeleteFunc(slices.Clone(n.args), func(arg *node) bool { return arg.kind != arrayNode || len(arg.args) == 0 })
	for i, bucket := range buckets {
		variant := bucket.args[0]
		if variant.kind != literalNode || i > 0 && variant.value.Truthy() != truthy {
			return false, false
		}
		truthy = variant.value.Truthy()
	}
	return truthy, len(buckets) > 0
}

// invariantResult evaluates an operation that reads no data.
func (n *node) invariantResult(flagKey string) (truthy, ok bool) {
	alone := &Rule{root: n, flagKey: flagKey}
	splits := false
	n.visit(false, func(each *node, _ bool) { splits = splits || each.op == "fractional" })
	if splits || len(alone.References()) > 0 {
		return false, false
	}
	alone.prepare()
	decided := alone.Decide(Value{})
	return decided.Matched, decided.Err == nil
}
