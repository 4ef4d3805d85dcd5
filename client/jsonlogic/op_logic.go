package jsonlogic

// compileIf compiles `if`: conditions and results in turn, then an optional else.
func compileIf(c *compiler, n *node) evalFunc {
	pairs := len(n.args) / 2
	conditions, results := make([]testFunc, pairs), make([]evalFunc, pairs)
	for i := range pairs {
		conditions[i], results[i] = c.test(n.args[2*i]), c.value(n.args[2*i+1])
	}
	otherwise := constant(Null())
	if len(n.args)%2 == 1 {
		otherwise = c.value(n.args[len(n.args)-1])
	}
	return func(st *state, data Value) Value {
		for i, holds := range conditions {
			if holds(st, data) {
				return results[i](st, data)
			}
		}
		return otherwise(st, data)
	}
}

// compileFirst compiles `or`, which returns its first truthy argument, and `and`, which returns its first falsy argument.
// If there is none, both return the last argument.
func compileFirst(truthy bool) func(*compiler, *node) evalFunc {
	return func(c *compiler, n *node) evalFunc {
		args := c.values(n.args)
		return func(st *state, data Value) Value {
			var last Value
			for _, arg := range args {
				last = arg(st, data)
				if last.Truthy() == truthy {
					break
				}
			}
			return last
		}
	}
}

// compileFirstTest is compileFirst for a caller that only needs the truthiness of the result.
func compileFirstTest(truthy bool) func(*compiler, *node) testFunc {
	return func(c *compiler, n *node) testFunc {
		tests := c.tests(n.args)
		return func(st *state, data Value) bool {
			for _, test := range tests {
				if test(st, data) == truthy {
					return truthy
				}
			}
			return !truthy && len(tests) > 0
		}
	}
}

func compileTruthy(c *compiler, n *node) testFunc { return c.testArgument(n, 0) }

func negated(compile func(*compiler, *node) testFunc) func(*compiler, *node) testFunc {
	return func(c *compiler, n *node) testFunc {
		test := compile(c, n)
		return func(st *state, data Value) bool { return !test(st, data) }
	}
}

// compileEquality compiles == and ===. Most rules compare with a string literal, so two strings are compared directly:
// for them == and === are the same.
func compileEquality(equal func(st *state, a, b Value) bool) func(*compiler, *node) testFunc {
	return func(c *compiler, n *node) testFunc { return c.equality(n, equal) }
}

func (c *compiler) equality(n *node, equal func(st *state, a, b Value) bool) testFunc {
	left, right := c.source(n, 0), c.source(n, 1)
	known, ok := c.known(n, 1)
	other := left
	if !ok {
		known, ok = c.known(n, 0)
		other = right
	}
	if !ok || known.kind != KindString {
		return func(st *state, data Value) bool { return equal(st, left.get(st, data), right.get(st, data)) }
	}
	text := known.text()
	return func(st *state, data Value) bool {
		v := other.get(st, data)
		if v.kind == KindString {
			return v.text() == text
		}
		return equal(st, v, known)
	}
}

// compileLess compiles a < b, or with three arguments a < b < c. An undefined third argument is ignored.
func compileLess(orEqual bool) func(*compiler, *node) testFunc {
	return func(c *compiler, n *node) testFunc {
		a, b := c.source(n, 0), c.source(n, 1)
		if len(n.args) < 3 {
			return func(st *state, data Value) bool { return less(st, a.get(st, data), b.get(st, data), orEqual) }
		}
		third := c.source(n, 2)
		return func(st *state, data Value) bool {
			low, middle, high := a.get(st, data), b.get(st, data), third.get(st, data)
			return less(st, low, middle, orEqual) && (high.kind == KindUndefined || less(st, middle, high, orEqual))
		}
	}
}

func compileGreater(orEqual bool) func(*compiler, *node) testFunc {
	return func(c *compiler, n *node) testFunc {
		a, b := c.source(n, 0), c.source(n, 1)
		return func(st *state, data Value) bool { return less(st, b.get(st, data), a.get(st, data), orEqual) }
	}
}
