package console

import (
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// hashed is the folder of files whose names change with their content.
const hashed = "assets/"

// policy lets the console load and call only its own origin. Inline scripts are
// forbidden; inline styles are allowed because components set styles on elements.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// tag returns the ETag of a file. Each encoding has its own, as RFC 9110 requires.
func (c *Console) tag(name string, content []byte) string {
	if tag, known := c.tags.Load(name); known {
		return tag.(string)
	}
	sum := sha256.Sum256(content)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	c.tags.Store(name, tag)
	return tag
}

// send answers with a file, in the smallest encoding that the caller accepts.
func (c *Console) send(w http.ResponseWriter, r *http.Request, name string) {
	content, stored, encoding, err := c.read(name, r.Header.Get("Accept-Encoding"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	setHeaders(header, contentType(name), "Accept-Encoding", caching(name))
	header.Set("ETag", c.tag(stored, content))
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	write(w, r, http.StatusOK, content)
}

// write sends the content, or 304 if the caller already has it.
func write(w http.ResponseWriter, r *http.Request, status int, content []byte) {
	if tag := w.Header().Get("ETag"); tag != "" && strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(content)
	}
}

// read returns a file's content in the best encoding, and the name of the stored file.
// The build compresses files that become smaller.
func (c *Console) read(name, accepts string) (content []byte, stored, encoding string, err error) {
	for _, known := range []struct{ encoding, suffix string }{{"br", ".br"}, {"gzip", ".gz"}} {
		if !accepted(accepts, known.encoding) {
			continue
		}
		if content, err = fs.ReadFile(c.files, name+known.suffix); err == nil {
			return content, name + known.suffix, known.encoding, nil
		}
	}
	content, err = fs.ReadFile(c.files, name)
	return content, name, "", err
}

// accepted reports whether an Accept-Encoding header names an encoding and does not
// refuse it with a weight of 0.
func accepted(header, encoding string) bool {
	for item := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(strings.TrimSpace(item), ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		weight, weighted := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
		value, err := strconv.ParseFloat(weight, 64)
		return !weighted || err == nil && value > 0
	}
	return false
}

// setHeaders sets the headers of every answer, including those that protect the console from other sites.
func setHeaders(header http.Header, media, vary, caching string) {
	header.Set("Content-Type", media)
	header.Set("Vary", vary)
	header.Set("Cache-Control", caching)
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("X-Content-Type-Options", "nosniff")
}

// caching returns how long browsers keep a file: forever if its name changes with its
// content. Else they ask each time.
func caching(name string) string {
	if strings.HasPrefix(name, hashed) {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

// contentType returns a file's media type. It does not ask the system for these types, because systems differ.
func contentType(name string) string {
	switch extension := path.Ext(name); extension {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	case ".txt":
		return "text/plain; charset=utf-8"
	default:
		return mime.TypeByExtension(extension)
	}
}
