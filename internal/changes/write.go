package changes

import (
	"context"

	"github.com/signalbox/signalbox/internal/fault"
)

// Match decides, inside the transaction, whether a resource is still the one
// that a caller means to write. A nil Match does not ask.
type Match[T any] func(current T) bool

// Check refuses the write when the resource is another by now.
func (m Match[T]) Check(current T) error {
	if m == nil || m(current) {
		return nil
	}
	return fault.New(fault.VersionMismatch, "The resource has changed since it was read. Read it again and repeat the change.")
}

// Target is a stored resource that somebody means to write.
type Target[T any] struct {
	Account   string
	Actor     Actor
	Kind, Key string
	Match     Match[T]
	// Load reads the resource in the transaction of the write.
	Load func() (T, error)
}

// Replace is the shape of every replace: read the resource under the lock,
// check the precondition, let change store what it becomes, record it.
func Replace[T any](ctx context.Context, tx Recorder, target Target[T], change func(before T) (T, error)) (T, error) {
	var none T
	before, err := target.load()
	if err != nil {
		return none, err
	}
	after, err := change(before)
	if err != nil {
		return none, err
	}
	return after, Record(ctx, tx, target.Account, target.Actor, target.Kind, target.Key, &before, &after)
}

// Delete is the shape of every deletion.
func Delete[T any](ctx context.Context, tx Recorder, target Target[T], remove func(before T) error) error {
	before, err := target.load()
	if err != nil {
		return err
	}
	if err := remove(before); err != nil {
		return err
	}
	return Record(ctx, tx, target.Account, target.Actor, target.Kind, target.Key, &before, nil)
}

func (t Target[T]) load() (T, error) {
	current, err := t.Load()
	if err != nil {
		return current, err
	}
	return current, t.Match.Check(current)
}
