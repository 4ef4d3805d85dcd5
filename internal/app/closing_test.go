package app

import (
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"
)

// TestServer_SaysClosing: a client with an open connection still gets an answer when the server stops, and the answer says
// that the connection ends.
func TestServer_SaysClosing(t *testing.T) {
	t.Parallel()
	s, err := newServer(t.Context(), "SIGNALBOX_LISTEN", "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	s.start()
	client := &http.Client{Transport: &http.Transport{}}
	get := func() (closes bool) {
		response, err := client.Get("http://" + s.listener.Addr().String()) //nolint:noctx // it is short
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		return response.Close
	}
	if get() {
		t.Error("the server closes a connection that could be kept")
	}
	s.leaving.Store(true)
	if !get() {
		t.Error("the client was not told that the connection ends")
	}
	for began := time.Now(); s.open.Load() > 0 && time.Since(began) < time.Minute; {
		s.sayClosing(t.Context())
	}
	if err := s.stop(t.Context()); err != nil {
		t.Error(err)
	}
}
