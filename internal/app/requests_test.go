package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// startLogged starts a node, and returns a client and the node's log.
func startLogged(t *testing.T, database storetest.Database) (*client, *lines) {
	t.Helper()
	logged, s := &lines{}, apptest.Settings(database)
	instance, err := app.New(t.Context(), s, slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := instance.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, instance) })
	return newClient(t, "http://"+instance.Address(), s.BootstrapKey), logged
}

// requests returns the log level of each request, by path and status.
func (l *lines) requests() map[string]string {
	type line struct {
		Level, Msg, Path string
		Status           json.Number
	}
	found := map[string]string{}
	for text := range bytes.Lines(l.read()) {
		var read line
		if json.Unmarshal(text, &read) == nil && read.Msg == "request" {
			found[read.Path+" "+read.Status.String()] = read.Level
		}
	}
	return found
}

// TestRequests_LogLevels: frequent requests of services do not fill the log.
func TestRequests_LogLevels(t *testing.T) {
	t.Parallel()
	const snapshot, environments = "/api/v1/snapshots/production", "/api/v1/environments"
	c, logged := startLogged(t, storetest.New(t, "sqlite"))
	c.get(t, "/api/liveness", http.StatusOK)
	c.get(t, environments, http.StatusOK)
	c.get(t, environments+"/nowhere", http.StatusNotFound)
	c.get(t, snapshot, http.StatusOK)
	if status := c.again(t, snapshot); status != http.StatusNotModified {
		t.Fatalf("got %d", status)
	}
	want := map[string]string{"/api/liveness 200": "DEBUG", environments + " 200": "INFO", environments + "/nowhere 404": "INFO",
		snapshot + " 200": "INFO", snapshot + " 304": "DEBUG"}
	storetest.Wait(t, soon, "every request has its line", func() bool { return len(logged.requests()) >= len(want) })
	for what, level := range logged.requests() {
		if want[what] != level {
			t.Errorf("%s is logged at %s", what, level)
		}
	}
}

// again requests a path, repeats the request with the ETag of the answer, and
// returns the second status.
func (c *client) again(t *testing.T, path string) int {
	t.Helper()
	tag := ""
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+c.key)
		request.Header.Set("If-None-Match", tag)
		response, err := c.http.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if tag != "" {
			return response.StatusCode
		}
		tag = response.Header.Get("Etag")
	}
}
