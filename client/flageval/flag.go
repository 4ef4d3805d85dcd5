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
	absent   *plan // for environments that the flag does not configure
	problems []Problem
}

// Problem is something in a definition that can never be served.
type Problem struct {
	Pointer string // JSON pointer (RFC 6901) into the definition, as a document spells it
	Err     error  // a *jsonlogic.Error for logic that was refused, with Pointer including its own
}

// plan is what to do in one environment.
type plan struct {
	enabled bool
	rules   []rule
	rest    *served // when no rule decides; nil when there is nothing to serve
}

// rule is one compiled rule. Without logic it never matches.
type rule struct {
	logic       *jsonlogic.Rule
	value       *served
	description string
	problem     string // why there is no logic
}

// Compile prepares a definition. What cannot be served is left out, so that one bad rule takes neither its flag nor the
// other flags with it; Problems tells.
func Compile(d Definition) *Flag {
	f := &Flag{key: d.Key, typ: d.Type, plans: make(map[string]*plan, len(d.Environments))}
	fallback := f.compileDefault(d)
	f.absent = &plan{enabled: true, rest: fallback}
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
	p := &plan{enabled: e.Enabled, rest: fallback, rules: make([]rule, len(e.Rules))}
	if !isNull(e.Default) {
		if own := f.compileValue(e.Default, pointer+"/default"); own != nil {
			p.rest = own
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

// Problems lists what Compile left out, not to be changed. It is empty for a definition that can be served whole.
func (f *Flag) Problems() []Problem { return f.problems }

// Evaluate decides the flag for a context in an environment.
func (f *Flag) Evaluate(environment string, context jsonlogic.Value) Evaluation {
	return f.plan(environment).evaluate(context)
}

func (f *Flag) plan(environment string) *plan {
	if p, ok := f.plans[environment]; ok {
		return p
	}
	return f.absent
}
