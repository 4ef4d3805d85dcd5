package book

import (
	"io/fs"
	"path"
	"strings"
)

// source is where files are that the book does not have.
const source = "https://github.com/signalbox/signalbox/blob/main/"

// library is the documents, and which path of the book each has.
type library struct {
	files fs.FS
	paths map[string]string // of the book, by the file's path in the repository
}

// newLibrary lists the files, and what stands for the interface's description.
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

// pathOf returns the path that a file has in the book: docs/keys.md is /docs/keys and
// SECURITY.md is /docs/security. A README is what its folder is called.
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

// target returns where a link of a document leads in the book.
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
