package book

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox"
)

// example returns a book of a few pages.
func example() *Book {
	return New(fstest.MapFS{
		"docs/README.md": {Data: []byte("# The book\n\n- [Not a page](other.md)\n\n## Begin\n\n- [Tour](../README.md#a-tour): first\n- [Keys](keys.md)\n\n" +
			"## Build\n\nSome words.\n\n- [Interface](../openapi/openapi.yaml)\n- [Decisions](decisions/README.md)\n")},
		"docs/keys.md": {Data: []byte("# API keys\n\nA key is *secret*. See [the first](decisions/0001-a.md#why-this) and [people](people.md).\n\n" +
			"## Keys for `browsers`\n\n| a | b |\n|---|---|\n| frobnicate | 2 |\n\n## Roles\n\n```sh\nsignalbox keys list\n```\n\n## Roles\n\n<script>alert(1)</script>\n")},
		"docs/decisions/README.md": {Data: []byte("# Decisions\n\n- [0001](0001-a.md)\n")},
		"docs/decisions/0001-a.md": {Data: []byte("# One\n\nBack to [keys](../keys.md#roles-1), [code](../../internal/x.go), [here](#why-this), [there](https://example.com/a).\n\n## Why: this?\n\nFrobnicate.\n")},
		"README.md":                {Data: []byte("# Signalbox\n\n![picture](docs/screenshots/a.webp) ![drawing](docs/pictures/b.svg)\n\n## A tour\n\nKeys and roles.\n")},
		"docs/screenshots/a.webp":  {Data: []byte("picture")},
		"docs/pictures/b.svg":      {Data: []byte("<svg/>")},
	})
}

func read(t *testing.T, book *Book, path string) string {
	t.Helper()
	page, found := book.Page(path, nil)
	if !found {
		t.Fatalf("there is no page %s", path)
	}
	return string(page.Content)
}

func TestBook_Pages(t *testing.T) {
	t.Parallel()
	book := example()
	for path, parts := range map[string][]string{
		"/docs": {"<title>The book · Signalbox</title>", `<a href="/docs/readme#a-tour">Tour</a>`, `<a href="/docs/api">Interface</a>`},
		"/docs/keys": {
			"<em>secret</em>", `href="/docs/decisions/0001-a#why-this"`, `<h2 id="keys-for-browsers">`, `<h2 id="roles">`, `<h2 id="roles-1">`,
			"<td>frobnicate</td>", `<pre tabindex="0"><code class="language-sh">`, `href="https://github.com/signalbox/signalbox/blob/main/docs/people.md"`, `<a href="/docs/keys" aria-current="page">`,
			`rel="prev" href="/docs/readme#a-tour"`, `rel="next" href="/docs/api"`,
		},
		"/docs/decisions":        {`href="/docs/decisions/0001-a"`, `rel="prev" href="/docs/api"`},
		"/docs/decisions/0001-a": {`href="/docs/keys#roles-1"`, "blob/main/internal/x.go", `href="#why-this"`, `href="https://example.com/a"`, `<h2 id="why-this">`},
		"/docs/readme":           {`src="/docs/screenshots/a.webp"`, `src="/docs/pictures/b.svg"`, `rel="prev" href="/docs"`},
	} {
		t.Run(path, func(t *testing.T) {
			for _, part := range parts {
				if got := read(t, book, path); !strings.Contains(got, part) {
					t.Errorf("%s lacks %s:\n%s", path, part, got)
				}
			}
		})
	}
	if strings.Contains(read(t, book, "/docs/keys"), "alert(1)") {
		t.Error("HTML of a document is served")
	}
	if _, found := book.Page("/docs/nothing", nil); found {
		t.Error("there is a page of nothing")
	}
}

