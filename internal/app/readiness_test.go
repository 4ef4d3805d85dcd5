package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestReadiness_FollowsDatabase(t *testing.T) {
	t.Parallel()
	database, proxy := storetest.New(t, "postgres").ThroughProxy(t)
	node := apptest.Start(t, database)
	c := newClient(t, node.URL, node.Key)
	ready := func(want int) {
		t.Helper()
		storetest.Wait(t, soon, "readiness is as it should be", func() bool { return c.status(t, "/api/readiness") == want })
		c.get(t, "/api/liveness", http.StatusOK) // the process is up in any case
	}
	ready(http.StatusOK)
	c.get(t, "/api/v1/users/current", http.StatusOK)
	proxy.Down()
	ready(http.StatusServiceUnavailable)
	text := c.get(t, "/api/readiness", http.StatusServiceUnavailable)
	if !strings.Contains(text, `"unavailable"`) || strings.Contains(text, "127.0.0.1") || strings.Contains(text, "postgres") {
		t.Errorf("it says %s", text)
	}
	proxy.Up()
	ready(http.StatusOK)
	storetest.Wait(t, soon, "requests are answered", func() bool { return c.status(t, "/api/v1/users/current") == http.StatusOK })
}

// The machine of the database lost its power, and another took over: the old
// connections are silent for ever and new ones work.
func TestOutage_SilentConnections(t *testing.T) {
	t.Parallel()
	database, proxy := storetest.New(t, "postgres").ThroughProxy(t)
	node := apptest.Start(t, database)
	c := newClient(t, node.URL, node.Key)
	paths := []string{"/api/v1/environments", "/api/readiness", "/api/v1/users/current"}
	for _, path := range paths {
		c.get(t, path, http.StatusOK)
	}
	proxy.Stall()
	c.http.Timeout = 3 * time.Second // nobody waits longer
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			storetest.Wait(t, 2*soon, path+" is answered", func() bool { return c.status(t, path) == http.StatusOK })
		})
	}
	proxy.Cut()
}

func TestOutage_RequestsAreUnavailable(t *testing.T) {
	t.Parallel()
	database, proxy := storetest.New(t, "postgres").ThroughProxy(t)
	node := apptest.Start(t, database)
	c := newClient(t, node.URL, node.Key)
	c.get(t, "/api/v1/environments", http.StatusOK)
	proxy.Down()
	for _, path := range []string{"/api/v1/environments", "/api/v1/environments/production", "/api/v1/users/current", "/api/v1/changes"} {
		c.get(t, path, http.StatusServiceUnavailable)
	}
	status, text, err := c.call(t.Context(), http.MethodPost, "/api/v1/services", `{"data":{"type":"service","id":"lost","attributes":{}}}`)
	if err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("a write got %d, %v: %s", status, err, text)
	}
	proxy.Up()
	storetest.Wait(t, soon, "reads are answered", func() bool { return c.status(t, "/api/v1/environments") == http.StatusOK })
	c.get(t, "/api/v1/services/lost", http.StatusNotFound)
}

// A key that is revoked while a node cannot hear of it must not work there
// once the node reaches the database again.
func TestOutage_RevocationCountsAfterIt(t *testing.T) {
	t.Parallel()
	direct := storetest.New(t, "postgres")
	through, proxy := direct.ThroughProxy(t)
	node := apptest.Start(t, through)
	operator := operate(t, apptest.Settings(direct))
	_, key, err := operator.CreateKey(t.Context(), "", keyDraft("n", "MEMBER"))
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, node.URL, key.Plaintext)
	c.get(t, "/api/v1/users/current", http.StatusOK)
	proxy.Down()
	if _, err := operator.RevokeKey(t.Context(), "", key.ID); err != nil {
		t.Fatal(err)
	}
	proxy.Up()
	c.refusedWithin(t, 5*time.Second, time.Now())
}
