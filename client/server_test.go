package signalbox_test

import (
	"iter"
	"os"
	"testing"

	"github.com/signalbox/signalbox/client/internal/servertest"
)

const ownerKey = servertest.OwnerKey

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }

// collect returns all items of a list.
func collect[T any](t *testing.T, all iter.Seq2[T, error]) []T {
	t.Helper()
	var items []T
	for item, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}
