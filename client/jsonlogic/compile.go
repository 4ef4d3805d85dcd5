package jsonlogic

import "strings"

// evalFunc is a compiled node: it maps the data of its scope to a value.
type evalFunc func(st *state, data Value) Value

// testFunc is a compiled node of which only the truthiness is asked.
type testFunc func(st *state, data Value) bool

// operator says how an operation compiles. One of value and test is enough; the other follows from it.
type operator struct {
	value    func(c *compiler, n *node) evalFunc
	test     func(c *compiler, n *node) testFunc
	arity    int  // arguments that the operator looks at; 0 is all, or as many as it chooses
	stateful bool // it can fail, loop, build large values or split
}

// lookup is the table of operators.
func lookup(name string) (operator, bool) {
	switch name {
	case "var":
		return operator{value: compileVar, arity: 2}, true
	case "missing":
		return operator{value: compileMissing, stateful: true}, true
	case "missing_some":
		return operator{value: compileMissingSome, arity: 2, stateful: true}, true
	case "if", "?:":
		return operator{value: compileIf, test: compileIfTest}, true
	case "and":
		return operator{value: compileAnd, test: compileAndTest}, true
	case "or":
		return operator{value: compileOr, test: compileOrTest}, true
	case "!":
		return operator{test: compileNot, arity: 1}, true
	case "!!":
		return operator{test: compileTruthy, arity: 1}, true
	case "==":
		return operator{test: compileEqual, arity: 2}, true
	case "===":
		return operator{test: compileSame, arity: 2}, true
	case "!=":
		return operator{test: negated(compileEqual), arity: 2}, true
	case "!==":
		return operator{test: negated(compileSame), arity: 2}, true
	case "<":
		return operator{test: compileLess(false), arity: 3}, true
	case "<=":
		return operator{test: compileLess(true), arity: 3}, true
	case ">":
		return operator{test: compileGreater(false), arity: 2}, true
	case ">=":
		return operator{test: compileGreater(true), arity: 2}, true
	case "log":
		return operator{value: compileLog, arity: 1}, true
	}
	return lookupMore(name)
}

// lookupMore is the second half of the table: arithmetic, text, lists, rollouts.
func lookupMore(name string) (operator, bool) {
	switch name {
	case "+":
		return operator{value: compileSum}, true
	case "*":
		return operator{value: compileProduct, stateful: true}, true
	case "-":
		return operator{value: compileMinus, arity: 2}, true
	case "/":
		return operator{value: arithmetic(divide), arity: 2}, true
	case "%":
		return operator{value: arithmetic(remainder), arity: 2}, true
	case "max":
		return operator{value: compileExtreme(true)}, true
	case "min":
		return operator{value: compileExtreme(false)}, true
	case "in":
		return operator{test: compileIn, arity: 2}, true
	case "cat":
		return operator{value: compileCat, stateful: true}, true
	case "substr":
		return operator{value: compileSubstr, arity: 3}, true
	case "map":
		return operator{value: compileMap, stateful: true}, true
	case "filter":
		return operator{value: compileFilter, stateful: true}, true
	case "reduce":
		return operator{value: compileReduce, stateful: true}, true
	case "all":
		return operator{test: compileAll, stateful: true}, true
	case "none":
		return operator{test: compileNone, stateful: true}, true
	case "some":
		return operator{test: compileSome, stateful: true}, true
	case "merge":
		return operator{value: compileMerge, stateful: true}, true
	case "fractional":
		return operator{value: compileFractional, stateful: true}, true
	case "starts_with":
		return operator{value: compileAffix(strings.HasPrefix)}, true
	case "ends_with":
		return operator{value: compileAffix(strings.HasSuffix)}, true
	case "sem_ver":
		return operator{value: compileSemVer}, true
	}
	return operator{}, false
}

// compiler turns nodes into functions.
type compiler struct {
	flagKey  string
	scoped   bool // inside the body of a loop, where data is an element
	stateful bool // an operator needs a state
	traced   bool // every node reports to the state's trace, so nothing is folded or read ahead
}

// value compiles a node.
func (c *compiler) value(n *node) evalFunc {
	fn := c.untraced(n)
	if c.traced {
		return traced(n, fn)
	}
	return fn
}

func (c *compiler) untraced(n *node) evalFunc {
	switch n.kind {
	case literalNode:
		return constant(n.value)
	case arrayNode:
		return c.list(n)
	}
	op, _ := lookup(n.op)
	c.stateful = c.stateful || op.stateful
	if op.value != nil {
		return c.withSurplus(n, op, op.value(c, n))
	}
	test := op.test(c, n)
	return c.withSurplus(n, op, func(st *state, data Value) Value { return Bool(test(st, data)) })
}

