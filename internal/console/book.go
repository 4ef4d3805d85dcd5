package console

import "net/http"

// open answers with a page of the book, even if the console was not built. It returns
// false for a program that asks for a missing page, which then gets a JSON error.
func (c *Console) open(w http.ResponseWriter, r *http.Request) bool {
	page, found := c.book.Page(r.URL.Path, r.URL.Query())
	status := http.StatusOK
	if !found {
		if !wantsPage(r) {
			return false
		}
		page, status = c.book.Missing(), http.StatusNotFound
	}
	header := w.Header()
	setHeaders(header, page.Type, "Accept, Accept-Encoding", "no-cache")
	content, tag := page.Content, page.Tag
	if page.Gzip != nil && accepted(r.Header.Get("Accept-Encoding"), "gzip") {
		content, tag = page.Gzip, page.Tag+"-gzip"
		header.Set("Content-Encoding", "gzip")
	}
	if found {
		header.Set("ETag", `"`+tag+`"`)
	}
	write(w, r, status, content)
	return true
}
