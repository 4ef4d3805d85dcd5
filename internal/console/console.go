// Package console serves the web console, whose files are built from web/ and
// embedded here, and the book. A binary that was built without the console serves a
// page that says so.
package console

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/internal/book"
)

// dist is empty but for .gitkeep until `make build` fills it.
//
//go:embed all:dist
var dist embed.FS

// index is the page that every address of the console loads.
const index = "index.html"

// Console serves the files of the console.
type Console struct {
	book  *book.Book
	files fs.FS
	built bool
	tags  sync.Map // the ETags of the files that were asked for, by name
}

// New returns the console that was built into the binary, with the book beside it.
func New(documents *book.Book) *Console {
	files, err := fs.Sub(dist, "dist")
	if err != nil { // only a path that is not valid fails
		panic(err)
	}
	return serve(files, documents)
}

func serve(files fs.FS, documents *book.Book) *Console {
	_, err := fs.Stat(files, index)
	return &Console{files: files, built: err == nil, book: documents}
}

// SignInPage returns the path of the page where people sign in, or "" if there is none.
// It shows why a sign-in failed, by the parameter error.
func (c *Console) SignInPage() string {
	if !c.built {
		return ""
	}
	return "/sign-in"
}

// Serve answers a request that no route of the interface answers, and reports whether
// it did. What it leaves is not found.
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

// reserved reports whether a path belongs to the interface, where a page would be
// taken for an answer.
func reserved(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch strings.ToLower(first) {
	case "api", "ofrep", "auth", "metrics":
		return true
	}
	return false
}

// find returns the file that answers a request. The console has addresses of its own,
// such as /flags/checkout: a browser that opens one gets the index, which knows them.
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
		return "", false // of another version: a page would be run as a script
	}
	return index, wantsPage(r)
}

// has reports whether there is a file of this name. What is compressed is reached
// through what it was made from.
func (c *Console) has(name string) bool {
	if strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") || strings.HasPrefix(name, ".") || !fs.ValidPath(name) {
		return false
	}
	found, err := fs.Stat(c.files, name)
	return err == nil && found.Mode().IsRegular()
}

// wantsPage reports whether a request is a browser's that opens an address, and not a
// program's, which is better served with an error that it can read.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}
