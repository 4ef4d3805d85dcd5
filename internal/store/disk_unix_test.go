//go:build unix

package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
)

// fullDiskVariable makes the test program play a server whose disk fills up.
const fullDiskVariable = "SIGNALBOX_TEST_FULL_DISK"

// A limit on file sizes makes the operating system refuse a write, so that the commit of a group
// fails. No setting of SQLite can do that. The limit applies to a whole process, so the test starts
// another one.
func TestSQLite_FailedGroupCommit(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), fullDiskVariable+"="+t.TempDir())
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func isFullDiskProcess() bool { return os.Getenv(fullDiskVariable) != "" }

func fullDiskProcess() int {
	if err := fillDisk(os.Getenv(fullDiskVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func fillDisk(folder string) error {
	signal.Ignore(syscall.SIGXFSZ)
	ctx := context.Background()
	file := filepath.Join(folder, "signalbox.db")
	db, err := store.Open(ctx, store.Options{File: file, Limits: store.Limits{Group: time.Minute}}) // all share one commit
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	if err := db.Write(ctx, "", func(ctx context.Context, tx *store.Tx) error {
		return tx.InsertAccount(ctx, accounts.Account{ID: "a", Key: "a"})
	}); err != nil {
		return err
	}
	log, err := os.Stat(file + "-wal")
	if err != nil {
		return err
	}
	if err := limitFiles(uint64(log.Size()) + 8192); err != nil {
		return err
	}
	if err := writeGroup(ctx, db, true); err != nil {
		return fmt.Errorf("with a full disk: %w", err)
	}
	if db.Writable() == nil {
		return errors.New("nothing tells that commits fail")
	}
	if err := limitFiles(1 << 30); err != nil {
		return err
	}
	if err := writeGroup(ctx, db, false); err != nil {
		return fmt.Errorf("with space again: %w", err)
	}
	return db.Writable()
}

func limitFiles(size uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = size
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

// writeGroup lets many writers share one commit, and checks that either all of them fail or none.
func writeGroup(ctx context.Context, db *store.DB, full bool) error {
	const writers = 20
	entered, leave := make(chan struct{}), make(chan struct{})
	var running sync.WaitGroup
	var errs [writers + 1]error
	running.Go(func() {
		errs[writers] = db.Write(ctx, "", func(context.Context, *store.Tx) error {
			close(entered)
			<-leave
			return nil
		})
	})
	<-entered
	keys := make([]string, writers)
	for i := range writers {
		keys[i] = fmt.Sprint(i, strings.Repeat("x", 4000))
		running.Go(func() {
			errs[i] = db.Write(ctx, "a", func(ctx context.Context, tx *store.Tx) error {
				return tx.InsertEnvironments(ctx, environments.Environment{Account: "a", Key: keys[i]})
			})
		})
	}
	for deadline := time.Now().Add(soon); db.Waiting() < writers; {
		if time.Now().After(deadline) {
			return errors.New("the writers do not wait")
		}
	}
	close(leave)
	running.Wait()
	for i, err := range errs {
		if (err == nil) == full || full && !fault.Is(err, fault.Unavailable) {
			return fmt.Errorf("writer %d got %w", i, err)
		}
	}
	return db.Read(ctx, func(ctx context.Context, tx *store.ReadTx) error {
		known, err := tx.ManagedEnvironments(ctx, "a")
		for _, key := range keys {
			if _, exists := known[key]; exists == full {
				return fmt.Errorf("one of the keys is there: %v", exists)
			}
		}
		return err
	})
}
