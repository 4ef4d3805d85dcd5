package api

import (
	"net/http"

	"github.com/signalbox/signalbox/internal/fault"
)

// health is the answer of a process that is well.
type health struct {
	Meta struct {
		Status string `json:"status"`
	} `json:"meta"`
}

func healthy(status string) health {
	var answer health
	answer.Meta.Status = status
	return answer
}

func (a *API) liveness(*call) (reply, error) { return ok(healthy("alive")) }

func (a *API) readiness(c *call) (reply, error) {
	if err := a.Ready(c.ctx()); err != nil {
		return failed(fault.New(fault.Unavailable, "This node is not ready to serve.").Because(err))
	}
	return ok(healthy("ready"))
}

func (a *API) openapi(*call) (reply, error) {
	description, err := a.OpenAPI()
	if err != nil {
		return failed(err)
	}
	return plain(http.StatusOK, description)
}

func (a *API) metrics(*call) (reply, error) { return reply{raw: a.Metrics.Handler()}, nil }
