package apptest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// sharedRuns is how many runs a shared node may have in flight. It is large, so
// that a test that holds requests does not delay other tests.
const sharedRuns = 4096

// shared are the nodes of this test process, by kind of database. The first
// test that needs a node starts it, and Main stops it.
var shared = map[string]*sharedNode{"sqlite": {}, "postgres": {}} //nolint:gochecknoglobals // that is their purpose

type sharedNode struct {
	once   sync.Once
	node   *Node
	remove func() error
	err    error
}

// Shared returns the node on SQLite or PostgreSQL that all tests of a package
// share. Each test creates its own accounts. The package's TestMain calls Main.
func Shared(t testing.TB, kind string) *Node {
	t.Helper()
	storetest.Need(t, kind)
	s := shared[kind]
	s.once.Do(func() { s.start(kind) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.node
}

func (s *sharedNode) start(kind string) {
	var database storetest.Database
	if database, s.remove, s.err = storetest.NewShared(kind); s.err == nil {
		s.node, s.err = start(context.Background(), database, Quick, func(s *settings.Settings) { s.RunsInFlight = sharedRuns })
	}
}

func (s *sharedNode) stop() (err error) {
	if s.node != nil {
		err = s.node.stop()
	}
	if s.remove != nil {
		err = errors.Join(err, s.remove())
	}
	return err
}

// Main runs the tests of a package and stops their shared nodes. It fails if a
// goroutine is left.
func Main(m *testing.M) { goleak.VerifyTestMain(tests{m}) }

type tests struct{ *testing.M }

// Run runs the tests and stops the shared nodes.
func (m tests) Run() int {
	code := m.M.Run()
	for _, each := range shared {
		if err := each.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the shared node:", err)
			code = 1
		}
	}
	return code
}
