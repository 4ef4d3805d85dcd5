package app_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

const (
	ofrepSwitch = "/ofrep/v1/evaluate/flags/switch"
	snapshotOf  = "/api/v1/snapshots/production"
)

// begin starts a node, and the test stops it.
func begin(t *testing.T, s settings.Settings, with ...func(*app.Options)) *app.App {
	t.Helper()
	instance, _, err := build(t, s, with...)
	if err == nil {
		err = instance.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return instance
}

func speakTo(t *testing.T, instance *app.App, key string) *client {
	t.Helper()
	return newClient(t, "http://"+instance.Address(), key)
}

// evaluate evaluates the test's switch (a boolean flag) in production.
func (c *client) evaluate(t *testing.T) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+ofrepSwitch, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("X-Signalbox-Environment", "production")
	response, err := c.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body.String()
}

// evaluateAs evaluates the switch until it has the value. It repeats, because a node
// treats a database that is busy for a second as down.
func (c *client) evaluateAs(t *testing.T, value string) {
	t.Helper()
	storetest.Wait(t, soon, "the switch is "+value, func() bool {
		status, text := c.evaluate(t)
		return status == http.StatusOK && strings.Contains(text, `"value":`+value)
	})
}

// load loads a snapshot. It repeats, because the database may be busy.
func (c *client) load(t *testing.T, path string) {
	t.Helper()
	storetest.Wait(t, soon, path+" is served", func() bool { return c.status(t, path) == http.StatusOK })
}

// send sends a document and checks the status.
func (c *client) send(t *testing.T, method, path, body string, want int) {
	t.Helper()
	if status, text, err := c.call(t.Context(), method, path, body); err != nil || status != want {
		t.Fatalf("%s %s got %d, %v: %s", method, path, status, err, text)
	}
}

func flagDocument(value string) string {
	return `{"data":{"type":"flag","id":"switch","attributes":{"name":"Switch","type":"BOOLEAN","managed":true,"default":` + value + `}}}`
}

// killed has the settings and the keys of a node that services used and that was stopped.
type killed struct {
	settings                           settings.Settings
	proxy                              *storetest.Proxy
	used, revoked, expiring, neverSent string
}

