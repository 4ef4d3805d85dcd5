package api

import (
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/internal/admission"
)

// classOf returns the class of a route's requests. counted is false for requests that are always answered at once: probes,
// event sockets, and the actions that stop something. Evaluations count only while they compute.
func classOf(to route) (class admission.Class, counted bool) {
	method, path, _ := strings.Cut(to.pattern, " ")
	switch {
	case to.access.open, to.access.socket, to.access.needs.Evaluates, stops(path):
		return 0, false
	case strings.HasSuffix(path, "/bulk"):
		return admission.Observations, true
	case strings.HasSuffix(path, "/actions/evaluate"):
		return admission.Lists, true
	case method != http.MethodGet:
		return admission.Writes, true
	case strings.HasSuffix(path, "}"), strings.HasSuffix(path, "/current"), strings.HasSuffix(path, "/settings"):
		return admission.Reads, true
	}
	return admission.Lists, true
}

// stops reports whether a path stops something that must not go on because the server is busy.
func stops(path string) bool {
	return strings.HasSuffix(path, "/actions/cancel") || strings.HasSuffix(path, "/actions/revoke") || strings.HasPrefix(path, "/api/v1/sessions/")
}

// admitted runs a function when the node has time for the request.
func (a *API) admitted(to *route, c *call, run func() (reply, error)) (reply, error) {
	if !to.access.counted {
		return run()
	}
	leave, err := a.room.Enter(c.ctx(), to.access.class, c.caller.Account)
	if err != nil {
		return reply{}, err
	}
	defer leave()
	answer, err := run()
	if err == nil && !to.access.cached && len(answer.body) >= compressEarly && answer.zipped == nil && acceptsGzip(header(c.request, "Accept-Encoding")) {
		zipped := compress(answer.body)
		answer.zipped = func() []byte { return zipped }
	}
	return answer, err
}

// compressEarly is the size in bytes from which compressing is a part of the work, and not of sending.
const compressEarly = 64 << 10