// test compiles a node of which only the truthiness matters.
func (c *compiler) test(n *node) testFunc {
	op, _ := lookup(n.op)
	if c.traced || n.kind != operationNode || op.test == nil || op.surplus(n) {
		value := c.value(n)
		return func(st *state, data Value) bool { return value(st, data).Truthy() }
	}
	c.stateful = c.stateful || op.stateful
	return op.test(c, n)
}

// surplus reports arguments behind those that the operator looks at.
func (op operator) surplus(n *node) bool { return op.arity > 0 && len(n.args) > op.arity }

// withSurplus also evaluates arguments that the operator ignores: the reference does, and one of them may fail.
func (c *compiler) withSurplus(n *node, op operator, fn evalFunc) evalFunc {
	if !op.surplus(n) {
		return fn
	}
	surplus := c.values(n.args[op.arity:])
	return func(st *state, data Value) Value {
		for _, extra := range surplus {
			extra(st, data)
		}
		return fn(st, data)
	}
}

func (c *compiler) values(nodes []*node) []evalFunc {
	fns := make([]evalFunc, len(nodes))
	for i, n := range nodes {
		fns[i] = c.value(n)
	}
	return fns
}

func (c *compiler) tests(nodes []*node) []testFunc {
	fns := make([]testFunc, len(nodes))
	for i, n := range nodes {
		fns[i] = c.test(n)
	}
	return fns
}

// list compiles an array: a new one at every evaluation, as the reference makes, since arrays compare by identity.
func (c *compiler) list(n *node) evalFunc {
	c.stateful = true
	elements := c.values(n.args)
	return func(st *state, data Value) Value {
		items := make([]Value, len(elements))
		for i, element := range elements {
			items[i] = element(st, data)
		}
		return st.built(Array(items...))
	}
}

// discard is an operator with a wrong number of arguments: they are evaluated, and the result is null.
func (c *compiler) discard(n *node) evalFunc {
	args := c.values(n.args)
	return func(st *state, data Value) Value {
		for _, arg := range args {
			arg(st, data)
		}
		return Null()
	}
}

func constant(v Value) evalFunc {
	return func(*state, Value) Value { return v }
}

// known returns the value of an argument when it is the same at every evaluation. An array of scalars counts only
// where the operator takes it apart and nothing can see its identity, which holds for all callers.
func (c *compiler) known(n *node, i int) (Value, bool) {
	if c.traced || i >= len(n.args) {
		return Value{}, false
	}
	arg := n.args[i]
	switch arg.kind {
	case literalNode:
		return arg.value, true
	case arrayNode:
		return arg.value, arg.isScalarList()
	}
	return Value{}, false
}

func (n *node) isScalarList() bool {
	for _, element := range n.args {
		if element.kind != literalNode || element.value.kind >= KindArray {
			return false
		}
	}
	return n.kind == arrayNode
}

// argument compiles the argument at i, which may be absent and then is undefined.
func (c *compiler) argument(n *node, i int) evalFunc {
	if i >= len(n.args) {
		return constant(Value{})
	}
	return c.value(n.args[i])
}

// source is an argument that an operator reads. Most are plain variables, which are read without another call.
type source struct {
	fn   evalFunc // nil for a plain variable
	path path
}

// source compiles the argument at i for an operator that takes it apart and does not pass it on.
func (c *compiler) source(n *node, i int) source {
	if v, ok := c.known(n, i); ok {
		return source{fn: constant(v)}
	}
	if p, ok := c.plainVariable(n, i); ok {
		return source{path: p}
	}
	return source{fn: c.argument(n, i)}
}

// plainVariable returns the path of an argument that is a `var` with nothing but a name.
func (c *compiler) plainVariable(n *node, i int) (path, bool) {
	if c.traced || i >= len(n.args) || len(n.args[i].args) != 1 {
		return nil, false
	}
	p, static := staticPath(n.args[i])
	return p, static && len(p) > 0 && !c.isFlagKey(p)
}

func (c *compiler) sources(n *node) []source {
	list := make([]source, len(n.args))
	for i := range n.args {
		list[i] = c.source(n, i)
	}
	return list
}

// coerced is get for an operator that turns the value into text or a number.
func (s *source) coerced(st *state, data Value) Value { return st.coerced(s.get(st, data)) }

func (s *source) get(st *state, data Value) Value {
	if s.fn != nil {
		return s.fn(st, data)
	}
	v := s.path.get(data)
	if v.kind == KindUndefined {
		return Null()
	}
	return v
}