// useAndStop runs a node until it has saved its state: a switch that was on and then
// turned off, and a key that was revoked.
func useAndStop(t *testing.T) killed {
	t.Helper()
	database, proxy := storetest.New(t, "postgres").ThroughProxy(t)
	k := killed{settings: apptest.Settings(database), proxy: proxy}
	k.settings.ShutdownTimeout = soon // a busy machine needs time for the last save
	node := begin(t, k.settings)
	owner := speakTo(t, node, k.settings.BootstrapKey)
	owner.send(t, http.MethodPost, "/api/v1/flags", flagDocument("true"), http.StatusCreated)
	operator := node.Operator()
	key := func(draft accounts.KeyDraft) accounts.Key {
		t.Helper()
		_, made, err := operator.CreateKey(t.Context(), "", draft)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	revoked, expires := key(keyDraft("revoked", "VIEWER")), keyDraft("expiring", "VIEWER")
	expires.ExpiresAt = optional.Of(time.Now().Add(time.Hour))
	k.used, k.expiring = key(keyDraft("used", "VIEWER")).Plaintext, key(expires).Plaintext
	k.revoked, k.neverSent = revoked.Plaintext, key(keyDraft("never sent", "VIEWER")).Plaintext
	for _, each := range []string{k.used, k.revoked, k.expiring} {
		c := speakTo(t, node, each)
		c.evaluateAs(t, "true")
		c.load(t, snapshotOf)
	}
	if _, err := operator.RevokeKey(t.Context(), "", revoked.ID); err != nil {
		t.Fatal(err)
	}
	owner.send(t, http.MethodPut, "/api/v1/flags/switch", flagDocument("false"), http.StatusOK)
	stop(t, node)
	return k
}

// TestStandIn_ServesEvaluation: a node that starts while its database is down answers
// evaluation from its saved state, for the saved keys, and refuses everything else. When
// the database is back, the node completes its start.
func TestStandIn_ServesEvaluation(t *testing.T) {
	t.Parallel()
	k := useAndStop(t)
	k.proxy.Down()
	node := begin(t, k.settings)
	defer func() { stop(t, node) }()
	c := speakTo(t, node, k.used)
	if status, text := c.evaluate(t); status != http.StatusOK || !strings.Contains(text, `"value":false`) || !strings.Contains(text, "stale_since") {
		t.Errorf("the switch that was turned off got %d: %s", status, text)
	}
	if text := c.get(t, snapshotOf, http.StatusOK); !strings.Contains(text, `"default":false`) || !strings.Contains(text, "stale_since") {
		t.Errorf("the snapshot is %s", text)
	}
	c.get(t, "/api/liveness", http.StatusOK)
	c.get(t, "/metrics", http.StatusOK)
	c.get(t, "/api/readiness", http.StatusServiceUnavailable)
	if text := c.get(t, "/api/serving", http.StatusOK); !strings.Contains(text, `"status":"degraded","reason":"The database cannot be reached.`) {
		t.Errorf("serving says %s", text)
	}
	for _, path := range []string{"/api/v1/flags", "/api/v1/flags/switch", "/api/v1/users/current", "/api/v1/snapshots/staging", "/api/ws/v1/events"} {
		t.Run(path, func(t *testing.T) {
			c.get(t, path, http.StatusServiceUnavailable)
		})
	}
	c.send(t, http.MethodPost, "/api/v1/flags", flagDocument("true"), http.StatusServiceUnavailable)
	for name, key := range map[string]string{"revoked": k.revoked, "never sent": k.neverSent, "unknown": "sk_api_unknown"} {
		t.Run(name, func(t *testing.T) {
			if status, text := speakTo(t, node, key).evaluate(t); status != http.StatusServiceUnavailable {
				t.Errorf("the %s key got %d: %s", name, status, text)
			}
		})
	}
	if status, text := speakTo(t, node, k.expiring).evaluate(t); status != http.StatusOK {
		t.Errorf("the key that expires later got %d: %s", status, text)
	}

	k.proxy.Up()
	storetest.Wait(t, soon, "the start is completed", func() bool { return c.status(t, "/api/readiness") == http.StatusOK })
	if status, text := c.evaluate(t); status != http.StatusOK || strings.Contains(text, "stale_since") {
		t.Errorf("with the database: got %d: %s", status, text)
	}
	owner := speakTo(t, node, k.settings.BootstrapKey)
	owner.send(t, http.MethodPut, "/api/v1/flags/switch", flagDocument("true"), http.StatusOK)
	if status, text := speakTo(t, node, k.revoked).evaluate(t); status != http.StatusUnauthorized {
		t.Errorf("the revoked key got %d: %s", status, text)
	}
}

// TestStandIn_KeysExpire: a saved key that has expired since is refused. Only the database knows
// whether its expiry was changed.
func TestStandIn_KeysExpire(t *testing.T) {
	t.Parallel()
	k := useAndStop(t)
	k.proxy.Down()
	node := begin(t, k.settings, func(o *app.Options) {
		o.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	})
	defer stop(t, node)
	for name, c := range map[string]struct {
		key  string
		want int
	}{"lasting": {k.used, http.StatusOK}, "expired": {k.expiring, http.StatusServiceUnavailable}} {
		t.Run(name, func(t *testing.T) {
			if status, text := speakTo(t, node, c.key).evaluate(t); status != c.want {
				t.Errorf("got %d, want %d: %s", status, c.want, text)
			}
		})
	}
}

// TestStandIn_KeepsWhatItHad: after a restart, a node that got no requests yet is as
// prepared for an outage as before.
func TestStandIn_KeepsWhatItHad(t *testing.T) {
	t.Parallel()
	k := useAndStop(t)
	file := filepath.Join(k.settings.Data, "last-known-test")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	second := begin(t, k.settings)
	storetest.Wait(t, soon, "the file is written again", func() bool {
		now, err := os.Stat(file)
		return err == nil && now.ModTime().After(before.ModTime())
	})
	stop(t, second)
	k.proxy.Down()
	third := begin(t, k.settings)
	defer stop(t, third)
	c := speakTo(t, third, k.used)
	if status, text := c.evaluate(t); status != http.StatusOK {
		t.Errorf("got %d: %s", status, text)
	}
	c.get(t, snapshotOf, http.StatusOK)
}

// TestStandIn_NeedsWhatItKept: a start without the database fails if the file is missing,
// cannot be decrypted or is too old.
func TestStandIn_NeedsWhatItKept(t *testing.T) {
	t.Parallel()
	k := useAndStop(t)
	k.proxy.Down()
	file := filepath.Join(k.settings.Data, "last-known-test")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	refuses := func(t *testing.T, s settings.Settings) {
		t.Helper()
		if instance, _, err := build(t, s); err == nil {
			stop(t, instance)
			t.Error("it started")
		} else if !strings.Contains(err.Error(), "connecting to PostgreSQL") {
			t.Errorf("it says %v", err)
		}
	}
	t.Run("another database", func(t *testing.T) {
		other := k.settings
		other.Database = strings.Replace(other.Database, "?", "x?", 1)
		if other.Database == k.settings.Database {
			other.Database += "x"
		}
		refuses(t, other)
	})
	t.Run("too old", func(t *testing.T) {
		instance, err := app.New(t.Context(), k.settings, slog.New(slog.DiscardHandler), &bytes.Buffer{}, apptest.Quick, func(o *app.Options) {
			o.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
		})
		if err == nil {
			stop(t, instance)
			t.Error("it started")
		}
	})
	t.Run("damaged", func(t *testing.T) {
		damaged := bytes.Clone(text)
		damaged[len(damaged)/2] ^= 1
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		refuses(t, k.settings)
	})
	t.Run("missing", func(t *testing.T) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		refuses(t, k.settings)
	})
}

