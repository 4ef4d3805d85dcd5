package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

const (
	// maxFlags is how many flags a box keeps up to date. It is the maximum of an account.
	maxFlags = 10_000
	// maxFlagValues is how many values of a flag have their own counter.
	maxFlagValues = 100
)

// Flag is a declared flag. It is safe for concurrent use; reading it takes no lock.
type Flag[T any] struct {
	box         *Box
	declaration signalbox.ReportedFlag
	fallback    T
	read        func(flageval.Evaluation) (T, bool)
	current     atomic.Pointer[served[T]]
	listeners   listeners
	// counters are by the text of the value. They stay when the flag's definition changes, so that no count is lost.
	counters map[string]*counter // guarded by flagTable.mu
}

// Detail is a flag's value for a context, and why.
type Detail[T any] struct {
	Value  T
	Reason flageval.Reason
	// Rule is the index of the rule that decided, or [flageval.NoRule].
	Rule int
	// Variant is the name of the value. A value without a name has its origin: "rule-0", "environment" or "default".
	Variant string
	// Code is why the value is the code's default; None unless the reason is Error.
	Code flageval.Code
}

// served is a flag's definition with every value prepared.
type served[T any] struct {
	flag flageval.Bound
	// outcomes has the outcome of rule i at i+1. The first is for the case that no rule matches.
	outcomes []outcome[T]
}

// outcome is one value that a flag may have.
type outcome[T any] struct {
	value   T
	variant string
	code    flageval.Code // why value is the code's default
	count   *counter
}

// Bool declares a BOOLEAN flag. Get returns fallback while the account has no flag with this key and type.
func (b *Box) Bool(key string, fallback bool) *Flag[bool] {
	return declare(b, flageval.Boolean, key, fallback, flageval.Evaluation.Bool)
}

// String declares a STRING flag.
func (b *Box) String(key, fallback string) *Flag[string] {
	return declare(b, flageval.String, key, fallback, flageval.Evaluation.Text)
}

// Number declares a NUMERIC flag.
func (b *Box) Number(key string, fallback float64) *Flag[float64] {
	return declare(b, flageval.Numeric, key, fallback, flageval.Evaluation.Number)
}

// JSON declares a JSON flag whose values decode into a T. Every value is decoded once, when it arrives: do not change the
// result of Get. A value that does not decode is replaced by the fallback.
func JSON[T any](b *Box, key string, fallback T) *Flag[T] {
	return declare(b, flageval.JSON, key, fallback, func(e flageval.Evaluation) (T, bool) {
		var value T
		text, ok := e.JSON()
		if !ok || json.Unmarshal(text, &value) != nil {
			return value, false
		}
		return value, true
	})
}

// Key returns the flag's key.
func (f *Flag[T]) Key() string { return f.declaration.ID }

// Get returns the flag's value for the contexts in ctx; see [WithContext].
func (f *Flag[T]) Get(ctx context.Context) T {
	found, _ := f.evaluate(ctx)
	return found.value
}

// GetDetail returns the flag's value for the contexts in ctx, and the reason for it.
func (f *Flag[T]) GetDetail(ctx context.Context) Detail[T] {
	found, e := f.evaluate(ctx)
	if found.code != flageval.None {
		return Detail[T]{Value: found.value, Reason: flageval.Error, Rule: flageval.NoRule, Code: found.code}
	}
	return Detail[T]{Value: found.value, Reason: e.Reason, Rule: e.Rule, Variant: found.variant}
}

// OnChange calls a function whenever the flag's definition has changed, which may change its value. Calls come one after the
// other, not on the goroutine that applies changes. stop ends the calls.
func (f *Flag[T]) OnChange(listener func()) (stop func()) {
	return f.listeners.add(f.box.callbacks, listener)
}

func (f *Flag[T]) evaluate(ctx context.Context) (*outcome[T], flageval.Evaluation) {
	now := f.current.Load()
	e := now.flag.Evaluate(f.box.evaluated(ctx))
	found := &now.outcomes[e.Rule+1]
	found.count.add()
	return found, e
}

// declaredFlag is a Flag of any type.
type declaredFlag interface {
	declared() signalbox.ReportedFlag
	serve(flag flageval.Bound, choices []signalbox.FlagChoice)
	changed()
	takeCounts(yield func(count))
	summary() flagSummary
}

func (f *Flag[T]) declared() signalbox.ReportedFlag { return f.declaration }

func (f *Flag[T]) changed() { f.listeners.notify() }

// serve prepares every value that the flag may have.
func (f *Flag[T]) serve(flag flageval.Bound, choices []signalbox.FlagChoice) {
	next := &served[T]{flag: flag, outcomes: make([]outcome[T], flag.Rules()+1)}
	for i := range next.outcomes {
		next.outcomes[i] = f.outcome(flag.Serves(i-1), choices)
	}
	f.current.Store(next)
}

func (f *Flag[T]) outcome(e flageval.Evaluation, choices []signalbox.FlagChoice) outcome[T] {
	if value, ok := f.read(e); ok {
		return outcome[T]{value: value, variant: variant(e, choices), count: f.counter(e.Raw())}
	}
	code := e.Code
	if code == flageval.None {
		code = flageval.TypeMismatch
	}
	return outcome[T]{value: f.fallback, code: code, count: f.counter(f.declaration.Default)}
}

