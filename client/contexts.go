package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
)

// ContextType is a kind of thing that rules read, such as "user".
type ContextType struct {
	Resource
	Name string `json:"name"`
	// Attributes has a member for every attribute that was reported for contexts of this type.
	Attributes map[string]json.RawMessage `json:"attributes"`
	Timestamps
}

// ContextTypeDraft replaces a context type.
type ContextTypeDraft struct {
	// Name is the id when it is empty.
	Name string `json:"name,omitempty"`
	// Attributes replace all attributes of the type; nil removes them until contexts with them are reported again.
	Attributes map[string]json.RawMessage `json:"attributes,omitempty"`
}

// ContextTypeParams filter context types.
type ContextTypeParams = SearchParams

// Context is one thing that rules read, such as the user "alice".
type Context struct {
	Resource
	// Type is the id of the context type, and Key identifies the context in that type.
	Type string `json:"context_type"`
	Key  string `json:"key"`
	Name string `json:"name"`
	// Attributes are the last reported attributes.
	Attributes map[string]json.RawMessage `json:"attributes"`
	Timestamps
}

// ContextDraft replaces a context. Everything but the name is reported, not written.
type ContextDraft struct {
	// Name is the key when it is empty.
	Name string `json:"name,omitempty"`
}

// ContextParams filter contexts.
type ContextParams struct {
	Paging
	// Type is the id of a context type; empty lists all types.
	Type string
	// Search is a part of the key or the name, ignoring case.
	Search string
}

// ReportedContext is a context that a running service has seen. It may also report an environment or a service, by type.
type ReportedContext struct {
	// Type is the id of the context type, and Key identifies the context in it.
	Type string `json:"type"`
	Key  string `json:"key"`
	// Attributes replace the attributes that were reported before; nil keeps them.
	Attributes map[string]any `json:"attributes,omitempty"`
}

// ContextTypesAPI manages the context types of the account.
type ContextTypesAPI struct {
	types collection[ContextType, *ContextType]
}

// ContextsAPI manages the contexts of the account. [ContextID] returns their ids.
type ContextsAPI struct{ contexts collection[Context, *Context] }

// ContextID returns the id of the context with a key in a type.
func ContextID(contextType, key string) string { return contextType + ":" + key }

// Draft returns a draft of the context type's current state.
func (t ContextType) Draft() ContextTypeDraft {
	return ContextTypeDraft{Name: t.Name, Attributes: t.Attributes}
}

// Draft returns a draft of the context's current state.
func (c Context) Draft() ContextDraft { return ContextDraft{Name: c.Name} }

func (p ContextParams) query() url.Values {
	return filtered(p.Paging.query(), "context_type", p.Type, "search", p.Search)
}

// Get returns a context type. [IsNotFound] reports that nobody has created or reported it. Any role may read.
func (a ContextTypesAPI) Get(ctx context.Context, id string) (ContextType, error) {
	return a.types.get(ctx, id)
}

// List returns one page of context types, by default in the order of their ids. [Paging.Sort] takes key (the id), name,
// created_at and updated_at. Any role may read.
func (a ContextTypesAPI) List(ctx context.Context, params ContextTypeParams) (Page[ContextType], error) {
	return a.types.list(ctx, params)
}

// All iterates over every context type that params select, starting at their page. It ends after the first error.
func (a ContextTypesAPI) All(ctx context.Context, params ContextTypeParams) iter.Seq2[ContextType, error] {
	return a.types.all(ctx, params)
}

// Create creates a context type before a context of it is reported. [IsAlreadyExists] reports that its id is in use. It
// needs the role MEMBER.
func (a ContextTypesAPI) Create(ctx context.Context, id string, draft ContextTypeDraft, options ...WriteOption) (ContextType, error) {
	return a.types.create(ctx, id, draft, options)
}

// Replace replaces a context type. [IsNotFound] reports that there is none with this id. It needs the role MEMBER.
func (a ContextTypesAPI) Replace(ctx context.Context, id string, draft ContextTypeDraft, options ...WriteOption) (ContextType, error) {
	return a.types.replace(ctx, id, draft, options)
}

// Apply replaces a context type, or creates it if there is none. It needs the role MEMBER.
func (a ContextTypesAPI) Apply(ctx context.Context, id string, draft ContextTypeDraft, options ...WriteOption) (ContextType, error) {
	return a.types.apply(ctx, id, draft, options)
}

// Delete deletes a context type and all its contexts. It needs the role MEMBER.
func (a ContextTypesAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.types.delete(ctx, id, options)
}

// Get returns a context with the attributes that were last reported; see [ContextID] for its id. [IsNotFound] reports
// that no service has reported it. Any role may read.
func (a ContextsAPI) Get(ctx context.Context, id string) (Context, error) {
	return a.contexts.get(ctx, id)
}

// List returns one page of contexts, by default in the order of their keys. [Paging.Sort] takes key, name, created_at
// and updated_at. Any role may read.
func (a ContextsAPI) List(ctx context.Context, params ContextParams) (Page[Context], error) {
	return a.contexts.list(ctx, params)
}

// All iterates over every context that params select, starting at their page. It ends after the first error.
func (a ContextsAPI) All(ctx context.Context, params ContextParams) iter.Seq2[Context, error] {
	return a.contexts.all(ctx, params)
}

// Replace renames a context. [IsNotFound] reports that no service has reported it. It needs the role MEMBER.
func (a ContextsAPI) Replace(ctx context.Context, id string, draft ContextDraft, options ...WriteOption) (Context, error) {
	return a.contexts.replace(ctx, id, draft, options)
}

// Delete deletes a context until it is reported again. It needs the role MEMBER.
func (a ContextsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.contexts.delete(ctx, id, options)
}

// Report sends the contexts that a running service has seen. Any role may report.
func (a ContextsAPI) Report(ctx context.Context, contexts []ReportedContext) (Reported, error) {
	return report(ctx, a.contexts.transport, a.contexts.path, contexts)
}
