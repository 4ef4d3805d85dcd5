package app_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"testing"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/egress"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jobs/worker"
)

// The requests of two accounts to one server use two connections.
func TestSender_AccountsShareNoConnections(t *testing.T) {
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

// Every reason of egress has a translation. A missing one would be shown as a
// different reason.
func TestSender_TranslatesEveryReason(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../egress/errors.go")
	if err != nil {
		t.Fatal(err)
	}
	translations := map[egress.Reason]jobs.Reason{
		egress.Timeout: jobs.Timeout, egress.ConnectionError: jobs.ConnectionError, egress.SSRFBlocked: jobs.SSRFBlocked,
		egress.Canceled: "", egress.Exhausted: "",
	}
	reasons := regexp.MustCompile(`Reason = "([A-Z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(reasons) != len(translations) {
		t.Errorf("egress has the reasons %v", reasons)
	}
	for _, each := range reasons {
		t.Run(each[1], func(t *testing.T) {
			failed := &egress.Error{Reason: egress.Reason(each[1]), Detail: "It failed."}
			want, known := translations[failed.Reason]
			if !known {
				t.Errorf("%s has no translation", failed.Reason)
			}
			got := app.SendError(failed)
			if sent, ok := errors.AsType[*worker.SendError](got); ok != (want != "") || ok && *sent != (worker.SendError{Reason: want, Detail: "It failed."}) {
				t.Errorf("%s became %#v", failed.Reason, got)
			}
		})
	}
	if got := app.SendError(&egress.Error{Reason: egress.Exhausted}); !errors.Is(got, worker.ErrExhausted) {
		t.Errorf("a shortage became %v", got)
	}
	if app.SendError(nil) != nil {
		t.Error("a request that did not fail has an error")
	}
}
