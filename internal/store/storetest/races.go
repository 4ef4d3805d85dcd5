package storetest

import (
	"slices"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
)

// Nodes returns services that share a database: the given one and, if several
// processes may write, another one.
func Nodes[Node any](t testing.TB, database Database, first Node, another func(*store.DB) Node) []Node {
	t.Helper()
	if database.Kind == "sqlite" {
		return []Node{first}
	}
	return []Node{first, another(database.Open(t))}
}

// Race starts racers at the same time, spread over nodes, and returns the error of each.
func Race[Node any](nodes []Node, racers int, run func(node Node, racer int) error) []error {
	start, errs := make(chan struct{}), make([]error, racers)
	var running sync.WaitGroup
	for i := range racers {
		running.Go(func() {
			<-start
			errs[i] = run(nodes[i%len(nodes)], i)
		})
	}
	close(start)
	running.Wait()
	return errs
}

// Won counts the racers without an error, and checks the error code of the others.
func Won(t testing.TB, errs []error, code fault.Code) (won int) {
	t.Helper()
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !fault.Is(err, code):
			t.Errorf("got %v, want the refusal %s", err, code)
		}
	}
	return won
}

// History returns an account's changes of a kind, oldest first.
func History(t testing.TB, db *store.DB, account, kind string) []changes.Change {
	t.Helper()
	all, err := db.After(t.Context(), account, 0, 10_000)
	must(t, err)
	return slices.DeleteFunc(all, func(change changes.Change) bool { return change.Kind != kind })
}
