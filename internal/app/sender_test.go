package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/egress"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
)

// The requests of two accounts to one server travel on two connections.
func TestRunsOfAccountsDoNotShareConnections(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) }))
	t.Cleanup(server.Close)
	client := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(client.Close)
	body := "body"
	from := map[string]string{}
	for _, account := range []string{"one", "other"} {
		order := worker.Order{Account: account, Run: "run", Job: "job", Configuration: jobs.NewConfiguration(jobs.Plain{Method: "POST", URL: server.URL, Body: &body, Timeout: 10})}
		answer, err := app.NewSender(client).Send(t.Context(), order)
		if err != nil {
			t.Fatal(err)
		}
		from[answer.Body] = account
	}
	if len(from) != 2 {
		t.Errorf("one connection was used for both: %v", from)
	}
}
