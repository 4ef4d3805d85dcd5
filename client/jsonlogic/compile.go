package jsonlogic

import (
	"math"
	"strings"
)

// evalFunc is a compiled node: it returns a value for the data of its scope.
type evalFunc func(st *state, data Value) Value

// testFunc is a compiled node whose caller only needs its truthiness.
type testFunc func(st *state, data Value) bool

// operator says how an operation compiles. It has value or test or both; a missing one is derived from the other.
type operator struct {
	value    func(c *compiler, n *node) evalFunc
	test     func(c *compiler, n *node) testFunc
	arity    int  // arguments that the operator reads; 0 is all
	stateful bool // the operator can fail, loop, build large values or split
	loop     bool // the second argument is evaluated for each element
}

// operators is the table of operators.
//
//nolint:gochecknoglobals // nothing changes it
var operators = map[string]operator{
	"var":          {value: compileVar, arity: 2},
	"missing":      {value: compileMissing, stateful: true},
	"missing_some": {value: compileMissingSome, arity: 2, stateful: true},
	"log":          {value: func(c *compiler, n *node) evalFunc { return c.argument(n, 0) }, arity: 1}, // it prints nothing
	"if":           {value: compileIf},
	"?:":           {value: compileIf},
	"and":          {value: compileFirst(false), test: compileFirstTest(false)},
	"or":           {value: compileFirst(true), test: compileFirstTest(true)},
	"!":            {test: negated(compileTruthy), arity: 1},
	"!!":           {test: compileTruthy, arity: 1},
	"==":           {test: compileEquality(looseEqual), arity: 2},
	"===":          {test: compileEquality(sameValue), arity: 2},
	"!=":           {test: negated(compileEquality(looseEqual)), arity: 2},
	"!==":          {test: negated(compileEquality(sameValue)), arity: 2},
	"<":            {test: compileLess(false), arity: 3},
	"<=":           {test: compileLess(true), arity: 3},
	">":            {test: compileGreater(false), arity: 2},
	">=":           {test: compileGreater(true), arity: 2},
	"+":            {value: compileSum},
	"*":            {value: compileProduct, stateful: true},
	"-":            {value: compileMinus, arity: 2},
	"/":            {value: compileArithmetic(func(a, b float64) float64 { return a / b }), arity: 2},
	"%":            {value: compileArithmetic(math.Mod), arity: 2},
	"max":          {value: compileExtreme(math.Max, math.Inf(-1))},
	"min":          {value: compileExtreme(math.Min, math.Inf(1))},
	"in":           {test: compileIn, arity: 2},
	"cat":          {value: compileCat, stateful: true},
	"substr":       {value: compileSubstr, arity: 3},
	"map":          {value: compileMap, stateful: true, loop: true},
	"filter":       {value: compileFilter, stateful: true, loop: true},
	"reduce":       {value: compileReduce, stateful: true, loop: true},
	"all":          {test: compileQuantifier(false), stateful: true, loop: true},
	"some":         {test: compileQuantifier(true), stateful: true, loop: true},
	"none":         {test: negated(compileQuantifier(true)), stateful: true, loop: true},
	"merge":        {value: compileMerge, stateful: true},
	"fractional":   {value: compileFractional, stateful: true},
	"starts_with":  {value: compileAffix(strings.HasPrefix)},
	"ends_with":    {value: compileAffix(strings.HasSuffix)},
	"sem_ver":      {value: compileSemVer},
}

// compiler turns nodes into functions.
type compiler struct {
	flagKey  string
	scoped   bool // inside a loop's body, where data is an element
	stateful bool // an operator needs a state
	traced   bool // every node reports to the state's trace, so nothing is precomputed
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
	op := n.operator
	c.stateful = c.stateful || op.stateful
	if op.value != nil {
		return c.withSurplus(n, op, op.value(c, n))
	}
	test := op.test(c, n)
	return c.withSurplus(n, op, func(st *state, data Value) Value { return Bool(test(st, data)) })
}

// test compiles a node whose caller only needs its truthiness.
func (c *compiler) test(n *node) testFunc {
	op := n.operator
	if c.traced || n.kind != operationNode || op.test == nil || op.surplus(n) {
		value := c.value(n)
		return func(st *state, data Value) bool { return value(st, data).Truthy() }
	}
	c.stateful = c.stateful || op.stateful
	return op.test(c, n)
}

// surplus reports whether there are more arguments than the operator reads.
func (op operator) surplus(n *node) bool { return op.arity > 0 && len(n.args) > op.arity }

// withSurplus also evaluates the arguments that the operator ignores: the reference does so, and an argument may fail.
func (c *compiler) withSurplus(n *node, op operator, fn evalFunc) evalFunc {
	if !op.surplus(n) {
		return fn
	}
	surplus := c.values(n.args[op.arity:])
	return func(st *state, data Value) Value {
		evaluateAll(surplus, st, data)
		return fn(st, data)
	}
}

func (c *compiler) values(nodes []*node) []evalFunc { return compileEach(nodes, c.value) }

func (c *compiler) tests(nodes []*node) []testFunc { return compileEach(nodes, c.test) }

func compileEach[F any](nodes []*node, compile func(*node) F) []F {
	fns := make([]F, len(nodes))
	for i, n := range nodes {
		fns[i] = compile(n)
	}
	return fns
}

// list compiles an array. Every evaluation returns a new array, since arrays compare by identity.
func (c *compiler) list(n *node) evalFunc {
	c.stateful = true
	elements := c.values(n.args)
	return func(st *state, data Value) Value {
		return st.built(Array(evaluateAll(elements, st, data)...))
	}
}

func evaluateAll(fns []evalFunc, st *state, data Value) []Value {
	values := make([]Value, len(fns))
	for i, fn := range fns {
		values[i] = fn(st, data)
	}
	return values
}

// discard compiles an operator with a wrong number of arguments: the arguments are evaluated, and the result is null.
func (c *compiler) discard(n *node) evalFunc {
	args := c.values(n.args)
	return func(st *state, data Value) Value {
		evaluateAll(args, st, data)
		return Null()
	}
}

func constant(v Value) evalFunc {
	return func(*state, Value) Value { return v }
}

// known returns the value of an argument that is the same at every evaluation: a literal, or an array of scalars. Callers
// must not pass the array on, since its identity would be visible.
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

// argument compiles the argument at i; a missing argument is undefined.
func (c *compiler) argument(n *node, i int) evalFunc {
	if i >= len(n.args) {
		return constant(Value{})
	}
	return c.value(n.args[i])
}

// testArgument is argument for a caller that only needs the truthiness.
func (c *compiler) testArgument(n *node, i int) testFunc {
	if i >= len(n.args) {
		return func(*state, Value) bool { return false }
	}
	return c.test(n.args[i])
}

// source is an argument that an operator reads. A plain variable, the common case, is read without another call.
type source struct {
	fn   evalFunc // nil for a plain variable
	path path
}

// source compiles the argument at i for an operator that reads the argument but does not return it.
func (c *compiler) source(n *node, i int) source {
	if v, ok := c.known(n, i); ok {
		return source{fn: constant(v)}
	}
	if p, ok := c.plainVariable(n, i); ok {
		return source{path: p}
	}
	return source{fn: c.argument(n, i)}
}

// plainVariable returns the path of an argument that is a `var` with only a name.
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

// coerced is get for an operator that converts the value to text or a number.
func (s *source) coerced(st *state, data Value) Value { return st.coerced(s.get(st, data)) }

func (s *source) get(st *state, data Value) Value {
	if s.fn != nil {
		return s.fn(st, data)
	}
	return orNull(s.path.get(data))
}
