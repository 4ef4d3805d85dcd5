package api_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/openapi"
)

func TestOperations_NeedNoCredential(t *testing.T) {
	t.Parallel()
	anybody := newOwner(t, "pro").as("")
	for path, want := range map[string]string{"/api/liveness": `{"meta":{"status":"alive"}}`, "/api/readiness": `{"meta":{"status":"ready"}}`,
		"/api/serving": `{"status":"ok","reason":null}`} {
		t.Run(path, func(t *testing.T) {
			if got := anybody.in(t).get(path).want(200); strings.TrimSpace(string(got.body)) != want {
				t.Errorf("got %s, want %s", got.body, want)
			}
		})
	}
	description, err := openapi.JSON()
	if err != nil {
		t.Fatal(err)
	}
	got := anybody.get("/api/openapi.json").want(200)
	if !bytes.Equal(got.body, description) || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("/api/openapi.json is not the interface description, or not called JSON but %s", got.header.Get("Content-Type"))
	}
}

func TestMetrics_CountByRoute(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"))
	owner.get(environmentsPath + "/staging").want(200)
	owner.get(environmentsPath + "/secret-name").want(404)
	owner.get("/nowhere/secret-name").want(404)
	owner.as("sk_api_secret-name").get(environmentsPath).want(401)
	page := string(owner.get("/metrics").want(200).body)
	for _, line := range []string{
		`signalbox_http_requests_total{method="GET",route="GET /api/v1/environments/{id}",status="200"} 1`,
		`signalbox_http_requests_total{method="GET",route="GET /api/v1/environments/{id}",status="404"} 1`,
		`signalbox_http_requests_total{method="GET",route="none",status="404"} 1`,
		`signalbox_authentications_total{result="refused"} 1`,
	} {
		t.Run(fmt.Sprintf("%.40q", line), func(t *testing.T) {
			if !strings.Contains(page, line) {
				t.Errorf("/metrics does not have %s", line)
			}
		})
	}
	if strings.Contains(page, "secret-name") {
		t.Error("/metrics shows a path or a key")
	}
	if !regexp.MustCompile(`(?m)^go_goroutines \d+$`).MatchString(page) || !strings.Contains(page, "signalbox_build_info{") {
		t.Error("/metrics lacks those of the runtime or the build")
	}
}

// TestMetrics_OwnAddress: with a listen address of their own they are not
// beside the API any more.
func TestMetrics_OwnAddress(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.MetricsListen = "127.0.0.1:0" })
	_, got := owner.exchange(request{method: "GET", path: "/metrics"}) // unlike the description
	got.refused(404, problem{code: "not_found"})
}
