package app_test

import (
	"net/http"
	"net/http/httptest"
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
		c.get(t, "/api/liveness", http.StatusOK) // liveness does not depend on the database
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

// If the database answers but refuses writes, as on a full disk or after a
// failover, the node is not ready until a write succeeds.
func TestReadiness_FollowsWrites(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	node := apptest.Start(t, database)
	c, raw := newClient(t, node.URL, node.Key), database.Raw(t)
	refuseWrites := func(refuse string) {
		t.Helper()
		for _, statement := range []string{
			`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ` + refuse + `', current_database()); END $$`,
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
		} {
			if _, err := raw.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	raw.SetMaxOpenConns(1) // the one connection of the test stays writable
	refuseWrites("on")
	storetest.Wait(t, soon, "a write fails", func() bool { return strings.Contains(scrape(node), "signalbox_store_writable 0") })
	storetest.Wait(t, soon, "reads work", func() bool { return c.status(t, "/api/v1/users/current") == http.StatusOK })
	if text := c.get(t, "/api/readiness", http.StatusServiceUnavailable); !strings.Contains(text, "Writing to the database fails: it is read-only.") {
		t.Errorf("readiness says %s", text)
	}
	refuseWrites("off")
	storetest.Wait(t, soon, "it is ready", func() bool { return c.status(t, "/api/readiness") == http.StatusOK })
	if text := scrape(node); !strings.Contains(text, "signalbox_store_writable 1") {
		t.Errorf("the metrics say %s", text)
	}
}

func scrape(node *apptest.Node) string {
	answer := httptest.NewRecorder()
	node.App.MetricsHandler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}

// The database's machine has lost power and another machine has taken over. Old
// connections are silent forever, and new connections work.
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
	c.http.Timeout = 3 * time.Second // a client would not wait longer
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
		t.Run(path, func(t *testing.T) {
			c.get(t, path, http.StatusServiceUnavailable)
		})
	}
	status, text, err := c.call(t.Context(), http.MethodPost, "/api/v1/services", `{"data":{"type":"service","id":"lost","attributes":{}}}`)
	if err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("a write got %d, %v: %s", status, err, text)
	}
	proxy.Up()
	storetest.Wait(t, soon, "reads are answered", func() bool { return c.status(t, "/api/v1/environments") == http.StatusOK })
	c.get(t, "/api/v1/services/lost", http.StatusNotFound)
}

// A key is revoked while a node cannot reach the database. When the node
// reaches it again, the key no longer works there.
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
