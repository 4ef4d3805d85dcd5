// Package book renders the documents of the repository as one book, whose contents
// are docs/README.md. Links between documents are those that work in the repository
// too. It knows no HTTP: internal/console serves what it renders.
package book

import (
	"io/fs"
	"net/url"
	"strings"
	"sync"
)

// Root is the path of the book. Everything of it is below.
const Root = "/docs"

// Reference is the path of the interface's reference, which the console has.
const Reference = Root + "/api"

// searchPath is the path of the search, whose parameter q has the words.
const searchPath = Root + "/search"

// contentsFile lists the pages in their order.
const contentsFile = "docs/README.md"

// Page is something that the book serves.
type Page struct {
	Type    string // its media type
	Content []byte
	Gzip    []byte // the content compressed, or nil if that is not smaller
	Tag     string // an ETag without quotes; each content has its own
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

// New returns the book of some documents. They are rendered when a page is first
// asked for: most starts of a server never need them.
func New(documents fs.FS) *Book {
	return &Book{content: sync.OnceValue(func() *content { return render(documents) })}
}

// Page returns what the book has at a path, and whether there is something.
func (b *Book) Page(path string, query url.Values) (Page, bool) {
	path = strings.TrimSuffix(path, "/")
	all := b.content()
	if path == searchPath {
		return all.results(query.Get("q")), true
	}
	page, found := all.pages[path]
	return page, found
}

// Missing returns the page that says that there is none.
func (b *Book) Missing() Page { return b.content().missing }

// Has reports whether a path belongs to the book.
func Has(path string) bool {
	return path == Root || strings.HasPrefix(path, Root+"/")
}
