package store_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// soon is how long something that happens at once may take on a busy machine.
const soon = 30 * time.Second

func TestMain(m *testing.M) {
	if isFullDiskProcess() {
		os.Exit(fullDiskProcess())
	}
	if isRestoreProcess() {
		os.Exit(restoreProcess())
	}
	if isFrozenNodeProcess() {
		os.Exit(frozenNodeProcess())
	}
	goleak.VerifyTestMain(m)
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, storetest.Run)
}

// A method that the suite does not call would be tested on no database.
func TestStore_SuiteCallsEveryMethod(t *testing.T) {
	t.Parallel()
	tests := sources(t, "storetest/*.go") + sources(t, "*_test.go")
	for _, kind := range []reflect.Type{reflect.TypeFor[*store.Tx](), reflect.TypeFor[*store.DB](), reflect.TypeFor[store.History]()} {
		t.Run(kind.String(), func(t *testing.T) {
			for method := range kind.Methods() {
				if exportedForTests := strings.Contains(sources(t, "export_test.go"), ") "+method.Name+"("); exportedForTests {
					continue
				}
				if !strings.Contains(tests, "."+method.Name+"(") && !strings.Contains(tests, "(*store.ReadTx)."+method.Name+",") {
					t.Errorf("no test calls %s of %s", method.Name, kind)
				}
			}
		})
	}
}

func sources(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	var text strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(content)
	}
	return text.String()
}

// insert makes an environment, as the smallest write there is.
func insert(account, key string) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		return tx.InsertEnvironments(ctx, environments.Environment{Account: account, Key: key, Name: key})
	}
}

// holds reports whether an environment exists.
func holds(t *testing.T, db *store.DB, account, key string) bool {
	t.Helper()
	return count(t, db, account, key) == 1
}

// count returns how many of the environments exist.
func count(t *testing.T, db *store.DB, account string, keys ...string) int {
	t.Helper()
	found := 0
	err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
		known, err := tx.ManagedEnvironments(ctx, account)
		for _, key := range keys {
			if _, exists := known[key]; exists {
				found++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
