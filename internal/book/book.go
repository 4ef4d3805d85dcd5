// Package book renders the documents of the repository as one book, whose table of
// contents is docs/README.md. Links between documents work in the repository and in
// the book. The package knows no HTTP: internal/console serves its pages.
package book

import (
	"io/fs"
	"net/url"
	"strings"
	"sync"
)

// Root is the path of the book. All its pages are below.
const Root = "/docs"

// Reference is the path of the API reference, which is a page of the console.
const Reference = Root + "/api"

// searchPath is the path of the search. Its parameter q has the words.
const searchPath = Root + "/search"

// contentsFile lists the pages in their order.
const contentsFile = "docs/README.md"

// Page is a page, picture, style sheet or script of the book.
type Page struct {
	Type    string // its media type
	Content []byte
	Gzip    []byte // the compressed content, or nil if that is not smaller
	Tag     string // an ETag of the content, without quotes
}

// Book is the rendered documents.
type Book struct {
	content func() *content
}

// content is everything that was rendered.
type content struct {
	pages   map[string]Page // by path
	missing Page
	index   index
	frame   frame
}

// New returns the book of some documents. The first request for a page renders the documents,
// because most servers never show one.
func New(documents fs.FS) *Book {
	return &Book{content: sync.OnceValue(func() *content { return render(documents) })}
}

// Page returns the page at a path, and whether there is one.
func (b *Book) Page(path string, query url.Values) (Page, bool) {
	path = strings.TrimSuffix(path, "/")
	all := b.content()
	if path == searchPath {
		return all.results(query.Get("q")), true
	}
	page, found := all.pages[path]
	return page, found
}

// Missing returns the page for a path that does not exist.
func (b *Book) Missing() Page { return b.content().missing }

// Has reports whether a path belongs to the book.
func Has(path string) bool {
	return path == Root || strings.HasPrefix(path, Root+"/")
}
