package api

import (
	"net/http"
	"strings"
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
func (c *call) readDryRun(route *route) (err error) {
	method, path, _ := strings.Cut(route.pattern, " ")
	if method == http.MethodGet || !strings.HasPrefix(path, "/api/v1/") {
		return nil
	}
	c.caller.DryRun, err = c.query.DryRun(route.access.dryRun)
	return err
}
