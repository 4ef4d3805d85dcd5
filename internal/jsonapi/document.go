package jsonapi

import "github.com/signalbox/signalbox/internal/page"

// MediaType is the type of every envelope.
const MediaType = "application/vnd.api+json"

// Resource is one resource of a document.
type Resource struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Attributes any    `json:"attributes"`
}

// Single is a document with one resource.
type Single struct {
	Data Resource `json:"data"`
	Meta *Meta    `json:"meta,omitempty"` // nil if it would be empty
}

// Meta has notes about the request.
type Meta struct {
	Ignored  []string  `json:"ignored,omitempty"` // pointers of unknown members
	Warnings []Warning `json:"warnings,omitempty"`
	DryRun   bool      `json:"dry_run,omitempty"`
	// Summary says in sentences what the dry run would do.
	Summary any `json:"summary,omitempty"`
}

// Warning is a probable mistake in a request that was accepted.
type Warning struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// NewMeta returns the warnings and ignored members of a request, or nil if there are none and it is no dry run. A request
// without a body has a nil body.
func NewMeta(body *Object, dryRun bool) *Meta {
	meta := Meta{DryRun: dryRun}
	if body != nil {
		meta.Ignored = body.Ignored()
		for _, each := range body.problems.Warnings() {
			meta.Warnings = append(meta.Warnings, Warning{Pointer: *source(each.Source).Pointer, Detail: each.Detail})
		}
	}
	if meta.Ignored == nil && meta.Warnings == nil && !dryRun {
		return nil
	}
	return &meta
}

// Collection is a document with one numbered page.
type Collection struct {
	Data []Resource `json:"data"`
	Meta struct {
		Pagination Pagination `json:"pagination"`
	} `json:"meta"`
}

// Pagination echoes the page, and the totals when they were asked for.
type Pagination struct {
	Page       int  `json:"page"`
	Size       int  `json:"size"`
	Total      *int `json:"total,omitempty"`
	TotalPages *int `json:"total_pages,omitempty"`
}

// Tail is a document with one page of a list that is read with a cursor.
type Tail struct {
	Data []Resource `json:"data"`
	Meta struct {
		PageSize int `json:"page_size"`
	} `json:"meta"`
	Links struct {
		Next *string `json:"next"` // null on the last page
	} `json:"links"`
}

// NewCollection renders a numbered page.
func NewCollection[T any](list page.List[T], request page.Request, render func(T) Resource) Collection {
	document := Collection{Data: resources(list.Items, render)}
	document.Meta.Pagination = Pagination{Page: request.Number, Size: request.Size}
	if request.Total {
		document.Meta.Pagination.Total, document.Meta.Pagination.TotalPages = &list.Total, new(list.Pages(request.Size))
	}
	return document
}

// NewTail renders a page of a list that is read with a cursor.
func NewTail[T any](items []T, size int, next *string, render func(T) Resource) Tail {
	document := Tail{Data: resources(items, render)}
	document.Meta.PageSize, document.Links.Next = size, next
	return document
}

func resources[T any](items []T, render func(T) Resource) []Resource {
	data := make([]Resource, len(items)) // an empty list is [], not null
	for i, item := range items {
		data[i] = render(item)
	}
	return data
}
