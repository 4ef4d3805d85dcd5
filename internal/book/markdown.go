package book

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// document is a text of the repository, parsed and rendered.
type document struct {
	file     string // its path in the repository
	path     string // its path in the book
	title    string
	html     []byte
	sections []section
	tree     ast.Node
	source   []byte
}

// section is a part of a document with its own link. A search finds sections.
type section struct {
	Heading string
	Anchor  string // "" is the beginning of the document
	level   int
	text    string
}

// read parses and renders a text. Links to other documents become links to their pages.
func (l *library) read(file string, source []byte) (*document, error) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	tree := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	l.link(tree, file)
	d := &document{file: file, path: l.paths[file], tree: tree, source: source, sections: sections(tree, source)}
	d.title = d.sections[0].Heading
	anchor(tree)
	var html bytes.Buffer
	if err := markdown.Renderer().Render(&html, source, tree); err != nil {
		return nil, fmt.Errorf("rendering %s: %w", file, err)
	}
	// Code that is wider than the page can be scrolled with the keyboard.
	d.html = bytes.ReplaceAll(html.Bytes(), []byte("<pre>"), []byte(`<pre tabindex="0">`))
	return d, nil
}

// link changes the targets of all links and pictures below a node.
func (l *library) link(tree ast.Node, file string) {
	_ = ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Link:
			node.Destination = []byte(l.target(file, string(node.Destination)))
		case *ast.Image:
			node.Destination = []byte(l.target(file, string(node.Destination)))
		}
		return ast.WalkContinue, nil
	})
}

// sections cuts a document at its headings. The first section ends at the second heading.
func sections(tree ast.Node, source []byte) []section {
	found := []section{{}}
	for node := tree.FirstChild(); node != nil; node = node.NextSibling() {
		last := &found[len(found)-1]
		heading, is := node.(*ast.Heading)
		switch {
		case !is:
			last.text += plain(node, source)
		case heading.Level == 1:
			last.Heading, last.level = strings.TrimSpace(plain(node, source)), 1
		default:
			found = append(found, section{Heading: strings.TrimSpace(plain(node, source)), Anchor: anchorOf(heading), level: heading.Level})
		}
	}
	return found
}

// anchor adds a link to itself at the end of every heading below the title.
func anchor(tree ast.Node) {
	for node := tree.FirstChild(); node != nil; node = node.NextSibling() {
		heading, is := node.(*ast.Heading)
		if !is || heading.Level == 1 {
			continue
		}
		link := ast.NewLink()
		link.Destination, link.Title = []byte("#"+anchorOf(heading)), []byte("Link to this section")
		link.SetAttributeString("class", []byte("anchor"))
		link.AppendChild(link, ast.NewString([]byte("#")))
		heading.AppendChild(heading, link)
	}
}

// anchorOf returns the id of a heading, which the parser gave it.
func anchorOf(heading *ast.Heading) string {
	id, _ := heading.AttributeString("id")
	anchor, _ := id.([]byte)
	return string(anchor)
}

// plain returns the text of a node without its markup.
func plain(node ast.Node, source []byte) string {
	var words strings.Builder
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch {
		case !entering && node.Type() == ast.TypeBlock:
			words.WriteByte(' ')
		case !entering:
		case node.Kind() == ast.KindText:
			part := node.(*ast.Text)
			words.Write(part.Segment.Value(source))
			if part.SoftLineBreak() {
				words.WriteByte(' ')
			}
		case node.Kind() == ast.KindCodeBlock, node.Kind() == ast.KindFencedCodeBlock:
			words.Write(node.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	return words.String()
}

// anchors makes the same ids of headings as GitHub, so that a link works in both.
type anchors map[string]int // how often each id is used

// Generate returns the id of a heading.
func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(string(value)))
	count := a[id]
	a.Put([]byte(id))
	if count > 0 {
		id += "-" + strconv.Itoa(count)
	}
	return []byte(id)
}

// Put records an id as used.
func (a anchors) Put(value []byte) { a[string(value)]++ }
