// Package optional has a member of an input that may be absent, null or present,
// which a full replace treats differently.
package optional

// Value is a member of an input. The zero Value is absent.
type Value[T any] struct {
	value T
	state state
}

type state uint8

const (
	absent state = iota
	null
	present
)

// Of returns a present member.
func Of[T any](value T) Value[T] { return Value[T]{value: value, state: present} }

// Null returns a member that was sent as null.
func Null[T any]() Value[T] { return Value[T]{state: null} }

// Get returns the member's value and whether it has one.
func (v Value[T]) Get() (T, bool) { return v.value, v.state == present }

// Or returns the member's value, or a fallback when it is absent or null.
func (v Value[T]) Or(fallback T) T {
	if v.state == present {
		return v.value
	}
	return fallback
}

// Pointer returns the member's value, or nil when it is absent or null.
func (v Value[T]) Pointer() *T {
	if v.state != present {
		return nil
	}
	return &v.value
}

// IsAbsent reports whether the member was left out.
func (v Value[T]) IsAbsent() bool { return v.state == absent }

// IsNull reports whether the member was sent as null.
func (v Value[T]) IsNull() bool { return v.state == null }
