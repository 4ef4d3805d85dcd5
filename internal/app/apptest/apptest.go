// Package apptest starts whole Signalbox nodes for tests, on real databases
// and real sockets.
package apptest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// Node is a running Signalbox.
type Node struct {
	App *app.App
	// URL is the base URL, without a slash at the end.
	URL string
	// Key is the OWNER key of the first account.
	Key string
	// Settings are the settings that the node was started with.
	Settings settings.Settings
	// Database is the database of the node.
	Database storetest.Database
}

// OwnerKey is the bootstrap key of every node of a test.
const OwnerKey = "sk_api_test-owner-key-of-the-first-account-00000000"

// Start runs a node on a database until the end of the test. Several nodes may
// run on one PostgreSQL database. change may alter the settings. Tests without
// special needs use Shared.
func Start(t testing.TB, database storetest.Database, change ...func(*settings.Settings)) *Node {
	t.Helper()
	return StartWith(t, database, Quick, change...)
}

// StartWith is Start with the given options. They should include Quick.
func StartWith(t testing.TB, database storetest.Database, options func(*app.Options), change ...func(*settings.Settings)) *Node {
	t.Helper()
	node, err := start(t.Context(), database, options, change...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.stop(); err != nil {
			t.Error(err)
		}
	})
	return node
}

func start(ctx context.Context, database storetest.Database, options func(*app.Options), change ...func(*settings.Settings)) (*Node, error) {
	s := Settings(database)
	for _, each := range change {
		each(&s)
	}
	instance, err := app.New(ctx, s, slog.New(slog.DiscardHandler), io.Discard, options)
	if err != nil {
		return nil, err
	}
	if err := instance.Start(ctx); err != nil {
		return nil, err
	}
	return &Node{App: instance, URL: "http://" + instance.Address(), Key: s.BootstrapKey, Settings: s, Database: database}, nil
}

func (n *Node) stop() error { return n.App.Stop(context.Background()) }

// Quick sets the options of a fast node: short intervals and cheap hashing.
func Quick(o *app.Options) {
	o.Unsynced = true
	o.ResealInterval = 50 * time.Millisecond
	o.RefreshInterval = 50 * time.Millisecond
	o.ClockInterval = 50 * time.Millisecond
	o.KeepInterval = 50 * time.Millisecond
	o.KeptBytes = 1 << 20
	o.ConnectionInterval = 50 * time.Millisecond
	o.PasswordCost = accounts.PasswordCost{Memory: 64, Passes: 1}
}

// Settings returns the settings of a node on a free loopback port.
func Settings(database storetest.Database) settings.Settings {
	return settings.Settings{
		Listen: "127.0.0.1:0", Data: database.Dir, Database: database.URL,
		Keyring: "", BootstrapKey: OwnerKey, BootstrapPlan: "pro", Name: "test",
		Retention: 30 * 24 * time.Hour, ChangesRetention: 365 * 24 * time.Hour, RunsInFlight: 64, PendingLimit: 24 * time.Hour, AllowNetworks: loopback(),
		ShutdownTimeout: 5 * time.Second, LogLevel: "info", LogFormat: "json",
	}
}

// loopback returns the networks of the test servers, so that jobs may call them.
func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// created counts the accounts that tests have created.
var created atomic.Int64 //nolint:gochecknoglobals // all tests of a package share nodes

// Account creates another account on the given plans and returns its OWNER key.
// It adds a number to the name to make it unique.
func (n *Node) Account(t testing.TB, name, plan string) string {
	t.Helper()
	_, key, err := n.App.Operator().CreateAccount(t.Context(), fmt.Sprint(name, " ", created.Add(1)), plan)
	if err != nil {
		t.Fatal(err)
	}
	return key.Plaintext
}

// KeyringFile returns the path of the key ring for nodes of a database.
func KeyringFile(database storetest.Database) string { return filepath.Join(database.Dir, "keyring") }

// Still builds a node whose loops do not run, and serves it until the end of the
// test. Only the test and its requests change the database.
func Still(t testing.TB, database storetest.Database) *Node {
	t.Helper()
	s := Settings(database)
	instance, err := app.New(t.Context(), s, slog.New(slog.DiscardHandler), io.Discard, Quick)
	if err != nil {
		t.Fatal(err)
	}
	node := &Node{App: instance, Key: s.BootstrapKey, Settings: s, Database: database}
	server := httptest.NewServer(instance.Handler())
	node.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		if err := node.stop(); err != nil {
			t.Error(err)
		}
	})
	return node
}
