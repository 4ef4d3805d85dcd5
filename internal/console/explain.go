package console

import (
	_ "embed" // the page is part of the binary
	"net/http"
)

// missing is the page of a binary without the console.
//
//go:embed missing.html
var missing []byte

// missingJSON says the same to programs.
const missingJSON = `{"meta":{"name":"Signalbox","api":"/api/v1","openapi":"/api/openapi.json","docs":"/docs",` +
	`"console":"not part of this build; run make build with Node.js 20.19 or newer installed"}}` + "\n"

// explain says where the interface is and how to build the console. Programs get it
// at / only: other paths are mistakes, which they should hear of.
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
