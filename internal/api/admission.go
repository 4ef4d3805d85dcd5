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
	leave := func() {}
	defer func() { leave() }()
	c.enter = func() error {
		c.enter = nil
		left, err := a.queue.Enter(c.ctx(), to.access.class, c.caller.Account)
		if err == nil {
			leave = left
		}
		return err
	}
	if length := c.request.ContentLength; length <= 0 || length > smallBody {
		if err := c.enter(); err != nil {
			return reply{}, err
		}
	}
	answer, err := run()
	if err == nil && !to.access.cached && len(answer.body) >= compressEarly && answer.zipped == nil && acceptsGzip(header(c.request, "Accept-Encoding")) {
		zipped := compress(answer.body)
		answer.zipped = func() []byte { return zipped }
	}
	return answer, err
}

// smallBody is the size in bytes up to which a body is read before the request takes a place, so that a caller that sends slowly
// keeps nobody waiting. Larger bodies are read afterward, because waiting requests must not fill the memory.
const smallBody = 64 << 10

// compressEarly is the size in bytes from which compressing is a part of the work, and not of sending.
const compressEarly = 64 << 10
