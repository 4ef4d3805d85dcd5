package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// build builds an app that the test starts and stops. It also returns the text
// that the first start printed.
func build(t *testing.T, s settings.Settings, with ...func(*app.Options)) (*app.App, string, error) {
	t.Helper()
	var printed bytes.Buffer
	instance, err := app.New(t.Context(), s, slog.New(slog.DiscardHandler), &printed, append([]func(*app.Options){apptest.Quick}, with...)...)
	return instance, printed.String(), err
}

// run builds and starts an app, and stops it at the end of the test.
func run(t *testing.T, s settings.Settings) (*app.App, string) {
	t.Helper()
	instance, printed, err := build(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := instance.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, instance) })
	return instance, printed
}

func stop(t *testing.T, instance *app.App) {
	t.Helper()
	if err := instance.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// refuses checks that an app does not start, and that the error contains a text.
func refuses(t *testing.T, s settings.Settings, says string) {
	t.Helper()
	instance, printed, err := build(t, s)
	if err == nil {
		stop(t, instance)
		t.Fatalf("it started and printed %q", printed)
	}
	if !strings.Contains(err.Error(), says) {
		t.Errorf("it says %q and not %q", err, says)
	}
}

// chosen returns settings without the bootstrap key that other tests use.
func chosen(database storetest.Database, change func(*settings.Settings)) settings.Settings {
	s := apptest.Settings(database)
	s.BootstrapKey = ""
	if change != nil {
		change(&s)
	}
	return s
}

// client calls a node with a key.
type client struct {
	url, key string
	http     http.Client
}

func newClient(t *testing.T, url, key string) *client {
	t.Helper()
	c := &client{url: url, key: key}
	c.http.Transport = &http.Transport{}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// call sends a request and returns the status and the body.
func (c *client) call(ctx context.Context, method, path, body string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), errors.Join(err, response.Body.Close())
}

// get checks the status of a GET and returns the body.
func (c *client) get(t *testing.T, path string, want int) string {
	t.Helper()
	status, text, err := c.call(t.Context(), http.MethodGet, path, "")
	if err != nil || status != want {
		t.Fatalf("GET %s got %d, %v: %s", path, status, err, text)
	}
	return text
}

// status returns the status of a GET, or 0 if there was no answer.
func (c *client) status(t *testing.T, path string) int {
	t.Helper()
	status, _, _ := c.call(t.Context(), http.MethodGet, path, "")
	return status
}

// refusedWithin waits until the client's key is refused. Requests that are sent
// more than limit after ended must be refused. The time until their answer does
// not count.
func (c *client) refusedWithin(t *testing.T, limit time.Duration, ended time.Time) {
	t.Helper()
	storetest.Wait(t, 2*soon, "the key is refused", func() bool {
		sent := time.Since(ended)
		status := c.status(t, "/api/v1/users/current")
		if status == http.StatusOK && sent > limit {
			t.Fatalf("%s after it ended the key still works", sent)
		}
		return status == http.StatusUnauthorized
	})
}

// plans returns the plans of the caller's account.
func (c *client) plans(t *testing.T) map[string]string {
	t.Helper()
	var document struct {
		Data struct {
			Attributes struct{ Plans map[string]string }
		}
	}
	if err := json.Unmarshal([]byte(c.get(t, "/api/v1/accounts/current", http.StatusOK)), &document); err != nil {
		t.Fatal(err)
	}
	return document.Data.Attributes.Plans
}

// operate opens an Operator on a store until the end of the test.
func operate(t *testing.T, s settings.Settings) *app.Operator {
	t.Helper()
	operator, err := app.MakeOperator(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := operator.Close(); err != nil {
			t.Error(err)
		}
	})
	return operator
}

// accountsAndKeys lists the accounts of a store and counts their keys.
func accountsAndKeys(t *testing.T, s settings.Settings) (list []accounts.Account, keys int) {
	t.Helper()
	operator := operate(t, s)
	list, err := operator.Accounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, account := range list {
		found, err := operator.Keys(t.Context(), account.Key)
		if err != nil {
			t.Fatal(err)
		}
		keys += len(found)
	}
	return list, keys
}

// together runs a function for several nodes at the same time.
func together(nodes int, do func(node int)) {
	start := make(chan struct{})
	var running sync.WaitGroup
	for node := range nodes {
		running.Go(func() {
			<-start
			do(node)
		})
	}
	close(start)
	running.Wait()
}

// soon is how long an immediate event may take on a busy machine.
const soon = 30 * time.Second
