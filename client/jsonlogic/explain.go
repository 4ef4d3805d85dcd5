package jsonlogic

// Explanation is one node of a rule with its result, to be shown as JSON.
type Explanation struct {
	// Pointer is the node's JSON pointer in the rule.
	Pointer string `json:"pointer"`
	// Operator is empty for literals and arrays.
	Operator string `json:"operator,omitempty"`
	// Evaluated is false for skipped nodes, such as the branch not taken.
	Evaluated bool `json:"evaluated"`
	// Result is undefined when the node was not evaluated, failed, is a loop's body, or was left out for its size.
	Result Value `json:"result,omitzero"`
	// Truncated marks a result that was left out for its size, and a loop's body with left out iterations.
	Truncated bool `json:"truncated,omitempty"`
	// Arguments are the operator's arguments, or the elements of an array.
	Arguments []*Explanation `json:"arguments,omitempty"`
	// Iterations are the evaluations of a loop's body, one for each element.
	Iterations []*Explanation `json:"iterations,omitempty"`
	// Error is why the rule has no result; only at the root.
	Error string `json:"error,omitempty"`
}

// Limits of an explanation. It needs them because nodes of loops repeat, and a result may be the whole context.
const (
	maxTraceRecords = 5000
	maxTraceWeight  = 1 << 20
)

// Budget limits explanations that are shown together.
type Budget struct {
	records int    // nodes and their evaluations
	weight  int    // of results
	steps   *Steps // of rules whose explanation does not fit; nil for no limit
}

// NewBudget returns the budget of one explanation, multiplied by times.
func NewBudget(times int) *Budget {
	return &Budget{records: times * maxTraceRecords, weight: times * maxTraceWeight}
}

// WithSteps returns the budget with steps for the rules whose explanation does not fit.
func (b *Budget) WithSteps(steps *Steps) *Budget {
	b.steps = steps
	return b
}

// Explain is Decide with the result of every node. It compiles the rule again, with every node reporting its result.
func (r *Rule) Explain(data Value) (*Explanation, Decision) {
	return r.ExplainWithin(NewBudget(1), data)
}

// ExplainWithin is Explain for one of several rules. The explanation is nil when the budget is too small for the rule.
func (r *Rule) ExplainWithin(budget *Budget, data Value) (*Explanation, Decision) {
	if budget.records < 2*r.root.size {
		return nil, r.DecideWithin(budget.steps, data)
	}
	budget.records -= r.root.size
	t := &trace{Budget: budget}
	st := &state{root: data, fuel: maxFuel, trace: t}
	c := compiler{flagKey: r.flagKey, traced: true}
	v := c.value(r.root)(st, data)
	e := describe(r.root, t.top.children[0])
	decision := Decision{Matched: st.err == nil && v.Truthy(), Split: st.split, Err: st.err}
	if st.err != nil {
		e.Error = st.err.Error()
	}
	return e, decision
}

// trace collects a record for every evaluation of a node.
type trace struct {
	*Budget // the part that is left
	top     record
	current *record
}

// record is one evaluation of one node.
type record struct {
	node      *node
	parent    *record
	result    Value // undefined for none
	truncated bool
	children  []*record
}

// traced reports every evaluation of n to the state's trace.
func traced(n *node, fn evalFunc) evalFunc {
	return func(st *state, data Value) Value {
		r := st.trace.enter(n)
		v := fn(st, data)
		st.trace.leave(r, v, st.err != nil)
		return v
	}
}

// enter adds a record below the current one; it returns nil when the budget is used up.
func (t *trace) enter(n *node) *record {
	if t.current == nil {
		t.current = &t.top
	}
	if t.records <= 0 {
		t.current.truncated = true
		return nil
	}
	t.records--
	r := &record{node: n, parent: t.current}
	t.current.children = append(t.current.children, r)
	t.current = r
	return r
}

func (t *trace) leave(r *record, v Value, failed bool) {
	if r == nil {
		return
	}
	t.current = r.parent
	if failed {
		return
	}
	weight := v.extent().weight
	if weight > t.weight {
		r.truncated = true
		return
	}
	t.weight -= weight
	r.result = orNull(v)
}

// describe explains a node by its record; a nil record means that the node was not evaluated.
func describe(n *node, r *record) *Explanation {
	e := &Explanation{Pointer: n.pointer(), Operator: n.op}
	made := map[*node][]*record{}
	if r != nil {
		e.Evaluated, e.Result, e.Truncated = true, r.result, r.truncated
		for _, child := range r.children {
			made[child.node] = append(made[child.node], child)
		}
	}
	for i, arg := range n.args {
		e.Arguments = append(e.Arguments, describeArgument(arg, made[arg], n.isBody(i)))
	}
	return e
}

func describeArgument(arg *node, made []*record, body bool) *Explanation {
	if len(made) == 0 {
		return describe(arg, nil)
	}
	if !body {
		return describe(arg, made[0])
	}
	e := &Explanation{Pointer: arg.pointer(), Operator: arg.op, Evaluated: true, Truncated: made[0].parent.truncated}
	for _, r := range made {
		e.Iterations = append(e.Iterations, describe(arg, r))
	}
	return e
}

// isBody reports whether the argument at i is a loop's body, which is evaluated for each element.
func (n *node) isBody(i int) bool {
	return n.operator.loop && i == 1
}
