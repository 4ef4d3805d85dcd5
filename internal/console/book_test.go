package console

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
)

// TestBook_Served holds with the console and without: the book needs no Node.
func TestBook_Served(t *testing.T) {
	t.Parallel()
	for name, console := range map[string]*Console{"built": built(), "not built": serve(fstest.MapFS{}, pages())} {
		t.Run(name, func(t *testing.T) {
			for path, want := range map[string]string{
				"/docs": "<h1 id=\"contents\">", "/docs/": "<h1 id=\"contents\">", "/docs/keys": "A key opens a door.",
				"/docs/search?q=door": "<mark>door</mark>", "/docs/book.css": "color-scheme", "/docs/book.js": "search",
			} {
				t.Run(path, func(t *testing.T) {
					answer, served := get(t, console, http.MethodGet, path, nil)
					if !served || answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), want) {
						t.Errorf("%s is %v, %d, %q", path, served, answer.Code, answer.Body)
					}
					header := answer.Header()
					if header.Get("Cache-Control") != "no-cache" || header.Get("ETag") == "" || !strings.Contains(header.Get("Content-Security-Policy"), "script-src 'self';") {
						t.Errorf("%s has the headers %v", path, header)
					}
				})
			}
		})
	}
}

func TestBook_Missing(t *testing.T) {
	t.Parallel()
	answer, served := get(t, built(), http.MethodGet, "/docs/nothing", map[string]string{"Accept": page})
	if !served || answer.Code != http.StatusNotFound || !strings.Contains(answer.Body.String(), "There is no such page") {
		t.Errorf("a browser got %v, %d, %q", served, answer.Code, answer.Body)
	}
	if _, served := get(t, built(), http.MethodGet, "/docs/nothing", nil); served {
		t.Error("a program got a page")
	}
	if _, served := get(t, built(), http.MethodPost, "/docs", nil); served {
		t.Error("POST was answered")
	}
}

func TestBook_Unchanged(t *testing.T) {
	t.Parallel()
	console := built()
	plain, _ := get(t, console, http.MethodGet, "/docs/keys", nil)
	small, _ := get(t, console, http.MethodGet, "/docs/keys", map[string]string{"Accept-Encoding": "gzip"})
	reader, err := gzip.NewReader(small.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(reader); err != nil || string(text) != plain.Body.String() {
		t.Errorf("compressed it is %q: %v", text, err)
	}
	if small.Header().Get("ETag") == plain.Header().Get("ETag") {
		t.Errorf("two encodings have the tag %s", plain.Header().Get("ETag"))
	}
	again, _ := get(t, console, http.MethodGet, "/docs/keys", map[string]string{"If-None-Match": plain.Header().Get("ETag")})
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("got %d and %d bytes, want 304 and none", again.Code, again.Body.Len())
	}
}
