//go:build unix

package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// frozenNodeVariable makes the test program play a node that a test freezes. It
// holds the database's URL and the account, with a space between.
const frozenNodeVariable = "SIGNALBOX_TEST_FROZEN_NODE"

// nodeWriters is how many transactions a node has under way.
const nodeWriters = 4

func isFrozenNodeProcess() bool { return os.Getenv(frozenNodeVariable) != "" }

// frozenNodeProcess writes one change with each writer. The first one that
// holds the account's lock waits inside its transaction for a line of input.
func frozenNodeProcess() int {
	url, account, _ := strings.Cut(os.Getenv(frozenNodeVariable), " ")
	ctx := context.Background()
	db, err := store.Open(ctx, store.Options{Database: url})
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	input := bufio.NewScanner(os.Stdin)
	inside := sync.OnceFunc(func() {
		fmt.Fprintln(os.Stdout, "inside")
		input.Scan()
	})
	var writers sync.WaitGroup
	for i := range nodeWriters {
		writers.Go(func() {
			err := db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error {
				inside()
				return tx.RecordChanges(ctx, account, changes.Change{Kind: "flag", Key: fmt.Sprint("frozen-", i)})
			})
			if err != nil {
				fmt.Fprintln(os.Stdout, err)
			}
		})
	}
	writers.Wait()
	_ = db.Close()
	fmt.Fprintln(os.Stdout, "done")
	return 0
}

// The goals: how long after a node stops, or is cut off, healthy nodes write again.
const (
	afterFreeze    = 2 * time.Second
	afterPartition = 5 * time.Second
)

// fastest repeats a measurement up to three times, until it meets the goal. The test measures the
// limits of the server, and a busy machine adds to them.
func fastest(t *testing.T, goal time.Duration, measure func(t *testing.T) time.Duration) {
	t.Helper()
	var took []time.Duration
	for len(took) < 3 && !t.Failed() {
		took = append(took, measure(t))
		if took[len(took)-1] <= goal {
			return
		}
	}
	t.Errorf("healthy nodes wrote after %s, each time later than %s", took, goal)
}

// frozenNode is a process whose writers are stopped inside their transactions.
type frozenNode struct {
	*exec.Cmd
	input io.Writer
	lines *bufio.Scanner
}

// startFrozen starts a node, and stops it once it holds the account's lock.
func startFrozen(t *testing.T, url, account string) *frozenNode {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	node := &frozenNode{Cmd: exec.CommandContext(t.Context(), program)}
	node.Env = append(os.Environ(), frozenNodeVariable+"="+url+" "+account)
	if node.input, err = node.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	node.lines = bufio.NewScanner(output)
	node.says(t, "inside")
	node.signal(t, syscall.SIGSTOP)
	return node
}

func (n *frozenNode) says(t *testing.T, want string) {
	t.Helper()
	if !n.lines.Scan() || n.lines.Text() != want {
		t.Errorf("the node says %q, not %q", n.lines.Text(), want)
	}
}

func (n *frozenNode) signal(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := n.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// goOn lets the node's writers finish.
func (n *frozenNode) goOn(t *testing.T) {
	t.Helper()
	n.signal(t, syscall.SIGCONT)
	fmt.Fprintln(n.input)
	n.says(t, "done")
	if err := n.Wait(); err != nil {
		t.Error(err)
	}
}

// A node that stops inside a transaction holds the account's lock, and its other transactions wait
// in line for the lock. Healthy nodes must write again soon, and when the stopped node goes on, its
// writers must learn what became of their transactions.
func TestPostgres_FrozenNodeDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	nodes := [2]*store.DB{database.Open(t), database.Open(t)}
	fastest(t, afterFreeze, func(t *testing.T) time.Duration {
		t.Helper()
		account := storetest.NewTenant(t, nodes[0], "pro").Account.ID
		frozen := startFrozen(t, database.URL, account)
		stopped := time.Now()
		storetest.Race(nodes[:], 2*nodeWriters, func(node *store.DB, i int) error {
			recordSome(t, node, account, fmt.Sprint("healthy-", i), 1, false)
			return nil
		})
		took := time.Since(stopped)
		frozen.goOn(t)
		if history := storetest.History(t, nodes[0], account, "flag"); len(history) != 3*nodeWriters {
			t.Errorf("there are %d changes of %d writers", len(history), 3*nodeWriters)
		}
		return took
	})
}

func TestPostgres_PartitionedNodeDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	healthy := database.Open(t)
	fastest(t, afterPartition, func(t *testing.T) time.Duration {
		t.Helper()
		account := storetest.NewTenant(t, healthy, "pro").Account.ID
		through, proxy := database.ThroughProxy(t)
		partitioned := through.Open(t, func(options *store.Options) { options.Limits = store.Limits{Write: 1500 * time.Millisecond} })
		var inside sync.WaitGroup
		inside.Add(1)
		entered := sync.OnceFunc(inside.Done)
		lost := make(chan error, nodeWriters)
		cut := make(chan struct{})
		for range nodeWriters {
			go func() {
				lost <- partitioned.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
					entered()
					<-cut
					return insert(account, "lost")(ctx, tx)
				})
			}()
		}
		inside.Wait()
		proxy.Silence() // also for writers that connect after it
		close(cut)
		began := time.Now()
		if err := healthy.Write(t.Context(), account, insert(account, "healthy")); err != nil {
			t.Error(err)
		}
		took := time.Since(began)
		for range nodeWriters {
			if err := <-lost; !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.AlreadyExists) {
				t.Errorf("a writer behind the partition got %v", err)
			}
		}
		return took
	})
}
