package signalbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Document is a resource of any kind, with its attributes as the server writes them.
type Document struct {
	Resource
	// Attributes is a JSON object.
	Attributes json.RawMessage
}

// DocumentKinds returns the kinds that [DocumentsAPI] supports. A kind comes after the kinds that it refers to: environments
// come before the values for them, and groups before their loggers.
func DocumentKinds() []string {
	return []string{"environment", "service", "context_type", "log_group", "logger", "config", "flag", "job", "webhook"}
}

// DocumentsAPI reads and writes resources as JSON, for programs that carry them from files or between servers. Other
// programs use the typed API of each kind.
type DocumentsAPI struct{ transport *transport }

// UnmarshalJSON keeps the attributes as they are.
func (d *Document) UnmarshalJSON(text []byte) error {
	d.Attributes = bytes.Clone(text)
	return nil
}

// of returns the collection of a kind.
func (a DocumentsAPI) of(kind string) (collection[Document, *Document], error) {
	if !slices.Contains(DocumentKinds(), kind) {
		return collection[Document, *Document]{}, fmt.Errorf("signalbox: there are no documents of kind %q; the kinds are %s", kind, strings.Join(DocumentKinds(), ", "))
	}
	return resources[Document](a.transport, kind, kind+"s"), nil
}

// All iterates over every resource of a kind. It ends after the first error.
func (a DocumentsAPI) All(ctx context.Context, kind string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		c, err := a.of(kind)
		if err != nil {
			yield(Document{}, err)
			return
		}
		allPages[Document](ctx, a.transport, Paging{}, c.path)(yield)
	}
}

// Get returns one resource of a kind, with its ETag.
func (a DocumentsAPI) Get(ctx context.Context, kind, id string) (Document, error) {
	c, err := a.of(kind)
	if err != nil {
		return Document{}, err
	}
	return c.get(ctx, id)
}

// Create creates a resource of a kind. It needs the role that the kind's own API names.
func (a DocumentsAPI) Create(ctx context.Context, kind, id string, attributes any, options ...WriteOption) (Document, error) {
	c, err := a.of(kind)
	if err != nil {
		return Document{}, err
	}
	return c.create(ctx, id, attributes, options)
}

// Replace replaces a resource of a kind; it creates a logger that does not exist. It needs the role that the kind's own API
// names.
func (a DocumentsAPI) Replace(ctx context.Context, kind, id string, attributes any, options ...WriteOption) (Document, error) {
	c, err := a.of(kind)
	if err != nil {
		return Document{}, err
	}
	return c.replace(ctx, id, attributes, options)
}

// Delete deletes a resource of a kind. It needs the role that the kind's own API names.
func (a DocumentsAPI) Delete(ctx context.Context, kind, id string, options ...WriteOption) error {
	c, err := a.of(kind)
	if err != nil {
		return err
	}
	return c.delete(ctx, id, options)
}
