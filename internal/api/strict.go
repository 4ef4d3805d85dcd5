package api

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

// wantsStrict reports whether a request prefers strict handling (RFC 7240). If a preference is repeated, the first one
// counts.
func wantsStrict(r *http.Request) bool {
	for _, line := range r.Header["Prefer"] {
		for item := range strings.SplitSeq(line, ",") {
			preference, _, _ := strings.Cut(item, ";")
			name, value, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.TrimSpace(name), "handling") {
				return strings.EqualFold(strings.Trim(strings.TrimSpace(value), `"`), "strict")
			}
		}
	}
	return false
}

// readDryRun makes a call a dry run if it asks for one. Routes without a dry run refuse it.
func (c *call) readDryRun(route *route) error {
	method, path, _ := strings.Cut(route.pattern, " ")
	if method == http.MethodGet || !strings.HasPrefix(path, "/api/v1/") {
		return nil
	}
	wanted, err := c.query.DryRun(route.access.dryRun)
	if wanted {
		c.caller.DryRun = &accounts.DryRun{}
	}
	return err
}

// maxNote bounds the characters of a note.
const maxNote = 500

// readNote reads why the caller writes.
func (c *call) readNote() error {
	sent := header(c.request, "Signalbox-Note")
	if sent == "" || c.request.Method == http.MethodGet {
		return nil
	}
	note, err := url.PathUnescape(sent)
	if err != nil || !utf8.ValidString(note) || strings.ContainsRune(note, 0) {
		return fault.New(fault.Validation, "The header Signalbox-Note must be percent-encoded UTF-8, such as Issue%%20%%2312.")
	}
	if utf8.RuneCountInString(note) > maxNote {
		return fault.New(fault.Validation, "The header Signalbox-Note must have at most %d characters.", maxNote)
	}
	c.caller.Note = note
	return nil
}
