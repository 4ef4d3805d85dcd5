package jsonlogic

// The limits of one evaluation. Without them a rule of a few lines could keep a processor or fill the memory: nested
// loops multiply, and an accumulator can double in every step.
const (
	maxFuel        = 1 << 20 // nodes evaluated in loops, elements copied, bytes of text built or turned into numbers
	maxBuiltWeight = 1 << 26
	maxBuiltDepth  = 2 * MaxDataDepth
)

// state is what one evaluation carries besides its data. Rules whose operators need none run with a nil state.
type state struct {
	root  Value // the data of the whole rule, while loops narrow the scope
	fuel  int
	split bool
	err   error
	trace *trace
}

// fail ends the evaluation with an error; what operators return afterwards does not matter.
func (st *state) fail(err error) {
	if st != nil && st.err == nil {
		st.err = err
	}
}

// spend takes fuel and reports whether the evaluation may go on.
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

// freeWeight is what may be turned into text or a number without fuel: the node itself costs as much.
const freeWeight = 64

// coerced takes fuel for a value that an operator is about to turn into text or a number, which may be the whole of a
// large context each time. Without fuel it is null, and the evaluation has failed.
func (st *state) coerced(v Value) Value {
	if st == nil || v.kind != KindString && v.kind != KindArray {
		return v
	}
	if weight := v.extent().weight; weight > freeWeight && !st.spend(weight) {
		return Null()
	}
	return v
}

// built checks a value that the evaluation made, before another one can contain it.
func (st *state) built(v Value) Value {
	if e := v.extent(); e.depth > maxBuiltDepth || e.weight > maxBuiltWeight {
		st.fail(ErrLimit)
		return Null()
	}
	return v
}
