package changes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Kinds of actor.
const (
	ActorKey      = "api_key"  // a request that carried an API key
	ActorOperator = "operator" // a command run on the machine itself
	ActorSystem   = "system"   // Signalbox by itself, such as an expiry
)

// Actor is who made a change.
type Actor struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Operator is the actor of commands run against the store.
func Operator() Actor {
	return Actor{Type: ActorOperator, ID: "command-line", Name: "signalbox command line"}
}

// System is the actor of what Signalbox does by itself.
func System() Actor {
	return Actor{Type: ActorSystem, ID: "signalbox", Name: "Signalbox"}
}

// Action says what was done to a resource.
type Action string

// The actions.
const (
	Created Action = "created"
	Updated Action = "updated"
	Deleted Action = "deleted"
	Revoked Action = "revoked"
	// Discovered is a report of running services that made resources.
	Discovered Action = "discovered"
	// Expired is a value that was removed because its time had come.
	Expired Action = "expired"
	// Cascaded is a change that followed from that of another resource.
	Cascaded Action = "cascaded"
)

// AllKeys is the key of a change that touches many resources of its kind.
const AllKeys = "*"

// Change is one write: what it did to which resource, who did it, and the
// resource before and after. Secrets are never in the documents.
type Change struct {
	Account string `json:"-"`
	Seq     int64  `json:"-"`
	// Kind is the JSON:API type of the resource.
	Kind      string          `json:"kind"`
	Key       string          `json:"key"`
	Action    Action          `json:"action"`
	Actor     Actor           `json:"actor"`
	Before    json.RawMessage `json:"before"`
	After     json.RawMessage `json:"after"`
	CreatedAt time.Time       `json:"created_at"`
}

// Recorder appends changes to an account's history, in their order. The
// store's transactions are recorders.
type Recorder interface {
	RecordChanges(ctx context.Context, account string, changes ...Change) error
}

// Record is the one way to note a write: it appends the change of a resource
// to the account's history, in the transaction that makes it. before is nil
// for a creation, after for a deletion; the action follows from them.
func Record[T any](ctx context.Context, tx Recorder, account string, actor Actor, kind, key string, before, after *T) error {
	return RecordEach(ctx, tx, account, actor, "", kind, []Edit[T]{{key, before, after}})
}

// RecordAs is Record for an action that the documents do not show by themselves.
func RecordAs[T any](ctx context.Context, tx Recorder, account string, actor Actor, action Action, kind, key string, before, after *T) error {
	return RecordEach(ctx, tx, account, actor, action, kind, []Edit[T]{{key, before, after}})
}

// Edit is what a write made of one resource.
type Edit[T any] struct {
	Key string
	// Before is nil for a creation, After for a deletion.
	Before, After *T
}

// action is what the documents show.
func (e Edit[T]) action() Action {
	switch {
	case e.Before == nil:
		return Created
	case e.After == nil:
		return Deleted
	default:
		return Updated
	}
}

// portion is how many changes are recorded at once: more would be no faster,
// and all their documents are in memory.
const portion = 256

// RecordEach is Record for a write of several resources, each of which has a
// change of its own. The action of each follows from its documents when none
// is named.
func RecordEach[T any](ctx context.Context, tx Recorder, account string, actor Actor, action Action, kind string, edits []Edit[T]) error {
	for part := range slices.Chunk(edits, portion) {
		made := make([]Change, len(part))
		for i, edit := range part {
			var err error
			if made[i], err = edit.change(actor, action, kind); err != nil {
				return fmt.Errorf("encoding %s %q for the history: %w", kind, edit.Key, err)
			}
		}
		if err := tx.RecordChanges(ctx, account, made...); err != nil {
			return err
		}
	}
	return nil
}

func (e Edit[T]) change(actor Actor, action Action, kind string) (Change, error) {
	if action == "" {
		action = e.action()
	}
	before, err := document(e.Before)
	if err != nil {
		return Change{}, err
	}
	after, err := document(e.After)
	return Change{Kind: kind, Key: e.Key, Actor: actor, Action: action, Before: before, After: after}, err
}

// recorded is a resource whose document in the history is another than the one
// that is shown: what is only observed is no part of the history.
type recorded interface{ Recorded() any }

func document[T any](resource *T) (json.RawMessage, error) {
	if resource == nil {
		return nil, nil
	}
	if shown, ok := any(*resource).(recorded); ok {
		return json.Marshal(shown.Recorded())
	}
	return json.Marshal(resource)
}

// Filter narrows a reading of the history. Zero members do not filter.
type Filter struct {
	Kind, Key string
	ActorID   string
	From, To  time.Time // From is included, To is not
}
