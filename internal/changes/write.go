package changes

import (
	"context"

	"github.com/signalbox/signalbox/internal/fault"
)

// Match reports, inside the transaction, whether a resource is still in the
// state that the caller has read. A nil Match accepts any.
type Match[T any] func(current T) bool

// Check returns a VersionMismatch fault when the resource does not match.
func (m Match[T]) Check(current T) error {
	if m == nil || m(current) {
		return nil
	}
	return fault.New(fault.VersionMismatch, "The resource has changed since it was read. Read it again and repeat the change.")
}

// Target is a stored resource that is to be changed.
type Target[T any] struct {
	Account   string
	Actor     Actor
	Kind, Key string
	Match     Match[T]
	// Load reads the resource in the transaction of the write.
	Load func() (T, error)
}

// Replace loads the resource, checks the precondition, lets change store the
// new state, and records the change.
func Replace[T any](ctx context.Context, tx Recorder, target Target[T], change func(before T) (T, error)) (T, error) {
	before, err := target.load()
	if err != nil {
		return *new(T), err
	}
	after, err := change(before)
	if err != nil {
		return *new(T), err
	}
	return after, Record(ctx, tx, target.Account, target.Actor, target.Kind, target.Key, &before, &after)
}

// Delete loads the resource, checks the precondition, lets remove delete it,
// and records the change.
func Delete[T any](ctx context.Context, tx Recorder, target Target[T], remove func(before T) error) error {
	before, err := target.load()
	if err == nil {
		err = remove(before)
	}
	if err != nil {
		return err
	}
	return Record(ctx, tx, target.Account, target.Actor, target.Kind, target.Key, &before, nil)
}

func (t Target[T]) load() (T, error) {
	current, err := t.Load()
	if err == nil {
		err = t.Match.Check(current)
	}
	return current, err
}
