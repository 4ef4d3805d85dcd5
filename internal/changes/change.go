package changes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Kinds of actor.
const (
	ActorKey      = "api_key"  // a request that carried an API key
	ActorUser     = "user"     // a person who signed in
	ActorOperator = "operator" // a command that was run on the server's machine
	ActorSystem   = "system"   // Signalbox itself, for example an expiry
)

// Actor identifies who made a change.
type Actor struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name"`
	// Reverts is the change that the actor undoes, if any.
	Reverts Reverted `json:"-"`
	// Note is the reason that the actor gave; empty for none.
	Note string `json:"-"`
}

// Operator returns the actor of commands that work on the store.
func Operator() Actor {
	return Actor{Type: ActorOperator, ID: "command-line", Name: "signalbox command line"}
}

// note returns the actor's note, or nil.
func (a Actor) note() *string {
	if a.Note == "" {
		return nil
	}
	return &a.Note
}

// System returns the actor of changes that Signalbox makes by itself.
func System() Actor { return Actor{Type: ActorSystem, ID: "signalbox", Name: "Signalbox"} }

// Action says what was done to a resource.
type Action string

// The actions.
const (
	Created Action = "created"
	Updated Action = "updated"
	Deleted Action = "deleted"
	Revoked Action = "revoked"
	// ResetRequested marks a user for whom a link was made that sets a new password.
	ResetRequested Action = "reset_requested"
	// Discovered marks a resource that a report of a running service created.
	Discovered Action = "discovered"
	// Expired marks a value that was removed at its expiry time.
	Expired Action = "expired"
	// Cascaded marks a change that followed from a change of another resource.
	Cascaded Action = "cascaded"
)

// AllKeys is the key of a change that covers several resources of its kind.
const AllKeys = "*"

// Change is one write: the resource before and after, and who changed it. The documents contain no
// secrets.
type Change struct {
	Account   string          `json:"-"`
	Seq       int64           `json:"-"`
	Kind      string          `json:"kind"` // the JSON:API type
	Key       string          `json:"key"`
	Action    Action          `json:"action"`
	Actor     Actor           `json:"actor"`
	Before    json.RawMessage `json:"before"`
	After     json.RawMessage `json:"after"`
	Private   bool            `json:"private,omitempty"` // before and after are omitted, because the reader may not see them
	Reverts   *int64          `json:"reverts"`           // the sequence number of the change that this one undid; nil for none
	Note      *string         `json:"note"`              // the reason that the actor gave; nil for none
	CreatedAt time.Time       `json:"created_at"`
	// Trimmed reports that Before and After were removed because the account's history was too large.
	Trimmed bool `json:"documents_removed,omitempty"`
	// Host is the destination of the job that the change is about. It is set while the change is recorded,
	// and is not stored.
	Host string `json:"-"`
}

// Recorder appends changes to an account's history, in the given order. The
// store's transactions implement it.
type Recorder interface {
	RecordChanges(ctx context.Context, account string, changes ...Change) error
}

// Record appends the change of one resource to the account's history, in the transaction of the
// write. before is nil for a creation, and after is nil for a deletion. The action follows from them.
func Record[T any](ctx context.Context, tx Recorder, account string, actor Actor, kind, key string, before, after *T) error {
	return RecordEach(ctx, tx, account, actor, "", kind, []Edit[T]{{key, before, after}})
}

// RecordAs is Record with an explicit action.
func RecordAs[T any](ctx context.Context, tx Recorder, account string, actor Actor, action Action, kind, key string, before, after *T) error {
	return RecordEach(ctx, tx, account, actor, action, kind, []Edit[T]{{key, before, after}})
}

// Edit is the change of one resource in a batch.
type Edit[T any] struct {
	Key           string
	Before, After *T // Before is nil for a creation, After is nil for a deletion
}

// recordBatch bounds how many documents are in memory at once. Larger batches are not faster.
const recordBatch = 256

// RecordEach records one change for each of several resources. If action is
// empty, the action of each change follows from its documents.
func RecordEach[T any](ctx context.Context, tx Recorder, account string, actor Actor, action Action, kind string, edits []Edit[T]) error {
	for part := range slices.Chunk(edits, recordBatch) {
		made := make([]Change, len(part))
		for i, edit := range part {
			var err error
			if made[i], err = edit.change(actor, action, kind); err != nil {
				return err
			}
		}
		if err := tx.RecordChanges(ctx, account, made...); err != nil {
			return err
		}
	}
	return nil
}

func (e Edit[T]) change(actor Actor, action Action, kind string) (Change, error) {
	switch {
	case action != "":
	case e.Before == nil:
		action = Created
	case e.After == nil:
		action = Deleted
	default:
		action = Updated
	}
	before, err := document(e.Before)
	after, failed := document(e.After)
	if err := cmp.Or(err, failed); err != nil {
		return Change{}, fmt.Errorf("encoding %s %q for the history: %w", kind, e.Key, err)
	}
	return Change{Kind: kind, Key: e.Key, Actor: actor, Action: action, Before: before, After: after, Reverts: actor.Reverts.by(kind, e.Key), Note: actor.note()}, nil
}

// recorded is implemented by resources with observed members, such as last_seen, which the history
// omits.
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

// Filter selects changes of the history. Zero members do not filter.
type Filter struct {
	Kind, Key string
	ActorID   string
	From, To  time.Time // From is included, To is not
}
