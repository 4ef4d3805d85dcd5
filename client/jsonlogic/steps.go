package jsonlogic

import "math"

// Steps limits the work of several evaluations together, such as those of one request. It is for one goroutine.
type Steps struct{ left int }

// NewSteps returns the steps for some evaluations. One evaluation takes up to about a million.
func NewSteps(count int) *Steps { return &Steps{left: count} }

// plainWork is the work of a small rule on small data, which is not measured while it is done.
const plainWork = 16 << 10

// DecideWithin is Decide for one of several evaluations. Its Err is ErrSteps if their steps are used up; the rule was not
// decided then. Without steps it is Decide.
func (r *Rule) DecideWithin(steps *Steps, data Value) Decision {
	switch {
	case steps == nil:
		return r.Decide(data)
	case steps.left < r.root.size:
		steps.left = 0
		return Decision{Err: ErrSteps}
	}
	steps.left -= r.root.size
	if r.states == nil && data.extent().weight*r.root.size <= plainWork {
		return Decision{Matched: r.test(nil, data)}
	}
	st, given := r.acquire(data), min(maxFuel, steps.left)
	st.fuel = given
	matched := r.test(st, data)
	steps.left -= given - max(0, st.fuel)
	exhausted := st.fuel < 0 && given < maxFuel
	split, err := r.release(st)
	if exhausted {
		steps.left, err = 0, ErrSteps
	}
	return Decision{Matched: matched && err == nil, Split: split, Err: err}
}

// Steps returns how many steps the loops of the rule may take. Lists in the rule count with their lengths. The length of a
// list of the data is not known, so such a list counts as one element.
func (r *Rule) Steps() int { return r.root.steps() }

// steps returns the steps of the loops of a subtree.
func (n *node) steps() (total int) {
	for i, arg := range n.args {
		each := arg.steps()
		if n.isBody(i) {
			each = times(n.args[0].length(), plus(each, arg.size+1))
		}
		total = plus(total, each)
	}
	return total
}

// length returns the most elements that the list of a loop has, as far as the rule tells.
func (n *node) length() int {
	switch {
	case n.kind == arrayNode:
		return len(n.args)
	case len(n.args) > 0 && (n.op == "map" || n.op == "filter" || n.op == "log"):
		return n.args[0].length()
	case n.op == "merge":
		total := 0
		for _, arg := range n.args {
			total = plus(total, arg.length())
		}
		return total
	case len(n.args) > 0 && (n.op == "if" || n.op == "?:" || n.op == "and" || n.op == "or"):
		longest := 1
		for _, arg := range n.args {
			longest = max(longest, arg.length())
		}
		return longest
	}
	return 1
}

// plus and times stop at the largest number.
func plus(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

func times(a, b int) int {
	if b > 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}
