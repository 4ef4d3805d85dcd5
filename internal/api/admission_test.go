package api

import (
	"testing"

	"github.com/signalbox/signalbox/internal/admission"
)

func TestClassOf(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]admission.Class{
		"GET /api/v1/flags":                         admission.Lists,
		"GET /api/v1/flags/{id}/sources":            admission.Lists,
		"GET /api/v1/runs/stats":                    admission.Lists,
		"POST /api/v1/flags/actions/evaluate":       admission.Lists,
		"GET /api/v1/flags/{id}":                    admission.Reads,
		"GET /api/v1/snapshots/{environment}":       admission.Reads,
		"GET /api/v1/accounts/current":              admission.Reads,
		"PUT /api/v1/flags/{id}":                    admission.Writes,
		"POST /api/v1/jobs/{id}/actions/run":        admission.Writes,
		"POST /api/v1/changes/{seq}/actions/revert": admission.Writes,
		"POST /api/v1/flags/bulk":                   admission.Observations,
		"POST /api/v1/metrics/bulk":                 admission.Observations,
	} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			if class, counted := classOf(route{pattern: pattern}); class != want || !counted {
				t.Errorf("got class %d, counted: %t", class, counted)
			}
		})
	}
	for _, always := range []route{
		{pattern: "GET /api/readiness", access: probes()}, {pattern: "GET /api/ws/v1/events", access: listens()},
		{pattern: "POST /api/v1/runs/{id}/actions/cancel", access: configures()}, {pattern: "POST /api/v1/api_keys/{id}/actions/revoke", access: manages()},
		{pattern: "DELETE /api/v1/sessions/{id}", access: reads()}, {pattern: "POST /ofrep/v1/evaluate/flags", access: evaluates()},
	} {
		t.Run(always.pattern, func(t *testing.T) {
			t.Parallel()
			if _, counted := classOf(always); counted {
				t.Error("it may have to wait")
			}
		})
	}
}
