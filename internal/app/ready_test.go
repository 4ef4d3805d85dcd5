package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestReady_KnowsSignalbox(t *testing.T) {
	t.Parallel()
	for body, ok := range map[string]bool{
		`{"meta":{"status":"ready"}}`: true, `{"meta":{"status":"alive"}}`: false, `{"status":"ready"}`: false, "OK": false, "": false,
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
			t.Cleanup(server.Close)
			if err := ready(t.Context(), server.URL); (err == nil) != ok {
				t.Errorf("got %v", err)
			}
		})
	}
}
