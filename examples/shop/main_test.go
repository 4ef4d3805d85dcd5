package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// output is the output of the shop.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the output.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) lines() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Count(o.text.String(), "Serving a checkout.")
}

// startShop runs the shop until the end of the test.
func startShop(t *testing.T, node *apptest.Node, key string) (url string, printed *output) {
	t.Helper()
	for name, value := range map[string]string{"URL": node.URL, "API_KEY": key, "ENVIRONMENT": "production", "SERVICE": "shop"} {
		t.Setenv("SIGNALBOX_"+name, value)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	printed, ended := &output{}, make(chan error, 1)
	go func() { ended <- run(ctx, listener, printed) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String(), printed
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestShop_ChangesWhileItRuns: changing a flag, a level and a config on the server changes what the shop does.
func TestShop_ChangesWhileItRuns(t *testing.T) {
	node := apptest.Shared(t, "sqlite")
	key := node.Account(t, "Shop", "pro")
	client, err := signalbox.New(node.URL, key)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	url, printed := startShop(t, node, key)
	checkout := func() string { return get(t, url+"/checkout?user=alice&plan=pro") }
	if got := checkout(); got != "the old checkout, with a timeout of 3000 ms\n" || printed.lines() != 0 {
		t.Errorf("without anything at the server: %q, %d lines", got, printed.lines())
	}
	ctx := t.Context()
	_, err = client.Flags.Apply(ctx, "checkout-v2", signalbox.FlagDraft{Type: flageval.Boolean, Default: []byte("false"),
		Environments: map[string]flageval.Environment{"production": {Enabled: true, Rules: []flageval.Rule{
			{Logic: []byte(`{"==":[{"var":"user.plan"},"pro"]}`), Value: []byte("true")}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Configs.Create(ctx, "checkout", signalbox.ConfigDraft{Items: map[string]signalbox.ConfigItem{"timeout_ms": {Value: []byte("1500")}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Loggers.Replace(ctx, "shop", signalbox.LoggerDraft{Base: signalbox.LevelSetting{Level: loglevel.Debug}}); err != nil {
		t.Fatal(err)
	}
	storetest.Wait(t, 30*time.Second, "the new checkout", func() bool {
		return checkout() == "the new checkout, with a timeout of 1500 ms\n" && printed.lines() > 0
	})
	if page := get(t, url+"/debug/signalbox"); !strings.Contains(page, "checkout-v2") || !strings.Contains(page, "shop.payments") {
		t.Errorf("the debug page is %s", page)
	}
}