// TestStandIn_FileIsSealed: only the file's owner can read it, and only the key ring can
// decrypt it.
func TestStandIn_FileIsSealed(t *testing.T) {
	t.Parallel()
	k := useAndStop(t)
	file := filepath.Join(k.settings.Data, "last-known-test")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"switch", k.used, accounts.ParseSecret(k.used).Hash(), "production", "\x1f\x8b"} {
		if secret != "\x1f\x8b" && bytes.Contains(text, []byte(secret)) || bytes.HasPrefix(text, []byte("\x1f\x8b")) {
			t.Errorf("the file shows %q", secret)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(k.settings.Data, ".last-known-*")); len(left) > 0 {
		t.Errorf("saving left %v", left)
	}
}

// TestStandIn_LargeTenant: an account with much incompressible data, in several
// environments, does not displace the data of other accounts.
func TestStandIn_LargeTenant(t *testing.T) {
	t.Parallel()
	database, proxy := storetest.New(t, "postgres").ThroughProxy(t)
	s := apptest.Settings(database)
	node := begin(t, s)
	owner := speakTo(t, node, s.BootstrapKey)
	owner.send(t, http.MethodPost, "/api/v1/flags", flagDocument("false"), http.StatusCreated)
	owner.evaluateAs(t, "false")
	owner.load(t, snapshotOf)
	_, key, err := node.Operator().CreateAccount(t.Context(), "Large", "pro")
	if err != nil {
		t.Fatal(err)
	}
	large, random := speakTo(t, node, key.Plaintext), make([]byte, 80<<10)
	var items []string
	for i := range 4 {
		_, _ = rand.Read(random) // never fails
		items = append(items, fmt.Sprintf(`"i%d":{"value":%q}`, i, base64.StdEncoding.EncodeToString(random)))
	}
	large.send(t, http.MethodPost, "/api/v1/configs", fmt.Sprintf(`{"data":{"type":"config","id":"c","attributes":{"items":{%s}}}}`, strings.Join(items, ",")), http.StatusCreated)
	for i := range 4 {
		large.load(t, fmt.Sprintf("/api/v1/snapshots/made-up-%d", i))
	}
	stop(t, node)
	proxy.Down()
	again := begin(t, s)
	defer stop(t, again)
	c := speakTo(t, again, s.BootstrapKey)
	if status, text := c.evaluate(t); status != http.StatusOK || !strings.Contains(text, `"value":false`) {
		t.Errorf("got %d: %s", status, text)
	}
	c.get(t, snapshotOf, http.StatusOK)
}

// TestStandIn_NoPlaceToKeep: a node that cannot write to its data folder still serves
// requests.
func TestStandIn_NoPlaceToKeep(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	s := apptest.Settings(database)
	s.Keyring = "5c0e91d2 " + strings.Repeat("A", 43) + "="
	s.Data = filepath.Join(t.TempDir(), "file", "folder")
	if err := os.WriteFile(filepath.Dir(s.Data), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	node := begin(t, s)
	defer stop(t, node)
	speakTo(t, node, s.BootstrapKey).get(t, snapshotOf, http.StatusOK)
}

// TestStandIn_SQLiteKeepsNothing: a node with SQLite saves no state, because it cannot
// start without its database file.
func TestStandIn_SQLiteKeepsNothing(t *testing.T) {
	t.Parallel()
	s := apptest.Settings(storetest.New(t, "sqlite"))
	node := begin(t, s)
	speakTo(t, node, s.BootstrapKey).get(t, snapshotOf, http.StatusOK)
	stop(t, node)
	if _, err := os.Stat(filepath.Join(s.Data, "last-known-test")); err == nil {
		t.Error("there is a file")
	}
}

// TestServing_FollowsLife: the check for load balancers succeeds while the database is
// down, and fails after the shutdown.
func TestServing_FollowsLife(t *testing.T) {
	t.Parallel()
	database, proxy := storetest.New(t, "postgres").ThroughProxy(t)
	node := apptest.Start(t, database)
	c := newClient(t, node.URL, "")
	if text := c.get(t, "/api/serving", http.StatusOK); !strings.Contains(text, `"status":"ok","reason":null`) {
		t.Errorf("it says %s", text)
	}
	for _, fail := range []func(){proxy.Silence, proxy.Down} {
		fail()
		storetest.Wait(t, soon, "it is degraded", func() bool { return strings.Contains(c.get(t, "/api/serving", http.StatusOK), "degraded") })
		sent := time.Now()
		if c.get(t, "/api/serving", http.StatusOK); time.Since(sent) > time.Second {
			t.Errorf("it took %s", time.Since(sent))
		}
	}
	proxy.Up()
	storetest.Wait(t, soon, "it is well", func() bool { return strings.Contains(c.get(t, "/api/serving", http.StatusOK), `"ok"`) })
	handler := node.App.Handler()
	if err := node.App.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	if status := probe(handler, "/api/serving"); status != http.StatusServiceUnavailable {
		t.Errorf("after the shutdown it got %d", status)
	}
}

func probe(handler http.Handler, path string) int {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder.Code
}
