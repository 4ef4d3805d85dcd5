// Package optional holds a member of an input that may be absent, null or
// present. A full replace treats the three differently, so they must survive
// the way from the request to the rule that decides.
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

// Of is a present member.
func Of[T any](value T) Value[T] { return Value[T]{value: value, state: present} }

// Null is a member that was sent as null.
func Null[T any]() Value[T] { return Value[T]{state: null} }

// Get gives the member's value and whether it has one.
func (v Value[T]) Get() (T, bool) { return v.value, v.state == present }

// Or gives the member's value, or a fallback when it is absent or null.
func (v Value[T]) Or(fallback T) T {
	if v.state == present {
		return v.value
	}
	return fallback
}

// Pointer gives the member's value, or nil when it is absent or null.
func (v Value[T]) Pointer() *T {
	if v.state != present {
		return nil
	}
	return &v.value
}

// IsAbsent tells whether the member was left out.
func (v Value[T]) IsAbsent() bool { return v.state == absent }

// IsNull tells whether the member was sent as null.
func (v Value[T]) IsNull() bool { return v.state == null }
