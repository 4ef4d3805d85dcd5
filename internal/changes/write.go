package changes

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Match reports, inside the transaction, whether a resource is still in the state that the
// caller has read. A nil Match matches every state.
type Match[T any] func(current T) bool

// Check returns a VersionMismatch fault if the resource does not match.
func (m Match[T]) Check(current T) error {
	if m == nil || m(current) {
		return nil
	}
	return fault.New(fault.VersionMismatch, "The resource has changed since it was read. Read it again and repeat the change.")
}

// Target is a stored resource to change.
type Target[T any] struct {
	Account   string
	Actor     Actor
	Kind, Key string
	Match     Match[T]
	// Load reads the resource in the transaction of the write.
	Load func() (T, error)
	// Hidden reports whether a member that the history does not show, such as a password, has
	// changed. It may be nil.
	Hidden func(before, after T) bool
}

// Replace loads the resource, checks the precondition, and calls decide, which validates and
// returns the new state. If the state differs, save stores it and the change is recorded.
// Otherwise nothing is stored or recorded, and updated_at keeps its value. A revert is always
// stored and recorded.
func Replace[T any](ctx context.Context, tx Recorder, target Target[T], decide func(before T) (T, error), save func(before, after T) error) (T, error) {
	before, err := target.load()
	if err != nil {
		return *new(T), err
	}
	after, err := decide(before)
	if err != nil {
		return *new(T), err
	}
	made, err := Edit[T]{target.Key, &before, &after}.change(target.Actor, "", target.Kind)
	if err != nil {
		return *new(T), err
	}
	hidden := target.Hidden != nil && target.Hidden(before, after)
	if !hidden && made.isRepetition() {
		return before, nil
	}
	if err := save(before, after); err != nil {
		return *new(T), err
	}
	return after, tx.RecordChanges(ctx, target.Account, made)
}

// IsRepetition reports whether the history would show no change except updated_at. A revert is
// never a repetition.
func IsRepetition[T any](actor Actor, kind, key string, before, after *T) (bool, error) {
	made, err := Edit[T]{key, before, after}.change(actor, "", kind)
	return made.isRepetition(), err
}

// isRepetition reports whether at most updated_at differs. A revert is never a repetition.
func (c Change) isRepetition() bool {
	if c.Reverts != nil || c.Before == nil || c.After == nil {
		return false
	}
	return slices.EqualFunc(timeless(c.Before), timeless(c.After), func(was, is member) bool {
		return was.name == is.name && bytes.Equal(was.value, is.value)
	})
}

// member is one member of a JSON document.
type member struct {
	name  string
	value json.RawMessage
}

// timeless returns the members of a document except updated_at.
func timeless(document json.RawMessage) (members []member) {
	rawjson.Members(document, func(name string, value json.RawMessage) {
		if name != "updated_at" {
			members = append(members, member{name, value})
		}
	})
	return members
}

// Delete loads the resource, checks the precondition, calls remove, which deletes the resource,
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
