// Package apptest starts whole Signalbox nodes for tests, on real databases
// and real sockets.
package apptest

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"path/filepath"
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
	// URL is its base URL, without a slash at the end.
	URL string
	// Key is the OWNER key of the first account.
	Key string
	// Settings are what it was started with.
	Settings settings.Settings
}

// OwnerKey is the key that every node of a test is bootstrapped with.
const OwnerKey = "sk_api_test-owner-key-of-the-first-account-00000000"

// Start runs a node on a database until the end of the test. Several nodes
// may run on one PostgreSQL database. change may alter the settings.
func Start(t testing.TB, database storetest.Database, change ...func(*settings.Settings)) *Node {
	t.Helper()
	s := Settings(database)
	for _, each := range change {
		each(&s)
	}
	instance, err := app.New(t.Context(), s, slog.New(slog.DiscardHandler), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := instance.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	node := &Node{App: instance, URL: "http://" + instance.Address(), Key: s.BootstrapKey, Settings: s}
	t.Cleanup(func() {
		if err := instance.Stop(context.Background()); err != nil { //nolint:usetesting // the test's context has ended
			t.Error(err)
		}
	})
	return node
}

// Settings are those of a node on a free loopback port.
func Settings(database storetest.Database) settings.Settings {
	return settings.Settings{
		Listen: "127.0.0.1:0", Data: database.Dir, Database: database.URL,
		Keyring: "", BootstrapKey: OwnerKey, BootstrapPlan: "pro", Name: "test",
		Retention: 30 * 24 * time.Hour, ShutdownTimeout: 5 * time.Second, LogLevel: "info", LogFormat: "json",
		RunsInFlight: 64, ChangesRetention: 365 * 24 * time.Hour, AllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
	}
}

// Account makes another account on the given plans and gives its OWNER key.
func (n *Node) Account(t testing.TB, name, plan string) string {
	t.Helper()
	_, key := n.operate(t, func(o *app.Operator) (accounts.Account, accounts.Key, error) {
		return o.CreateAccount(t.Context(), name, plan)
	})
	return key.Plaintext
}

func (n *Node) operate(t testing.TB, do func(*app.Operator) (accounts.Account, accounts.Key, error)) (accounts.Account, accounts.Key) {
	t.Helper()
	operator, err := app.OpenOperator(t.Context(), n.Settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := operator.Close(); err != nil {
			t.Error(err)
		}
	}()
	account, key, err := do(operator)
	if err != nil {
		t.Fatal(err)
	}
	return account, key
}

// KeyringFile is where a database's nodes keep their key ring.
func KeyringFile(database storetest.Database) string { return filepath.Join(database.Dir, "keyring") }
