package console

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/internal/book"
)

const page = "text/html,application/xhtml+xml,*/*;q=0.8" // as browsers open addresses

func built() *Console {
	return serve(fstest.MapFS{
		"index.html":           {Data: []byte("<html>index</html>")},
		"index.html.br":        {Data: []byte("index in brotli")},
		"index.html.gz":        {Data: []byte("index in gzip")},
		"docs.html":            {Data: []byte("<html>docs</html>")},
		"favicon.svg":          {Data: []byte("<svg/>")},
		"licenses.txt":         {Data: []byte("licenses")},
		"assets/app-1a2b.js":   {Data: []byte("code")},
		"assets/app-1a2b.css":  {Data: []byte("style")},
		"assets/only-gz.js":    {Data: []byte("code")},
		"assets/only-gz.js.gz": {Data: []byte("code in gzip")},
		".gitkeep":             {},
	}, pages())
}

// pages returns a book of two pages.
func pages() *book.Book {
	return book.New(fstest.MapFS{
		"docs/README.md": {Data: []byte("# Contents\n\n## Use\n\n- [Keys](keys.md)\n")},
		"docs/keys.md":   {Data: []byte("# Keys\n\n" + strings.Repeat("A key opens a door. ", 50))},
	})
}

func get(t *testing.T, console *Console, method, path string, headers map[string]string) (answer *httptest.ResponseRecorder, served bool) {
	t.Helper()
	request := httptest.NewRequest(method, path, nil)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer = httptest.NewRecorder()
	return answer, console.Serve(answer, request)
}

func TestConsole_Files(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct{ content, media, caching string }{
		"/":                    {"<html>index</html>", "text/html; charset=utf-8", "no-cache"},
		"/index.html":          {"<html>index</html>", "text/html; charset=utf-8", "no-cache"},
		"/docs/api":            {"<html>docs</html>", "text/html; charset=utf-8", "no-cache"},
		"/favicon.svg":         {"<svg/>", "image/svg+xml", "no-cache"},
		"/licenses.txt":        {"licenses", "text/plain; charset=utf-8", "no-cache"},
		"/assets/app-1a2b.js":  {"code", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		"/assets/app-1a2b.css": {"style", "text/css; charset=utf-8", "public, max-age=31536000, immutable"},
	} {
		t.Run(path, func(t *testing.T) {
			answer, served := get(t, built(), http.MethodGet, path, nil)
			if !served || answer.Code != http.StatusOK || answer.Body.String() != want.content {
				t.Errorf("got %v, %d, %q", served, answer.Code, answer.Body)
			}
			header := answer.Header()
			if got := header.Get("Content-Type"); got != want.media {
				t.Errorf("%s is %s, want %s", path, got, want.media)
			}
			if got := header.Get("Cache-Control"); got != want.caching {
				t.Errorf("%s may be kept %q, want %q", path, got, want.caching)
			}
			if csp := header.Get("Content-Security-Policy"); !strings.Contains(csp, "script-src 'self';") || !strings.Contains(csp, "default-src 'none'") {
				t.Errorf("%s has the policy %q", path, csp)
			}
			if header.Get("X-Frame-Options") != "DENY" || header.Get("Referrer-Policy") == "" {
				t.Errorf("%s is not protected: %v", path, header)
			}
		})
	}
}

// TestConsole_Addresses: browsers get the index for every address of the console,
// programs get a 404, and paths of the interface never get the index.
func TestConsole_Addresses(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/flags", "/flags/checkout-v2?env=production", "/loggers/com.example", "/setup?token=x"} {
		t.Run(path, func(t *testing.T) {
			if answer, served := get(t, built(), http.MethodGet, path, map[string]string{"Accept": page}); !served || !strings.Contains(answer.Body.String(), "index") {
				t.Errorf("a browser got %v, %q at %s", served, answer.Body, path)
			}
			if _, served := get(t, built(), http.MethodGet, path, map[string]string{"Accept": "application/json"}); served {
				t.Errorf("a program got a page at %s", path)
			}
			if _, served := get(t, built(), http.MethodPost, path, map[string]string{"Accept": page}); served {
				t.Errorf("POST %s was answered", path)
			}
		})
	}
	for _, path := range []string{
		"/api", "/api/v1/flag", "/API/v1/flags", "/ofrep/v2", "/auth/oidc/other", "/metrics/x", "/assets/app-0000.js",
		"/assets/",
	} {
		t.Run(path, func(t *testing.T) {
			if answer, served := get(t, built(), http.MethodGet, path, map[string]string{"Accept": page}); served {
				t.Errorf("%s was answered with %q", path, answer.Body)
			}
		})
	}
	for _, path := range []string{"/index.html.gz", "/.gitkeep", "/assets/../index.html"} {
		t.Run(path, func(t *testing.T) {
			if answer, served := get(t, built(), http.MethodGet, path, nil); served {
				t.Errorf("%s was answered with %q", path, answer.Body)
			}
		})
	}
}

