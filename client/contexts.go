package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"time"
)

const (
	contextTypeKind        = "context_type"
	contextTypesCollection = "context_types"
	contextKind            = "context"
	contextsCollection     = "contexts"
)

// ContextType is a kind of thing that rules look at, such as "user".
type ContextType struct {
	Resource
	// Name is what people call it.
	Name string `json:"name"`
	// Attributes has a member for every attribute that contexts of this type
	// were seen with.
	Attributes map[string]json.RawMessage `json:"attributes"`
	// CreatedAt and UpdatedAt are when it was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ContextTypeDraft is what a context type is to become.
type ContextTypeDraft struct {
	// Name is what people call it; an empty one becomes the id.
	Name string `json:"name,omitempty"`
	// Attributes are all that it is to know; nil forgets them until contexts
	// with them are reported again.
	Attributes map[string]json.RawMessage `json:"attributes,omitempty"`
}

// ContextTypeParams choose context types.
type ContextTypeParams struct {
	Paging
	// Search is a part of the id or the name, in any case.
	Search string
}

// Context is one thing that rules look at, such as the user "alice".
type Context struct {
	Resource
	// Type is the id of its context type, and Key names it among those.
	Type string `json:"context_type"`
	Key  string `json:"key"`
	// Name is what people call it.
	Name string `json:"name"`
	// Attributes are what was last reported of it.
	Attributes map[string]json.RawMessage `json:"attributes"`
	// CreatedAt and UpdatedAt are when it was first reported and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ContextDraft is what a context is to become. Everything but the name is
// reported, not written.
type ContextDraft struct {
	// Name is what people call it; an empty one becomes the key.
	Name string `json:"name,omitempty"`
}

// ContextParams choose contexts.
type ContextParams struct {
	Paging
	// Type is the id of a context type; empty lists all types.
	Type string
	// Search is a part of the key or the name, in any case.
	Search string
}

// ReportedContext is something that a running service has met. The types
// "environment" and "service" report those.
type ReportedContext struct {
	// Type is the kind of thing, and Key names it among those.
	Type string `json:"type"`
	Key  string `json:"key"`
	// Attributes replace what was reported before; nil keeps it.
	Attributes map[string]any `json:"attributes,omitempty"`
}

// ContextTypesAPI is the context types of the account.
type ContextTypesAPI struct{ transport *transport }

// ContextsAPI is the contexts of the account.
type ContextsAPI struct{ transport *transport }

// ContextID is the id of the context with a key of a type.
func ContextID(contextType, key string) string { return contextType + ":" + key }

// Draft is the draft that changes nothing.
func (t ContextType) Draft() ContextTypeDraft {
	return ContextTypeDraft{Name: t.Name, Attributes: t.Attributes}
}

// Draft is the draft that changes nothing.
func (c Context) Draft() ContextDraft { return ContextDraft{Name: c.Name} }

func (p ContextTypeParams) query() url.Values {
	query := p.Paging.query()
	filter(query, "search", p.Search)
	return query
}

func (p ContextParams) query() url.Values {
	query := p.Paging.query()
	filter(query, "context_type", p.Type)
	filter(query, "search", p.Search)
	return query
}

// List gives one page of context types.
func (a ContextTypesAPI) List(ctx context.Context, params ContextTypeParams) (Page[ContextType], error) {
	return listed[ContextType](ctx, a.transport, params.query(), contextTypesCollection)
}

// All gives every context type from the page of the params on. It ends after
// the first error.
func (a ContextTypesAPI) All(ctx context.Context, params ContextTypeParams) iter.Seq2[ContextType, error] {
	return every(params.Paging, func(paging Paging) (Page[ContextType], error) {
		params.Paging = paging
		return a.List(ctx, params)
	})
}

// Get gives one context type.
func (a ContextTypesAPI) Get(ctx context.Context, id string) (ContextType, error) {
	return one[ContextType](ctx, a.transport, get(contextTypesCollection, id))
}

// Replace changes a context type. It needs the role MEMBER.
func (a ContextTypesAPI) Replace(ctx context.Context, id string, draft ContextTypeDraft, options ...WriteOption) (ContextType, error) {
	return one[ContextType](ctx, a.transport, put(enclose(contextTypeKind, id, draft), contextTypesCollection, id).with(options))
}

// Delete forgets a context type and all its contexts. It needs the role MEMBER.
func (a ContextTypesAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	_, err := a.transport.call(ctx, remove(contextTypesCollection, id).with(options), nil)
	return err
}

// List gives one page of contexts.
func (a ContextsAPI) List(ctx context.Context, params ContextParams) (Page[Context], error) {
	return listed[Context](ctx, a.transport, params.query(), contextsCollection)
}

// All gives every context from the page of the params on. It ends after the
// first error.
func (a ContextsAPI) All(ctx context.Context, params ContextParams) iter.Seq2[Context, error] {
	return every(params.Paging, func(paging Paging) (Page[Context], error) {
		params.Paging = paging
		return a.List(ctx, params)
	})
}

// Get gives one context; see [ContextID].
func (a ContextsAPI) Get(ctx context.Context, id string) (Context, error) {
	return one[Context](ctx, a.transport, get(contextsCollection, id))
}

// Replace renames a context. It needs the role MEMBER.
func (a ContextsAPI) Replace(ctx context.Context, id string, draft ContextDraft, options ...WriteOption) (Context, error) {
	return one[Context](ctx, a.transport, put(enclose(contextKind, id, draft), contextsCollection, id).with(options))
}

// Delete forgets a context until it is reported again. It needs the role MEMBER.
func (a ContextsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	_, err := a.transport.call(ctx, remove(contextsCollection, id).with(options), nil)
	return err
}

// Report tells the server what a running service has met. Items that it does
// not take are listed in the result, and the others are kept. Every role may
// report.
func (a ContextsAPI) Report(ctx context.Context, contexts []ReportedContext) (Reported, error) {
	return report(ctx, a.transport, contextsCollection, contexts)
}
