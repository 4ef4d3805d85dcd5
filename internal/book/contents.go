package book

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// part is a group of pages in the contents.
type part struct {
	Title string
	Pages []entry
}

// entry is a page in the contents.
type entry struct {
	Title string
	Link  string
}

// Path returns the path of the entry's page: its link without the fragment.
func (e entry) Path() string {
	path, _, _ := strings.Cut(e.Link, "#")
	return path
}

// contents reads the parts and pages of the book from its first page: headings, and
// lists whose items begin with a link.
func contents(first *document) []part {
	var parts []part
	for node := first.tree.FirstChild(); node != nil; node = node.NextSibling() {
		switch node := node.(type) {
		case *ast.Heading:
			if node.Level == 2 {
				parts = append(parts, part{Title: strings.TrimSpace(plain(node, first.source))})
			}
		case *ast.List:
			if len(parts) > 0 {
				last := &parts[len(parts)-1]
				last.Pages = append(last.Pages, entries(node, first.source)...)
			}
		}
	}
	return parts
}

// entries returns the first link of each item of a list, if the item begins with a link.
func entries(list *ast.List, source []byte) []entry {
	var found []entry
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		block := item.FirstChild()
		if block == nil {
			continue
		}
		if link, is := block.FirstChild().(*ast.Link); is {
			found = append(found, entry{Title: strings.TrimSpace(plain(link, source)), Link: string(link.Destination)})
		}
	}
	return found
}

// around returns the pages before and after a path. Each is nil if there is none.
func around(parts []part, path string) (before, after *entry) {
	all := []entry{{Title: "Contents", Link: Root}}
	for _, part := range parts {
		all = append(all, part.Pages...)
	}
	i := slices.IndexFunc(all, func(each entry) bool { return each.Path() == path })
	if i > 0 {
		before = &all[i-1]
	}
	if i >= 0 && i+1 < len(all) {
		after = &all[i+1]
	}
	return before, after
}
