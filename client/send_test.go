package signalbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
)

func TestClient_Send(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/api/v1/missing" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"errors":[{"code":"not_found","detail":"There is none."}]}`)
			return
		}
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("page[size]")+" "+string(body)+" "+r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	client, err := signalbox.New(server.URL, "sk_api_x", signalbox.WithRetry(signalbox.RetryPolicy{}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Send(t.Context(), "PUT", "/api/v1/flags/a%2Fb?page[size]=3", []byte(`{"a":1}`))
	if err != nil || string(got) != `PUT /api/v1/flags/a/b 3 {"a":1} Bearer sk_api_x` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := client.Send(t.Context(), "GET", "/api/v1/missing", nil); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	for path, body := range map[string]string{"api/v1/flags": "{}", "/api/v1/flags?%zz": "{}", "/api/v1/flags": "{"} {
		t.Run(path, func(t *testing.T) {
			if _, err := client.Send(t.Context(), "POST", path, []byte(body)); err == nil || !strings.HasPrefix(err.Error(), "signalbox: ") {
				t.Errorf("%s with %s: got %v", path, body, err)
			}
		})
	}
}

func TestReady_OfAnotherServer(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"a page": "<html>", "JSON": "{}", "another health": `{"meta":{"status":"up"}}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
			t.Cleanup(server.Close)
			if err := signalbox.Ready(t.Context(), server.URL); err == nil {
				t.Error("it is taken for a Signalbox server that is ready")
			}
		})
	}
}
