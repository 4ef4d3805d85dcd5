package book

import (
	"io/fs"
	"path"
	"strings"
)

// source is the address of files that are not in the book.
const source = "https://github.com/signalbox/signalbox/blob/main/"

// library has the documents and their paths in the book.
type library struct {
	files fs.FS
	paths map[string]string // paths in the book, by the file's path in the repository
}

// newLibrary lists the files. Links to the OpenAPI description lead to the API reference.
func newLibrary(files fs.FS) *library {
	l := &library{files: files, paths: map[string]string{"openapi/openapi.yaml": Reference}}
	_ = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			l.paths[name] = pathOf(name)
		}
		return nil
	})
	return l
}

// pathOf returns the path of a file in the book: docs/keys.md is /docs/keys and
// SECURITY.md is /docs/security. A README has the path of its folder.
func pathOf(name string) string {
	if name == contentsFile {
		return Root
	}
	below := strings.TrimPrefix(name, "docs/")
	folder, file := path.Split(strings.TrimSuffix(below, ".md"))
	if folder != "" && file == "README" {
		file = ""
	}
	return path.Join(Root, folder, strings.ToLower(file))
}

// target returns the book's address for a link of a document.
func (l *library) target(document, link string) string {
	if link == "" || strings.HasPrefix(link, "#") || strings.HasPrefix(link, "/") || strings.Contains(link, ":") {
		return link
	}
	file, fragment, _ := strings.Cut(link, "#")
	if fragment != "" {
		fragment = "#" + fragment
	}
	name := path.Join(path.Dir(document), file)
	for _, candidate := range []string{name, path.Join(name, "README.md")} {
		if found, is := l.paths[candidate]; is {
			return found + fragment
		}
	}
	return source + name + fragment
}
