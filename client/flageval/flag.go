package flageval

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// Flag is a compiled definition. It is immutable and safe for concurrent use.
type Flag struct {
	key      string
	typ      Type
	plans    map[string]*plan
	absent   *plan // for environments without a configuration
	problems []Problem
}

// Problem is a part of a definition that cannot be served.
type Problem struct {
	Pointer string // JSON pointer into the definition
	Err     error  // a *jsonlogic.Error for invalid logic; Pointer includes its pointer
}

// plan is the compiled configuration of one environment.
type plan struct {
	enabled  bool
	rules    []rule
	fallback *served // served when no rule matches; nil when there is no usable default
	own      bool    // fallback is the environment's default, not the flag's
}

// rule is a compiled rule. Without logic it never matches.
type rule struct {
	logic       *jsonlogic.Rule
	value       *served
	description string
	problem     string // why there is no logic
}

// Compile prepares a definition. It leaves out invalid rules and values, so that one of them does not affect the others;
// see Problems.
func Compile(d Definition) *Flag {
	f := &Flag{key: d.Key, typ: d.Type, plans: make(map[string]*plan, len(d.Environments))}
	fallback := f.compileDefault(d)
	f.absent = &plan{enabled: true, fallback: fallback}
	for _, name := range slices.Sorted(maps.Keys(d.Environments)) {
		f.plans[name] = f.compilePlan(d.Environments[name], "/environments/"+escape(name), fallback)
	}
	return f
}

func (f *Flag) compileDefault(d Definition) *served {
	if isNull(d.Default) && d.Type != JSON {
		f.report("/default", errNoValue)
		return nil
	}
	return f.compileValue(d.Default, "/default")
}

func (f *Flag) compilePlan(e Environment, pointer string, fallback *served) *plan {
	p := &plan{enabled: e.Enabled, fallback: fallback, rules: make([]rule, len(e.Rules))}
	if !isNull(e.Default) {
		if own := f.compileValue(e.Default, pointer+"/default"); own != nil {
			p.fallback, p.own = own, true
		}
	}
	for i, r := range e.Rules {
		p.rules[i] = f.compileRule(r, pointer+"/rules/"+strconv.Itoa(i))
	}
	return p
}

func (f *Flag) compileRule(r Rule, pointer string) rule {
	out := rule{description: r.Description, value: f.compileValue(r.Value, pointer+"/value")}
	logic, err := compileLogic(r.Logic, f.key)
	switch {
	case err != nil:
		out.problem = err.Error()
		f.report(pointer+"/logic"+pointerOf(err), err)
	case logic == nil:
		out.problem = "empty logic never matches"
	case out.value == nil:
		out.problem = "the value cannot be served"
	default:
		out.logic = logic
	}
	return out
}

var errNoLogic = errors.New("logic is required")

// compileLogic returns nil for {}, which never matches.
func compileLogic(source json.RawMessage, flagKey string) (*jsonlogic.Rule, error) {
	if isNull(source) {
		return nil, errNoLogic
	}
	logic, err := jsonlogic.Compile(bytes.Clone(source), jsonlogic.FlagKey(flagKey))
	if err != nil {
		return nil, err
	}
	v, constant := logic.Constant()
	if constant && v.Kind() == jsonlogic.KindObject && len(v.Members()) == 0 {
		return nil, nil
	}
	return logic, nil
}

func (f *Flag) compileValue(raw json.RawMessage, pointer string) *served {
	s, err := newServed(f.typ, raw)
	if err != nil {
		f.report(pointer, err)
		return nil
	}
	return s
}

func (f *Flag) report(pointer string, err error) {
	f.problems = append(f.problems, Problem{Pointer: pointer, Err: err})
}

func pointerOf(err error) string {
	if refused, ok := errors.AsType[*jsonlogic.Error](err); ok {
		return refused.Pointer
	}
	return ""
}

// escape escapes a key for a JSON pointer.
func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// Key returns the flag's key.
func (f *Flag) Key() string { return f.key }

// Type returns the flag's type.
func (f *Flag) Type() Type { return f.typ }

// Problems returns the parts that Compile left out. The slice must not be changed.
func (f *Flag) Problems() []Problem { return f.problems }

// Evaluate returns the flag's value for a context in an environment.
func (f *Flag) Evaluate(environment string, context jsonlogic.Value) Evaluation {
	return f.plan(environment).evaluate(nil, context)
}

// EvaluateWithin is Evaluate for one of several flags, whose rules share the steps. When the steps are used up, a flag with
// rules has no value, and the code is General.
func (f *Flag) EvaluateWithin(steps *jsonlogic.Steps, environment string, context jsonlogic.Value) Evaluation {
	return f.plan(environment).evaluate(steps, context)
}

// In returns the flag in one environment.
func (f *Flag) In(environment string) Bound { return Bound{f.plan(environment)} }

func (f *Flag) plan(environment string) *plan {
	if p, ok := f.plans[environment]; ok {
		return p
	}
	return f.absent
}

// Bound is a flag in one environment. The zero Bound is a flag that does not exist.
type Bound struct{ plan *plan }

// Evaluate returns the flag's value for a context.
func (b Bound) Evaluate(context jsonlogic.Value) Evaluation {
	if b.plan == nil {
		return failed(FlagNotFound)
	}
	return b.plan.evaluate(nil, context)
}

// Rules returns the number of rules that the flag has in the environment.
func (b Bound) Rules() int {
	if b.plan == nil {
		return 0
	}
	return len(b.plan.rules)
}

// Serves returns the evaluation if the rule at an index matches or, for NoRule, if no rule matches. Callers can use it
// to prepare every value once.
func (b Bound) Serves(rule int) Evaluation {
	switch {
	case b.plan == nil:
		return failed(FlagNotFound)
	case rule == NoRule:
		return b.plan.serveFallback()
	}
	return b.plan.rules[rule].serve(rule, jsonlogic.Decision{})
}
