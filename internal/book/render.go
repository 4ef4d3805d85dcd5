package book

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed" // the frame of a page is part of the binary
	"encoding/base64"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed page.html
var pageHTML string

//go:embed book.css
var styles []byte

//go:embed book.js
var script []byte

const html = "text/html; charset=utf-8"

// frame is the layout around every page.
type frame struct {
	layout *template.Template
	parts  []part
}

// view has the data for the layout.
type view struct {
	Title    string
	Path     string
	Parts    []part
	Sections []section
	Body     template.HTML
	Before   *entry
	After    *entry
	Query    string
	Searched bool
	Results  []result
}

// render makes all pages. It leaves out documents that cannot be rendered; a test
// checks that there are none.
func render(documents fs.FS) *content {
	library := newLibrary(documents)
	texts, pictures := library.readAll()
	made := &content{pages: pictures, frame: frame{layout: template.Must(template.New("page").Parse(pageHTML))}}
	made.pages[Root+"/book.css"] = newPage("text/css; charset=utf-8", styles)
	made.pages[Root+"/book.js"] = newPage("text/javascript; charset=utf-8", script)
	if first := texts[contentsFile]; first != nil {
		made.frame.parts = contents(first)
	}
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		document := texts[file]
		made.pages[document.path] = made.frame.page(document)
		made.index = append(made.index, document.hits()...)
	}
	made.missing = made.frame.fill(view{Title: "There is no such page", Searched: true})
	return made
}

// readAll reads every text, by its file, and every picture, by its path in the book.
func (l *library) readAll() (texts map[string]*document, pictures map[string]Page) {
	texts, pictures = map[string]*document{}, map[string]Page{}
	for file, at := range l.paths {
		content, err := fs.ReadFile(l.files, file)
		if err != nil {
			continue
		}
		switch path.Ext(file) {
		case ".md":
			if document, err := l.read(file, content); err == nil {
				texts[file] = document
			}
		case ".webp":
			pictures[at] = newPage("image/webp", content)
		case ".svg":
			pictures[at] = newPage("image/svg+xml", content)
		}
	}
	return texts, pictures
}

// page puts a document into the frame.
func (f *frame) page(d *document) Page {
	before, after := around(f.parts, d.path)
	shown := view{Title: d.title, Path: d.path, Body: template.HTML(d.html), Before: before, After: after} //nolint:gosec // it is our own text, and the renderer leaves HTML out
	for _, each := range d.sections {
		if each.level == 2 && d.path != Root {
			shown.Sections = append(shown.Sections, each)
		}
	}
	return f.fill(shown)
}

// results returns the page of a search.
func (c *content) results(query string) Page {
	query = strings.Join(words(query), " ")
	title := "Search"
	if query != "" {
		title += ": " + query
	}
	return c.frame.fill(view{Title: title, Path: searchPath, Query: query, Searched: true, Results: c.index.find(query)})
}

// fill renders the layout with a view.
func (f *frame) fill(shown view) Page {
	shown.Parts = f.parts
	var page bytes.Buffer
	if err := f.layout.Execute(&page, shown); err != nil {
		panic(err) // the layout is embedded, and writing to a buffer cannot fail
	}
	return newPage(html, page.Bytes())
}

// newPage returns a page with its tag. It adds the compressed content if that is at least a tenth smaller.
func newPage(media string, content []byte) Page {
	sum := sha256.Sum256(content)
	made := Page{Type: media, Content: content, Tag: base64.RawURLEncoding.EncodeToString(sum[:12])}
	var small bytes.Buffer
	writer := gzip.NewWriter(&small)
	_, _ = writer.Write(content) // writing to a buffer cannot fail
	_ = writer.Close()
	if small.Len() < len(content)*9/10 {
		made.Gzip = small.Bytes()
	}
	return made
}
