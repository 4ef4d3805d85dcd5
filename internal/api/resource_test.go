package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/telemetry"
)

func TestListing(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{
		"GET": {"GET"}, "GET and PUT": {"GET", "PUT"}, "GET, PUT and DELETE": {"GET", "PUT", "DELETE"},
	} {
		t.Run(want, func(t *testing.T) {
			if got := listing(words, "and"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestAPI_MethodNotAllowed(t *testing.T) {
	t.Parallel()
	a := New(Services{Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test")}, Options{})
	answer := httptest.NewRecorder()
	a.ServeHTTP(answer, httptest.NewRequest(http.MethodPatch, "/api/v1/flags/checkout", nil))
	const want = "This path supports GET, PUT and DELETE."
	if answer.Code != http.StatusMethodNotAllowed || !strings.Contains(answer.Body.String(), want) || answer.Header().Get("Allow") != "GET, PUT, DELETE" {
		t.Errorf("got %d, Allow %q: %s", answer.Code, answer.Header().Get("Allow"), answer.Body)
	}
}
