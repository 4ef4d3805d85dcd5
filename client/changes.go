package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// Change is one recorded write. Its id is its number in the account, which grows with time.
type Change struct {
	Resource
	// Kind is the type of the changed resource, such as "environment", and Key its id.
	Kind string `json:"kind"`
	Key  string `json:"key"`
	// Action is what was done: created, updated, deleted, revoked and so on.
	Action string `json:"action"`
	Actor  Actor  `json:"actor"`
	// Before and After are the resource's attributes without secrets. They are null when the resource did not exist,
	// when they are no longer kept, and when the change is private.
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
	// Private reports whether Before and After were withheld because they are the settings of another user.
	Private bool `json:"private,omitempty"`
	// Summary says in sentences what the change did.
	Summary []Sentence `json:"summary"`
	// Note is the reason that the caller gave, or nil.
	Note *string `json:"note"`
	// Diff is a JSON Patch (RFC 6902) from Before to After; nil in lists.
	Diff []PatchOperation `json:"diff"`
	// Reverts is the number of the change that this one reverted, or nil.
	Reverts   *int64    `json:"reverts"`
	CreatedAt time.Time `json:"created_at"`
	// DocumentsRemoved reports whether the server dropped Before and After because the account's history became too
	// large. Such a change cannot be reverted.
	DocumentsRemoved bool `json:"documents_removed"`
}

// Sentence is one thing that a change did.
type Sentence struct {
	Text        string `json:"text"`                  // such as "Rule 3 moved to 1"
	Environment string `json:"environment,omitempty"` // the environment that it is about; empty for all
	Pointer     string `json:"pointer"`               // a JSON Pointer to the member of After; empty is the whole resource
}

// PatchOperation is one operation of a JSON Patch.
type PatchOperation struct {
	// Op is "add", "remove" or "replace".
	Op string `json:"op"`
	// Path is a JSON pointer; "" is the whole document.
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// Actor is the person, key or program that made a change.
type Actor struct {
	// Type is "user", "api_key", "operator" (a command on the server's machine) or "system" (Signalbox itself).
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// ChangeParams filter changes. The newest come first.
type ChangeParams struct {
	// Resource is kind:key of the changed resource, such as "environment:staging"; empty lists all.
	Resource string
	// Actor is the id of the actor of the changes; empty lists all.
	Actor string
	// From (inclusive) and To (exclusive) limit the time of the changes; the zero time is an open end.
	From, To time.Time
	// Size is the number of changes per page, up to 1000; 0 is the server's default.
	Size int
	// After is the Next of the previous page; empty selects the first page.
	After string
}

// ChangesAPI reads the history of the account.
type ChangesAPI struct{ changes collection[Change, *Change] }

func (p ChangeParams) query() url.Values {
	return filtered(cursorQuery(p.Size, p.After), "resource", p.Resource, "actor", p.Actor, "created_at", rangeFilter(p.From, p.To))
}

// Get returns the change with this number, and its diff. [IsNotFound] reports that the change does not exist or is no
// longer kept. Any role may read.
func (a ChangesAPI) Get(ctx context.Context, number int64) (Change, error) {
	return a.changes.get(ctx, strconv.FormatInt(number, 10))
}

// List returns one page of changes without their diffs, the newest first. [CursorPage.Next] is the After of the page
// that follows. Any role may read.
func (a ChangesAPI) List(ctx context.Context, params ChangeParams) (CursorPage[Change], error) {
	return a.changes.listAfter(ctx, params)
}

// All iterates over every change that params select, the newest first, starting at their page. It ends after the first
// error.
func (a ChangesAPI) All(ctx context.Context, params ChangeParams) iter.Seq2[Change, error] {
	return a.changes.allAfter(ctx, params)
}

// Revert restores a resource to its state before a change: it creates the resource again, replaces it or deletes it. It
// returns the new change. It fails if the resource was changed afterward, see [IsChangedSince]; some changes cannot be
// reverted, see [IsNotRevertible]. It needs the role that the write itself needs.
func (a ChangesAPI) Revert(ctx context.Context, number int64, options ...WriteOption) (Change, error) {
	return fetch[Change](ctx, a.changes.transport, post(nil, a.changes.path, strconv.FormatInt(number, 10), "actions", "revert").with(options))
}

// ForceRevert reverts a change even if the resource was changed afterward. The later changes are lost.
// [IsNotRevertible] reports that this kind of change cannot be reverted.
func (a ChangesAPI) ForceRevert(ctx context.Context, number int64, options ...WriteOption) (Change, error) {
	force := func(r *request) { r.query = url.Values{"force": {"true"}} }
	return a.Revert(ctx, number, append([]WriteOption{force}, options...)...)
}
