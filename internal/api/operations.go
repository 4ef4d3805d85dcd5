package api

import (
	"strings"

	"github.com/signalbox/signalbox/internal/fault"
)

// health is the answer of a process that is well.
type health struct {
	Meta healthMeta `json:"meta"`
}

type healthMeta struct {
	Status string `json:"status"`
}

func (a *API) liveness(*call) (reply, error) { return ok(health{healthMeta{"alive"}}) }

func (a *API) readiness(c *call) (reply, error) {
	if err := a.Ready(c.ctx()); err != nil {
		return reply{}, fault.New(fault.Unavailable, "%s", notReady(err)).Because(err)
	}
	return ok(health{healthMeta{"ready"}})
}

// notReady says why a node should get no requests, as far as everybody may know.
func notReady(err error) string {
	sentences := []string{"This node is not ready to serve."}
	for _, reason := range fault.All(err) {
		sentences = append(sentences, reason.Detail)
	}
	return strings.Join(sentences, " ")
}

func (a *API) openapi(*call) (reply, error) {
	description, err := a.OpenAPI()
	if err != nil {
		return reply{}, err
	}
	return plain(description)
}

func (a *API) metrics(*call) (reply, error) { return reply{raw: a.Metrics.Handler()}, nil }
