// Package console serves the book and the web console, whose files are built from web/
// and embedded here. A binary without the console serves a page that says how to build
// it.
package console

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/internal/book"
)

// dist has only .gitkeep until `make build` fills it.
//
//go:embed all:dist
var dist embed.FS

// index is the page for every address of the console.
const index = "index.html"

// Console serves the files of the console.
type Console struct {
	book  *book.Book
	files fs.FS
	built bool
	tags  sync.Map // the ETags of requested files, by name
}

// New returns the console that was built into the binary, with the book beside it.
func New(documents *book.Book) *Console {
	files, err := fs.Sub(dist, "dist")
	if err != nil { // only an invalid path fails
		panic(err)
	}
	return serve(files, documents)
}

func serve(files fs.FS, documents *book.Book) *Console {
	_, err := fs.Stat(files, index)
	return &Console{files: files, built: err == nil, book: documents}
}

// SignInPage returns the path of the page where people sign in, or "" if there is none.
// The query parameter error tells the page why a sign-in failed.
func (c *Console) SignInPage() string {
	if !c.built {
		return ""
	}
	return "/sign-in"
}

// Serve answers a request for the console or the book, and reports whether it did. The
// caller answers other requests with "not found".
func (c *Console) Serve(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || reserved(r.URL.Path) {
		return false
	}
	if book.Has(r.URL.Path) && r.URL.Path != book.Reference {
		return c.open(w, r)
	}
	if !c.built {
		return explain(w, r)
	}
	name, found := c.find(r)
	if !found {
		return false
	}
	c.send(w, r, name)
	return true
}

// reserved reports whether a path belongs to the API. No page is served there, because
// programs would read it as an API response.
func reserved(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch strings.ToLower(first) {
	case "api", "ofrep", "auth", "metrics":
		return true
	}
	return false
}

// find returns the file that answers a request. A browser gets the index for addresses
// such as /flags/checkout, which the console's script handles.
func (c *Console) find(r *http.Request) (name string, found bool) {
	name = strings.TrimPrefix(r.URL.Path, "/")
	switch {
	case name == "":
		return index, true
	case r.URL.Path == book.Reference:
		return "docs.html", true
	case c.has(name):
		return name, true
	case strings.HasPrefix(name, hashed):
		return "", false // a file of another version; a browser would run the index as a script
	}
	return index, wantsPage(r)
}

// has reports whether there is a file with this name. Compressed files do not count:
// they answer requests for the uncompressed name.
func (c *Console) has(name string) bool {
	if strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") || strings.HasPrefix(name, ".") || !fs.ValidPath(name) {
		return false
	}
	found, err := fs.Stat(c.files, name)
	return err == nil && found.Mode().IsRegular()
}

// wantsPage reports whether the client accepts HTML, as browsers do. Other clients get
// a JSON error instead.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}
