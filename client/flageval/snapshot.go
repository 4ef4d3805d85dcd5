package flageval

import (
	"encoding/json"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// table is an immutable set of flags by key.
type table[T any] struct {
	entries map[string]T
	keys    []string // sorted
}

// with returns a table with entries added, replaced and removed. If the keys are the same, it shares their list.
func (t table[T]) with(set map[string]T, remove []string) table[T] {
	next := table[T]{entries: maps.Clone(t.entries), keys: t.keys}
	if next.entries == nil {
		next.entries = make(map[string]T, len(set))
	}
	for _, key := range remove {
		delete(next.entries, key)
	}
	maps.Copy(next.entries, set)
	if !next.hasExactly(t.keys) {
		next.keys = slices.Sorted(maps.Keys(next.entries))
	}
	return next
}

func (t table[T]) hasExactly(keys []string) bool {
	if len(t.entries) != len(keys) {
		return false
	}
	for _, key := range keys {
		if _, ok := t.entries[key]; !ok {
			return false
		}
	}
	return true
}

// Snapshot is all flags of an account with all their environments. It is immutable and safe for concurrent use.
type Snapshot struct {
	flags table[*Flag]
}

// NewSnapshot returns a snapshot of flags. The last of flags with the same key wins.
func NewSnapshot(flags ...*Flag) *Snapshot { return new(Snapshot).With(flags, nil) }

// With returns a snapshot without the removed keys and with flags added or replaced. Each call copies the snapshot, so
// pass changes together.
func (s *Snapshot) With(flags []*Flag, removed []string) *Snapshot {
	set := make(map[string]*Flag, len(flags))
	for _, f := range flags {
		set[f.key] = f
	}
	return &Snapshot{flags: s.flags.with(set, removed)}
}

// Flag returns the flag with a key, and whether there is one.
func (s *Snapshot) Flag(key string) (*Flag, bool) {
	f, ok := s.flags.entries[key]
	return f, ok
}

// Keys returns the sorted keys of all flags. They must not be changed.
func (s *Snapshot) Keys() []string { return s.flags.keys }

// Evaluate returns a flag's value for a context in an environment.
func (s *Snapshot) Evaluate(environment, key string, context jsonlogic.Value) Evaluation {
	f, ok := s.flags.entries[key]
	if !ok {
		return failed(FlagNotFound)
	}
	return f.Evaluate(environment, context)
}

// In returns a view of the snapshot's flags in one environment.
func (s *Snapshot) In(environment string) *View {
	return NewView(environment, slices.Collect(maps.Values(s.flags.entries))...)
}

// View is all flags in one environment. It is immutable and safe for concurrent use.
type View struct {
	environment string
	plans       table[*plan]
}

// NewView returns a view of flags. The last of flags with the same key wins.
func NewView(environment string, flags ...*Flag) *View {
	return (&View{environment: environment}).With(flags, nil)
}

// With returns a view without the removed keys and with flags added or replaced.
func (v *View) With(flags []*Flag, removed []string) *View {
	set := make(map[string]*plan, len(flags))
	for _, f := range flags {
		set[f.key] = f.plan(v.environment)
	}
	return &View{environment: v.environment, plans: v.plans.with(set, removed)}
}

// Environment returns the name of the view's environment.
func (v *View) Environment() string { return v.environment }

// Keys returns the sorted keys of all flags. They must not be changed.
func (v *View) Keys() []string { return v.plans.keys }

// Evaluate returns the value of a flag of any type for a context.
func (v *View) Evaluate(key string, context jsonlogic.Value) Evaluation {
	p, ok := v.plans.entries[key]
	if !ok {
		return failed(FlagNotFound)
	}
	return p.evaluate(context)
}

// Bool returns the value of a BOOLEAN flag, or the fallback with reason Error.
func (v *View) Bool(key string, context jsonlogic.Value, fallback bool) (bool, Evaluation) {
	return valueOr(v.Evaluate(key, context), Evaluation.Bool, fallback)
}

// Text returns the value of a STRING flag, or the fallback with reason Error.
func (v *View) Text(key string, context jsonlogic.Value, fallback string) (string, Evaluation) {
	return valueOr(v.Evaluate(key, context), Evaluation.Text, fallback)
}

// Number returns the value of a NUMERIC flag, or the fallback with reason Error.
func (v *View) Number(key string, context jsonlogic.Value, fallback float64) (float64, Evaluation) {
	return valueOr(v.Evaluate(key, context), Evaluation.Number, fallback)
}

// JSON returns the text of a JSON flag, or the fallback with reason Error. It must not be changed.
func (v *View) JSON(key string, context jsonlogic.Value, fallback json.RawMessage) (json.RawMessage, Evaluation) {
	return valueOr(v.Evaluate(key, context), Evaluation.JSON, fallback)
}

// Live publishes the newest view to any number of readers without locks. The zero Live has no flags.
type Live struct {
	view atomic.Pointer[View]
}

// Load returns the newest view.
func (l *Live) Load() *View { return orEmpty(l.view.Load()) }

// Store publishes a view.
func (l *Live) Store(v *View) { l.view.Store(v) }

// Update publishes change(newest view). It calls change again if another update came in between.
func (l *Live) Update(change func(*View) *View) {
	for {
		old := l.view.Load()
		if l.view.CompareAndSwap(old, change(orEmpty(old))) {
			return
		}
	}
}

func orEmpty(v *View) *View {
	if v == nil {
		return &View{}
	}
	return v
}
