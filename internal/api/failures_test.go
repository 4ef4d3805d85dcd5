package api_test

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestErrors_ClosedDatabase asks every route of a node whose database
// was closed under it.
func TestErrors_ClosedDatabase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		instance, err := app.New(t.Context(), apptest.Settings(database), slog.New(slog.DiscardHandler), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := instance.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, row := range accessTable() {
			method, path, _ := strings.Cut(row.route, " ")
			path = strings.NewReplacer("{id}", "x", "{key}", "x", "{seq}", "1").Replace(path)
			sent := httptest.NewRequest(method, path, strings.NewReader(`{"token":"x","email":"ada@example.com","password":"x"}`))
			sent.Header.Set("Authorization", "Bearer "+apptest.OwnerKey)
			sent.Header.Set("Content-Type", "application/json")
			sent.Header.Set("X-Request-Id", "req-17")
			recorder := httptest.NewRecorder()
			instance.Handler().ServeHTTP(recorder, sent)
			got := answer{t: t, what: row.route, status: recorder.Code, header: recorder.Header(), body: recorder.Body.Bytes()}
			checkExchange(t, sent, request{method: method, path: path, offContract: true}, got)
			switch {
			case method == http.MethodOptions:
				got.want(204)
				continue
			case row.route == "GET /ofrep/v1/events":
				got.want(401) // it has no token, which is checked without a database
				continue
			case strings.HasPrefix(path, "/ofrep/"):
				if got.want(503); inside.Match(got.body) {
					t.Errorf("%s: got %s", got.what, got.body)
				}
				continue
			}
			switch row.route {
			case "GET /api/liveness", "GET /api/openapi.json", "GET /metrics", "GET /auth/methods":
				got.want(200) // without a database
			case "GET /auth/oidc/start", "GET /auth/oidc/callback":
				got.want(404) // there is no provider
			default:
				requireUnavailable(t, got)
			}
			if t.Failed() {
				t.FailNow() // what one route does, all do
			}
		}
	})
}

// inside has internal details that an error must never show to a caller.
var inside = regexp.MustCompile(`(?i)goroutine|\.go:|sql|select |insert |panic|sqlite|postgres|pgx|/tmp|database is closed|127\.0\.0\.1`)

func requireUnavailable(t *testing.T, got answer) {
	t.Helper()
	var document struct{ Errors []refusal }
	if got.decode(&document); len(document.Errors) != 1 {
		t.Errorf("%s: got %s", got.what, got.body)
		return
	}
	failure := document.Errors[0]
	if got.status != http.StatusServiceUnavailable || failure.Status != "503" || failure.Code != "unavailable" {
		t.Errorf("%s: got %d %s, want 503 unavailable", got.what, got.status, got.body)
	}
	if id := got.header.Get("X-Request-Id"); id == "" || failure.Meta["request_id"] != id {
		t.Errorf("%s: the error has the request id %v, the response %q", got.what, failure.Meta["request_id"], id)
	}
	if inside.MatchString(failure.Detail) {
		t.Errorf("%s: the error says too much: %q", got.what, failure.Detail)
	}
	if got.header.Get("Retry-After") == "" {
		t.Errorf("%s: no Retry-After", got.what)
	}
}

// TestErrors_PostgresOutage takes the database away under a running node, and
// brings it back.
func TestErrors_PostgresOutage(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	owner := start(t, database)
	owner.get(environmentsPath).want(200)

	shut(t, database)
	for name, ask := range map[string]func(owner client) answer{
		"list":       func(owner client) answer { return owner.get(environmentsPath) },
		"resource":   func(owner client) answer { return owner.get(environmentsPath + "/staging") },
		"other list": func(owner client) answer { return owner.get(keysPath) },
		"creation": func(owner client) answer {
			return owner.post(environmentsPath, envelope("", unique("environment"), attributes{"name": "N"}))
		},
		"readiness": func(owner client) answer { return owner.get("/api/readiness") },
	} {
		t.Run(name, func(t *testing.T) { requireUnavailable(t, ask(owner.in(t))) })
	}
	owner.get("/api/liveness").want(200)

	reopen(t, database)
	eventually(t, patience, "the node serves again", func() bool { return owner.get("/api/readiness").status == 200 })
	owner.makeEnvironment(unique("environment"))
}

// shut ends all connections to a database and refuses new ones.
func shut(t *testing.T, database storetest.Database) {
	t.Helper()
	name := databaseName(t, database)
	administer(t, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false")
	t.Cleanup(func() { reopen(t, database) }) // or the node could not stop in peace
	administer(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'")
}

func reopen(t *testing.T, database storetest.Database) {
	t.Helper()
	administer(t, "ALTER DATABASE "+databaseName(t, database)+" ALLOW_CONNECTIONS true")
}

func databaseName(t *testing.T, database storetest.Database) string {
	t.Helper()
	parsed, err := url.Parse(database.URL)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(parsed.Path, "/")
}

func administer(t *testing.T, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", os.Getenv(storetest.ServerVariable))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), statement); err != nil { //nolint:usetesting // also used when the test's context has ended
		t.Fatal(err)
	}
}
