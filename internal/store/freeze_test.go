//go:build unix

package store_test

import (
	"bufio"
	"context"
	"fmt"
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
			err := db.Write(ctx, account, func(tx *store.Tx) error {
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

// A node that stops inside a transaction holds the account's lock, and others of
// its transactions stand in the queue for it. Healthy nodes must write again
// soon, and the node's own writers must hear the truth when it goes on.
func TestPostgres_FrozenNodeDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	nodes := [2]*store.DB{database.Open(t), database.Open(t)}
	account := storetest.NewTenant(t, nodes[0], "pro").Account.ID
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), frozenNodeVariable+"="+database.URL+" "+account)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	if !lines.Scan() || lines.Text() != "inside" {
		t.Fatalf("the node says %q", lines.Text())
	}
	if err := command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	storetest.Race(nodes[:], 2*nodeWriters, func(node *store.DB, i int) error {
		recordSome(t, node, account, fmt.Sprint("healthy-", i), 1, false)
		return nil
	})
	if took := time.Since(stopped); took > 5*time.Second { // about 0.7 to 1.5 s on a machine that is not busy
		t.Errorf("healthy nodes wrote after %s", took)
	}
	if err := command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(input)
	if !lines.Scan() || lines.Text() != "done" {
		t.Errorf("the node says %q", lines.Text())
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	if history := storetest.History(t, nodes[0], account, "flag"); len(history) != 3*nodeWriters {
		t.Errorf("there are %d changes of %d writers", len(history), 3*nodeWriters)
	}
}

func TestPostgres_PartitionedNodeDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	healthy := database.Open(t)
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
			lost <- partitioned.Write(t.Context(), account, func(tx *store.Tx) error {
				entered()
				<-cut
				return insert(t, account, "lost")(tx)
			})
		}()
	}
	inside.Wait()
	proxy.Stall()
	close(cut)
	began := time.Now()
	if err := healthy.Write(t.Context(), account, insert(t, account, "healthy")); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the healthy node wrote after %s", took)
	}
	for range nodeWriters {
		if err := <-lost; !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.AlreadyExists) {
			t.Errorf("a writer behind the partition got %v", err)
		}
	}
}
