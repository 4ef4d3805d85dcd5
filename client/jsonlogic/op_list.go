package jsonlogic

// loop is the common part of the list operators: a list, and a body that gets one element as its data.
type loop struct {
	list source
	test testFunc
	body evalFunc
	cost int // fuel for one element
}

func (c *compiler) loop(n *node, asTest bool) *loop {
	l := &loop{list: c.source(n, 0), cost: 1}
	if len(n.args) > 1 {
		l.cost += n.args[1].size
	}
	outer := c.scoped
	c.scoped = true
	if asTest {
		l.test = c.testArgument(n, 1)
	} else {
		l.body = c.argument(n, 1)
	}
	c.scoped = outer
	return l
}

// items returns the elements of the list; none when it is not an array.
func (l *loop) items(st *state, data Value) []Value { return l.list.get(st, data).Items() }

// compileMap compiles `map`: the body's result for each element.
func compileMap(c *compiler, n *node) evalFunc {
	l := c.loop(n, false)
	return func(st *state, data Value) Value {
		items := l.items(st, data)
		out := make([]Value, 0, len(items))
		for _, item := range items {
			if !st.spend(l.cost) {
				break
			}
			out = append(out, l.body(st, item))
		}
		return st.built(Array(out...))
	}
}

// compileFilter compiles `filter`: the elements for which the body is truthy.
func compileFilter(c *compiler, n *node) evalFunc {
	l := c.loop(n, true)
	return func(st *state, data Value) Value {
		var out []Value
		for _, item := range l.items(st, data) {
			if !st.spend(l.cost) {
				break
			}
			if l.test(st, item) {
				out = append(out, item)
			}
		}
		return st.built(Array(out...))
	}
}

// compileReduce compiles `reduce`: the body gets {current, accumulator} and returns the next accumulator.
func compileReduce(c *compiler, n *node) evalFunc {
	l := c.loop(n, false)
	initial := constant(Null())
	if len(n.args) > 2 {
		initial = c.value(n.args[2])
	}
	return func(st *state, data Value) Value {
		list, accumulator := l.list.get(st, data), initial(st, data)
		for _, item := range list.Items() {
			if !st.spend(l.cost) {
				break
			}
			scope := Object(Member{"current", item}, Member{"accumulator", accumulator})
			accumulator = l.body(st, st.built(scope))
		}
		return accumulator
	}
}

// compileQuantifier compiles `some` (the body is truthy for an element) and `all` (there are elements, and the body is
// truthy for each). It stops at the first element for which the body's truthiness is decisive.
func compileQuantifier(decisive bool) func(*compiler, *node) testFunc {
	return func(c *compiler, n *node) testFunc {
		l := c.loop(n, true)
		return func(st *state, data Value) bool {
			items := l.items(st, data)
			for _, item := range items {
				if !st.spend(l.cost) {
					return false
				}
				if l.test(st, item) == decisive {
					return decisive
				}
			}
			return !decisive && len(items) > 0
		}
	}
}

// compileMerge compiles `merge`: one array of all arguments, with array arguments replaced by their elements.
func compileMerge(c *compiler, n *node) evalFunc {
	args := c.sources(n)
	return func(st *state, data Value) Value {
		var out []Value
		for i := range args {
			v := args[i].get(st, data)
			if v.kind != KindArray {
				out = append(out, v)
				continue
			}
			items := v.array().items
			if !st.spend(len(items)) {
				break
			}
			out = append(out, items...)
		}
		return st.built(Array(out...))
	}
}