func TestConsole_Encodings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ accepts, path, encoding, content string }{
		{"gzip, deflate, br, zstd", "/", "br", "index in brotli"},
		{"gzip", "/", "gzip", "index in gzip"},
		{"br;q=0, gzip;q=0.5", "/", "gzip", "index in gzip"},
		{"GZIP; q=1", "/", "gzip", "index in gzip"},
		{"identity", "/", "", "<html>index</html>"},
		{"br;q=0.0, gzip;q=0", "/", "", "<html>index</html>"},
		{"broken;q=x, xgzip", "/", "", "<html>index</html>"},
		{"br, gzip", "/assets/only-gz.js", "gzip", "code in gzip"},
		{"br, gzip", "/favicon.svg", "", "<svg/>"},
	} {
		t.Run(c.accepts+" "+c.path, func(t *testing.T) {
			answer, _ := get(t, built(), http.MethodGet, c.path, map[string]string{"Accept-Encoding": c.accepts})
			header := answer.Header()
			if header.Get("Content-Encoding") != c.encoding || answer.Body.String() != c.content || header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s of %s: got %q, %q, varies by %q", c.accepts, c.path, header.Get("Content-Encoding"), answer.Body, header.Get("Vary"))
			}
		})
	}
}

func TestConsole_Unchanged(t *testing.T) {
	t.Parallel()
	console := built()
	brotli, _ := get(t, console, http.MethodGet, "/", map[string]string{"Accept-Encoding": "br"})
	plain, _ := get(t, console, http.MethodGet, "/", nil)
	if brotli.Header().Get("ETag") == plain.Header().Get("ETag") {
		t.Errorf("two encodings have the tag %s", plain.Header().Get("ETag"))
	}
	again, _ := get(t, console, http.MethodGet, "/", map[string]string{"If-None-Match": plain.Header().Get("ETag")})
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("got %d and %d bytes, want 304 and none", again.Code, again.Body.Len())
	}
	head, served := get(t, console, http.MethodHead, "/", nil)
	if !served || head.Body.Len() != 0 || head.Header().Get("Content-Length") != "18" {
		t.Errorf("HEAD got %v, %d bytes, length %s", served, head.Body.Len(), head.Header().Get("Content-Length"))
	}
}

func TestConsole_NotBuilt(t *testing.T) {
	t.Parallel()
	missing := serve(fstest.MapFS{".gitkeep": {}}, pages())
	answer, served := get(t, missing, http.MethodGet, "/flags", map[string]string{"Accept": page})
	if !served || !strings.Contains(answer.Body.String(), "make build") || answer.Header().Get("Content-Security-Policy") == "" {
		t.Errorf("a browser got %v, %q", served, answer.Body)
	}
	answer, served = get(t, missing, http.MethodGet, "/", nil)
	var told struct{ Meta map[string]string }
	if err := json.Unmarshal(answer.Body.Bytes(), &told); !served || err != nil || told.Meta["openapi"] != "/api/openapi.json" {
		t.Errorf("a program got %v, %q: %v", served, answer.Body, err)
	}
	if _, served := get(t, missing, http.MethodGet, "/flags", nil); served {
		t.Error("a program got a page instead of an error")
	}
	if _, served := get(t, missing, http.MethodGet, "/api/v1", map[string]string{"Accept": page}); served {
		t.Error("a path of the interface was answered")
	}
}

// TestConsole_Embedded holds whether or not the console was built.
func TestConsole_Embedded(t *testing.T) {
	t.Parallel()
	answer, served := get(t, New(pages()), http.MethodGet, "/", map[string]string{"Accept": page})
	if !served || answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "Signalbox") {
		t.Errorf("got %v, %d, %q", served, answer.Code, answer.Body)
	}
}

func TestConsole_SignInPage(t *testing.T) {
	t.Parallel()
	if page := built().SignInPage(); page != "/sign-in" {
		t.Errorf("a console signs people in at %q", page)
	}
	if page := serve(fstest.MapFS{}, pages()).SignInPage(); page != "" {
		t.Errorf("without a console people sign in at %q", page)
	}
}