// variant returns the name of a value, or its origin in the server's words.
func variant(e flageval.Evaluation, choices []signalbox.FlagChoice) string {
	for _, each := range choices {
		if each.Name != "" && sameValue(each.Value, e.Raw()) {
			return each.Name
		}
	}
	switch {
	case e.Rule != flageval.NoRule:
		return fmt.Sprint("rule-", e.Rule)
	case e.EnvironmentDefault:
		return "environment"
	}
	return "default"
}

// sameValue reports whether two JSON texts are the same value.
func sameValue(a, b json.RawMessage) bool {
	first, err := jsonlogic.Parse(a)
	second, otherErr := jsonlogic.Parse(b)
	return err == nil && otherErr == nil && bytes.Equal(first.AppendJSON(nil), second.AppendJSON(nil))
}

// counter returns the counter for a value. Beyond maxFlagValues, new values share one counter.
func (f *Flag[T]) counter(value json.RawMessage) *counter {
	const others = ""
	text := string(value)
	if _, known := f.counters[text]; !known && len(f.counters) >= maxFlagValues {
		text = others
	}
	found := f.counters[text]
	if found == nil {
		found = newCounter()
		f.counters[text] = found
	}
	return found
}

func (f *Flag[T]) takeCounts(yield func(count)) {
	for value, each := range f.counters {
		if n := each.take(); n > 0 {
			yield(count{flag: f.declaration.ID, value: value, n: n, from: each})
		}
	}
}

// summary returns the flag's line of the debug page.
func (f *Flag[T]) summary() flagSummary {
	now := f.current.Load()
	shown := flagSummary{Key: f.declaration.ID, Type: f.declaration.Type, Default: f.declaration.Default, Rules: now.flag.Rules(), Code: now.outcomes[0].code}
	if text, err := json.Marshal(now.outcomes[0].value); err == nil {
		shown.Serves = text
	}
	return shown
}

// flagTable has the declared flags and the definitions of all flags.
type flagTable struct {
	environment string
	listeners   keyListeners

	mu          sync.Mutex
	definitions map[string]signalbox.Flag
	declared    map[flagIdentity]declaredFlag
	byKey       map[string][]declaredFlag
}

// flagIdentity identifies a declaration. Repeating a declaration returns the flag of the first.
type flagIdentity struct {
	key      string
	typ      flageval.Type
	goType   goType
	fallback string
}

// goType is the Go type of a declaration's default. static and dynamic differ if the static type is an interface, such as any.
// The names of types would not do, because two packages or functions may use the same name.
type goType struct{ static, dynamic reflect.Type }

func goTypeOf[T any](value T) goType { return goType{reflect.TypeFor[T](), reflect.TypeOf(value)} }

func newFlagTable(environment string) *flagTable {
	return &flagTable{environment: environment, declared: map[flagIdentity]declaredFlag{}, byKey: map[string][]declaredFlag{}}
}

func declare[T any](b *Box, typ flageval.Type, key string, fallback T, read func(flageval.Evaluation) (T, bool)) *Flag[T] {
	text, err := json.Marshal(fallback)
	if err != nil {
		text = []byte("null") // only a JSON flag can have a fallback that does not encode, and it may be declared with null
	}
	made := &Flag[T]{box: b, fallback: fallback, read: read, counters: map[string]*counter{}, declaration: signalbox.ReportedFlag{
		ID: key, Type: typ, Default: bytes.Clone(text), Service: b.settings.service, Environment: b.settings.environment}}
	identity := flagIdentity{key, typ, goTypeOf(fallback), string(text)}
	kept := b.flags.declare(identity, made)
	if kept == declaredFlag(made) {
		b.reports.newDeclaration()
	}
	return kept.(*Flag[T])
}

// declare adds a flag, unless it is declared already, and prepares its values. A flag beyond maxFlags is not added: its
// values never change.
func (t *flagTable) declare(identity flagIdentity, made declaredFlag) declaredFlag {
	t.mu.Lock()
	defer t.mu.Unlock()
	if found, known := t.declared[identity]; known {
		return found
	}
	t.serve(made, identity.key)
	if len(t.declared) < maxFlags {
		t.declared[identity] = made
		t.byKey[identity.key] = append(t.byKey[identity.key], made)
	}
	return made
}

// serve sets the definition of a declared flag, or removes it. Only declared flags are compiled.
func (t *flagTable) serve(declared declaredFlag, key string) {
	definition, known := t.definitions[key]
	if !known {
		declared.serve(flageval.Bound{}, nil)
		return
	}
	declared.serve(flageval.Compile(definition.Definition()).In(t.environment), definition.Values)
}

// replace sets the definitions of all flags. changed has the keys of the definitions that differ from before.
func (t *flagTable) replace(definitions map[string]signalbox.Flag, changed []string) {
	t.mu.Lock()
	t.definitions = definitions
	var affected []declaredFlag
	for _, key := range changed {
		for _, each := range t.byKey[key] {
			t.serve(each, key)
			affected = append(affected, each)
		}
	}
	t.mu.Unlock()
	for _, each := range affected {
		each.changed()
	}
	t.listeners.notify(changed)
}

// all returns the declared flags.
func (t *flagTable) all() []declaredFlag {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.declared))
}

// takeCounts yields the evaluations by flag and value since the last call.
func (t *flagTable) takeCounts(yield func(count)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, each := range t.declared {
		each.takeCounts(yield)
	}
}
