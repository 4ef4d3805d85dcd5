package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWebhooksTest_Waits: the test of a webhook is not the newest delivery any more when its attempt has ended, or it is never
// attempted.
func TestWebhooksTest_Waits(t *testing.T) {
	t.Parallel()
	delivery := func(id, status, attempts string) string {
		return fmt.Sprintf(`{"id":%q,"type":"webhook_delivery","attributes":{"webhook":"w","type":"webhook.test","status":%q,"events":1,"created_at":"2026-01-02T03:04:05Z","attempts":[%s]}}`, id, status, attempts)
	}
	for name, test := range map[string]struct {
		status, attempts string
		code             int
		says             string
	}{
		"delivered": {"delivered", `{"at":"2026-01-02T03:04:05Z","status":204,"duration_ms":1}`, 0, "The test is delivered: 204."},
		"refused":   {"pending", `{"at":"2026-01-02T03:04:05Z","status":null,"error":"no such host","duration_ms":1}`, 1, "The test is pending: no such host."},
		"canceled":  {"canceled", "", 1, "The test is canceled: the webhook was disabled."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/vnd.api+json")
				switch {
				case strings.HasSuffix(r.URL.Path, "/actions/test"):
					fmt.Fprintf(w, `{"data":%s}`, delivery("5", "pending", ""))
				case !strings.HasSuffix(r.URL.Path, "/deliveries"):
					fmt.Fprint(w, `{"data":{"id":"w","type":"webhook","attributes":{"name":"w","url":"https://x.test/"}}}`)
				case r.URL.Query().Get("page[after]") == "":
					fmt.Fprintf(w, `{"data":[%s,%s],"meta":{"page_size":2},"links":{"next":%q}}`, delivery("7", "pending", ""), delivery("6", "pending", ""), r.URL.Path+"?page[after]=6")
				default:
					fmt.Fprintf(w, `{"data":[%s],"meta":{"page_size":2},"links":{"next":null}}`, delivery("5", test.status, test.attempts))
				}
			}))
			t.Cleanup(server.Close)
			got := newTerminal(t, "SIGNALBOX_URL="+server.URL, "SIGNALBOX_API_KEY=sk_api_x").run("webhooks", "test", "w")
			if got.code != test.code || !strings.Contains(got.stdout, test.says) {
				t.Errorf("got %d: %s%s", got.code, got.stdout, got.stderr)
			}
		})
	}
}
