package telemetry_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/telemetry"
)

func TestPath_HidesKeys(t *testing.T) {
	t.Parallel()
	const key = "sk_api_0123456789"
	for path, want := range map[string]string{
		"/api/v1/flags/a":                              "/api/v1/flags/a",
		"/ofrep/v1/events/0123456789.0123456789":       "/ofrep/v1/events/<redacted>",
		"/levels/" + key + "/production/levels.json":   "/levels/<redacted>/production/levels.json",
		"/levels/an-operator-s-own-key/production":     "/levels/<redacted>/production",
		"/levels/" + key:                               "/levels/<redacted>",
		"/levels/":                                     "/levels/<redacted>",
		"/levels//" + key:                              "/levels/<redacted>/<redacted>",
		"//levels/" + key + "/production":              "//levels/<redacted>/production",
		"/Levels/" + key + "/production/x":             "/Levels/<redacted>/production/x",
		"/x/../levels/" + key:                          "/x/../levels/<redacted>",
		"/%6cevels/" + key + "/production/levels.json": "/levels/<redacted>/production/levels.json",
		"/levels/%73k_api_0123456789/production":       "/levels/<redacted>/production",
		"/%6cevels/%73k_api_0123456789/production":     "/levels/<redacted>/production",
		"/api/v1/api_keys/" + key + "/x" + key + "/y":  "/api/v1/api_keys/<redacted>/x<redacted>/y",
	} {
		t.Run(path, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "http://server"+path, nil)
			if got := telemetry.Path(r); got != want || strings.Contains(got, "0123456789") {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
