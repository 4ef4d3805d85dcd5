package jsonlogic

import (
	"errors"
	"fmt"
	"sync"
)

// Rule is a compiled rule. It is immutable and safe for concurrent use.
type Rule struct {
	root    *node
	flagKey string
	value   evalFunc
	test    testFunc
	states  *sync.Pool // nil when no operator of the rule needs a state
}

// Option configures Compile.
type Option func(*Rule)

// FlagKey sets the key of the rule's flag. `fractional` hashes it together with the targeting key, so that two flags split
// the same users differently. `{"var":"$flagd.flagKey"}` reads the key.
func FlagKey(key string) Option {
	return func(r *Rule) { r.flagKey = key }
}

// Compile parses a rule and prepares it for evaluation. Its error is an *Error.
func Compile(source []byte, options ...Option) (*Rule, error) {
	if len(source) > MaxSource {
		return nil, refuse(CodeTooLarge, "", fmt.Sprintf("a rule may have at most %d bytes", MaxSource))
	}
	parsed, err := Parse(source)
	switch {
	case errors.Is(err, errTooDeep):
		return nil, refuse(CodeTooDeep, "", fmt.Sprintf("a rule may be at most %d levels deep", MaxDepth))
	case err != nil:
		return nil, refuse(CodeMalformed, "", err.Error())
	}
	r := &Rule{}
	for _, option := range options {
		option(r)
	}
	if r.root, err = new(builder).build(parsed, nil, "", 0); err != nil {
		return nil, err
	}
	r.prepare()
	return r, nil
}

// prepare compiles the tree.
func (r *Rule) prepare() {
	c := compiler{flagKey: r.flagKey}
	r.value, r.test = c.value(r.root), c.test(r.root)
	if c.stateful {
		r.states = &sync.Pool{New: func() any { return new(state) }}
	}
}

// Evaluate applies the rule to data. The error is ErrLimit or ErrType.
func (r *Rule) Evaluate(data Value) (Value, error) {
	if r.plain(data) {
		return r.value(nil, data), nil
	}
	st := r.acquire(data)
	v := r.value(st, data)
	_, err := r.release(st)
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// plain reports whether an evaluation needs no state: no operator uses a state, and the data is so small that fuel cannot
// run out even if every node converts all data to text.
func (r *Rule) plain(data Value) bool {
	return r.states == nil && data.extent().weight*r.root.size <= maxFuel
}

// Decision is the result of a rule for one context.
type Decision struct {
	Matched bool  // the rule's result is truthy
	Split   bool  // a `fractional` was evaluated: the result depends on a bucket
	Err     error // ErrLimit, ErrType or ErrSteps; Matched is then false
}

// Decide applies the rule to data and reports whether the result is truthy.
func (r *Rule) Decide(data Value) Decision {
	if r.plain(data) {
		return Decision{Matched: r.test(nil, data)}
	}
	st := r.acquire(data)
	matched := r.test(st, data)
	split, err := r.release(st)
	return Decision{Matched: matched && err == nil, Split: split, Err: err}
}

// Constant returns the rule's value if the rule is a literal: a scalar, or an object that is not an operation.
func (r *Rule) Constant() (Value, bool) {
	return r.root.value, r.root.kind == literalNode
}

func (r *Rule) acquire(data Value) *state {
	if r.states == nil {
		return &state{root: data, fuel: maxFuel}
	}
	st := r.states.Get().(*state)
	st.root, st.fuel = data, maxFuel
	return st
}

// release clears the state, so that the pool keeps no data alive.
func (r *Rule) release(st *state) (split bool, err error) {
	split, err = st.split, st.err
	if r.states != nil {
		*st = state{}
		r.states.Put(st)
	}
	return split, err
}
