package api

import (
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/internal/transaction"
)

// wantsStrict reports whether a request prefers strict handling (RFC 7240). Of several preferences with one name the first
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

// rehearse makes a call a dry run if it asks for one: its writes are rolled back. A route that cannot do that is not called.
func (c *call) rehearse(route *route) error {
	method, path, _ := strings.Cut(route.pattern, " ")
	if method == http.MethodGet || !strings.HasPrefix(path, "/api/v1/") {
		return nil
	}
	var err error
	if c.dryRun, err = c.query.DryRun(isRehearsable(method, path)); c.dryRun {
		c.writer.ctx = transaction.DryRun(c.writer.ctx)
	}
	return err
}

// isRehearsable reports whether the writes of a route can be rolled back: those of resources can. Reports are merged with
// those of others, and actions start something at once. Nobody signs in or out as a rehearsal: an answer has a cookie, and
// attempts are counted.
func isRehearsable(method, path string) bool {
	acts := strings.Contains(path, "/actions/") && !strings.HasSuffix(path, "/actions/revert")
	signsIn := strings.Contains(path, "/sessions") || strings.HasSuffix(path, "/redeem") || strings.HasSuffix(path, "/password")
	endsSession := method == http.MethodDelete && path == "/api/v1/sessions/{id}"
	return endsSession || !acts && !signsIn && !strings.HasSuffix(path, "/bulk")
}
