package console

import (
	_ "embed" // the page is part of the binary
	"net/http"
)

// missing is the page of a binary without the console.
//
//go:embed missing.html
var missing []byte

// missingJSON is the same page for programs.
const missingJSON = `{"meta":{"name":"Signalbox","api":"/api/v1","openapi":"/api/openapi.json","docs":"/docs",` +
	`"console":"not part of this build; run make build with Node.js 20.19 or newer installed"}}` + "\n"

// explain answers with the path of the API and how to build the console. Programs get
// it only at /: for other paths they get an error.
func explain(w http.ResponseWriter, r *http.Request) bool {
	page, media := missing, "text/html; charset=utf-8"
	if !wantsPage(r) {
		if r.URL.Path != "/" {
			return false
		}
		page, media = []byte(missingJSON), "application/json"
	}
	setHeaders(w.Header(), media, "Accept", "no-cache")
	write(w, r, http.StatusOK, page)
	return true
}
