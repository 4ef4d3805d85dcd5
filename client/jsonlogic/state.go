package jsonlogic

// The limits of one evaluation. Without them a short rule could run for hours or fill the memory: nested loops multiply
// the work, and an accumulator can double in every step.
const (
	maxFuel        = 1 << 20 // nodes evaluated in loops, elements copied, bytes of text built or converted
	maxBuiltWeight = 1 << 26
	maxBuiltDepth  = 2 * MaxDataDepth
)

// state is the state of one evaluation. A rule whose operators need no state runs with a nil state.
type state struct {
	root  Value // the data of the whole rule; inside a loop, data is an element
	fuel  int
	split bool
	err   error
	trace *trace
}

// fail records the first error; results after it are ignored.
func (st *state) fail(err error) {
	if st != nil && st.err == nil {
		st.err = err
	}
}

// spend uses fuel and reports whether the evaluation may continue.
func (st *state) spend(n int) bool {
	if st == nil {
		return true
	}
	st.fuel -= n
	if st.fuel < 0 {
		st.fail(ErrLimit)
	}
	return st.err == nil
}

// freeWeight is the weight up to which conversions to text or a number cost no fuel.
const freeWeight = 64

// coerced uses fuel for a value that is about to be converted to text or a number. It returns null when there is no fuel
// left.
func (st *state) coerced(v Value) Value {
	if st == nil || v.kind != KindString && v.kind != KindArray {
		return v
	}
	if weight := v.extent().weight; weight > freeWeight && !st.spend(weight) {
		return Null()
	}
	return v
}

// built checks the size of a value that the evaluation made.
func (st *state) built(v Value) Value {
	if e := v.extent(); e.depth > maxBuiltDepth || e.weight > maxBuiltWeight {
		st.fail(ErrLimit)
		return Null()
	}
	return v
}
