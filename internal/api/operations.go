package api

import (
	"net/http"

	"github.com/signalbox/signalbox/internal/fault"
)

// health returns the answer of a healthy process.
func health(status string) (reply, error) {
	return ok(map[string]any{"meta": map[string]string{"status": status}})
}

func (a *API) liveness(*call) (reply, error) { return health("alive") }

// readiness reports whether a node is ready, and if not the reason in public terms.
func (a *API) readiness(c *call) (reply, error) {
	if err := a.Ready(c.ctx()); err != nil {
		return reply{}, fault.New(fault.Unavailable, "%s", joined("This node is not ready to serve.", err)).Because(err)
	}
	return health("ready")
}

// serving tells load balancers whether a node should get traffic. A node that can answer
// only evaluations should, because running services need them most.
func (a *API) serving(c *call) (reply, error) {
	degraded, err := a.Serving(c.ctx())
	if err != nil {
		return reply{}, fault.New(fault.Unavailable, "%s", joined("This node does not serve.", err)).Because(err)
	}
	answer := struct {
		Status string  `json:"status"`
		Reason *string `json:"reason"`
	}{Status: "ok"}
	if degraded != "" {
		answer.Status, answer.Reason = "degraded", &degraded
	}
	return reply{status: http.StatusOK, document: answer, mediaType: plainJSON}, nil
}

func (a *API) openapi(*call) (reply, error) {
	description, err := a.OpenAPI()
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: description, mediaType: plainJSON}, nil
}

func (a *API) metrics(*call) (reply, error) { return reply{raw: a.Metrics.Handler()}, nil }