func TestBook_Search(t *testing.T) {
	t.Parallel()
	book := example()
	for query, want := range map[string][]string{
		"frobnicate":     {"/docs/keys#keys-for-browsers", "/docs/decisions/0001-a#why-this"},
		"FROB key":       {"/docs/keys#keys-for-browsers"},
		"roles":          {"/docs/keys#roles", "/docs/keys#roles-1", "/docs/readme#a-tour"},
		"keys list":      {"/docs/keys#roles"},
		"nothing at all": nil,
		"  ":             nil,
		"(":              nil,
	} {
		t.Run(fmt.Sprintf("%q", query), func(t *testing.T) {
			var got []string
			for _, each := range book.content().index.find(query) {
				got = append(got, each.Link)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q finds %v, want %v", query, got, want)
			}
		})
	}
	page, _ := book.Page("/docs/search", url.Values{"q": {`<b>"roles`}})
	if strings.Contains(string(page.Content), "<b>") {
		t.Errorf("what was searched for is not escaped:\n%s", page.Content)
	}
	page, _ = book.Page("/docs/search", url.Values{"q": {strings.Repeat("é", 4000)}})
	if len(page.Content) > 8000 {
		t.Errorf("a long query makes a page of %d bytes", len(page.Content))
	}
}

func TestBook_Pictures(t *testing.T) {
	t.Parallel()
	book := example()
	for path, media := range map[string]string{"/docs/screenshots/a.webp": "image/webp", "/docs/pictures/b.svg": "image/svg+xml"} {
		t.Run(path, func(t *testing.T) {
			if page, found := book.Page(path, nil); !found || page.Type != media {
				t.Errorf("%s is %q, found %v; want %s", path, page.Type, found, media)
			}
		})
	}
}

// reference finds the targets of links and pictures.
var reference = regexp.MustCompile(`(href|src)="([^"]+)"`)

// TestDocuments holds the book that a server shows to its rules.
func TestDocuments(t *testing.T) {
	t.Parallel()
	book := New(signalbox.Documents())
	t.Run("links lead somewhere", func(t *testing.T) { followAll(t, book) })
	t.Run("contents are complete", func(t *testing.T) { compareContents(t, book.content()) })
}

// followAll follows every link of the book: to pages, to headings on them, and to files
// of the repository.
func followAll(t *testing.T, book *Book) {
	for from, page := range book.content().pages {
		if page.Type != html {
			continue
		}
		for _, found := range reference.FindAllStringSubmatch(string(page.Content), -1) {
			if problem := follow(book, from, found[1], found[2]); problem != "" {
				t.Errorf("%s links to %s: %s", from, found[2], problem)
			}
		}
	}
}

// follow returns what is wrong with a link or a picture, or "".
func follow(book *Book, from, attribute, link string) string {
	if file, is := strings.CutPrefix(link, source); is {
		if attribute == "src" {
			return "the picture is not among signalbox.Documents"
		}
		file, _, _ = strings.Cut(file, "#")
		if _, err := os.Stat(filepath.Join("..", "..", file)); err != nil {
			return "there is no such file"
		}
		return ""
	}
	target, fragment, _ := strings.Cut(link, "#")
	if target == "" {
		target = from
	}
	if !Has(target) || target == Reference {
		return ""
	}
	page, found := book.Page(target, nil)
	switch {
	case !found:
		return "there is no such page"
	case fragment != "" && !strings.Contains(string(page.Content), ` id="`+fragment+`"`):
		return "there is no such heading"
	}
	return ""
}

// compareContents finds pages that are missing in the contents, where nobody would find them.
func compareContents(t *testing.T, all *content) {
	listed := []string{Root}
	for _, part := range all.frame.parts {
		for _, page := range part.Pages {
			listed = append(listed, page.Path())
		}
	}
	for path, page := range all.pages {
		if page.Type == html && !strings.HasPrefix(path, Root+"/decisions/") && !slices.Contains(listed, path) {
			t.Errorf("docs/README.md lacks %s", path)
		}
	}
	decisions := string(all.pages[Root+"/decisions"].Content)
	for path := range all.pages {
		if strings.HasPrefix(path, Root+"/decisions/") && !strings.Contains(decisions, path) {
			t.Errorf("docs/decisions/README.md lacks %s", path)
		}
	}
}
