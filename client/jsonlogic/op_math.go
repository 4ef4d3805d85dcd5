package jsonlogic

import "math"

// compileSum compiles +, the sum of parseFloat of each argument.
func compileSum(c *compiler, n *node) evalFunc {
	args := c.sources(n)
	return func(st *state, data Value) Value {
		sum := 0.0
		for i := range args {
			sum += parseFloat(args[i].coerced(st, data))
		}
		return Number(sum)
	}
}

// compileProduct compiles *, the product of parseFloat of each argument. A single argument is returned unchanged, and a
// product without arguments is a TypeError.
func compileProduct(c *compiler, n *node) evalFunc {
	args := c.values(n.args)
	return func(st *state, data Value) Value {
		if len(args) == 0 {
			st.fail(ErrType)
			return Null()
		}
		product := args[0](st, data)
		for _, arg := range args[1:] {
			product = Number(parseFloat(st.coerced(product)) * parseFloat(st.coerced(arg(st, data))))
		}
		return product
	}
}

// compileMinus compiles -, a difference. Without a second argument, or if it is undefined, the first is negated.
func compileMinus(c *compiler, n *node) evalFunc {
	a, b := c.source(n, 0), c.source(n, 1)
	return func(st *state, data Value) Value {
		left, right := a.coerced(st, data), b.coerced(st, data)
		if right.kind == KindUndefined {
			return Number(-toNumber(left))
		}
		return Number(toNumber(left) - toNumber(right))
	}
}

func compileArithmetic(calculate func(a, b float64) float64) func(*compiler, *node) evalFunc {
	return func(c *compiler, n *node) evalFunc {
		a, b := c.source(n, 0), c.source(n, 1)
		return func(st *state, data Value) Value {
			return Number(calculate(toNumber(a.coerced(st, data)), toNumber(b.coerced(st, data))))
		}
	}
}

// compileExtreme compiles max and min. Without arguments the result is start, the infinity that every number beats.
func compileExtreme(pick func(a, b float64) float64, start float64) func(*compiler, *node) evalFunc {
	return func(c *compiler, n *node) evalFunc {
		args := c.sources(n)
		return func(st *state, data Value) Value {
			extreme := start
			for i := range args {
				extreme = jsExtreme(pick, extreme, toNumber(args[i].coerced(st, data)))
			}
			return Number(extreme)
		}
	}
}

// jsExtreme returns NaN if a or b is NaN, as JavaScript does; Go's Max and Min prefer an infinity.
func jsExtreme(pick func(a, b float64) float64, a, b float64) float64 {
	if a != a || b != b {
		return math.NaN()
	}
	return pick(a, b)
}
