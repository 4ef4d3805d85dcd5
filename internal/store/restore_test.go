package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

const (
	// restoreVariable makes the test program write to the database of a folder, or restore it, and kill itself.
	restoreVariable = "SIGNALBOX_TEST_RESTORE"
	acknowledged    = 50 // accounts that the old database has in its write-ahead log only
	backedUp        = 3  // accounts that the backup has
)

func isRestoreProcess() bool { return os.Getenv(restoreVariable) != "" }

// restoreProcess makes accounts until it kills itself, or restores a backup until after a step.
func restoreProcess() int {
	what, file, _ := strings.Cut(os.Getenv(restoreVariable), " ")
	if _, err := strconv.Atoi(what); err == nil {
		if err := makeAccounts(context.Background(), file, acknowledged, func() error { return killSelf() }); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return 1
	}
	err := store.RestoreWith(file, backupOf(file), keptOf(file), func(step string) {
		if strings.ReplaceAll(step, " ", "_") == what {
			_ = killSelf()
		}
	})
	fmt.Fprintln(os.Stderr, "it was not killed:", err)
	return 1
}

func killSelf() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	select {} // a signal may take a moment
}

func backupOf(file string) string { return filepath.Join(filepath.Dir(file), "backup") }
func keptOf(file string) string   { return file + ".before" }

// makeAccounts commits accounts one by one, and calls then before the database is closed.
func makeAccounts(ctx context.Context, file string, count int, then func() error) (err error) {
	db, err := store.Open(ctx, store.Options{File: file})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for i := range count {
		id := strconv.Itoa(i)
		if err := db.Write(ctx, "", func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertAccount(ctx, accounts.Account{ID: id, Key: id})
		}); err != nil {
			return err
		}
	}
	return then()
}

// killed runs the test program as restoreProcess and waits for its death.
func killed(t *testing.T, what, file string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), restoreVariable+"="+what+" "+file)
	output, err := command.CombinedOutput()
	if err == nil || command.ProcessState.ExitCode() == 1 || len(output) > 0 {
		t.Fatalf("it was not killed: %v\n%s", err, output)
	}
}

// abandonedDatabase returns the file of a database whose server was killed: what it acknowledged is in the write-ahead log
// only. A backup of another state is beside it.
func abandonedDatabase(t *testing.T) string {
	t.Helper()
	file := filepath.Join(storetest.New(t, "sqlite").Dir, "signalbox.db")
	other := filepath.Join(storetest.New(t, "sqlite").Dir, "signalbox.db")
	if err := makeAccounts(t.Context(), other, backedUp, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Backup(t.Context(), other, backupOf(file)); err != nil {
		t.Fatal(err)
	}
	killed(t, strconv.Itoa(acknowledged), file)
	if info, err := os.Stat(file + "-wal"); err != nil || info.Size() == 0 {
		t.Fatalf("the killed server left no write-ahead log: %v", err)
	}
	return file
}

func countAccounts(t *testing.T, file string) int {
	t.Helper()
	if _, err := store.CheckFile(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	heads, err := db.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(heads)
}

// restoreSteps returns the steps of a restore, in order.
func restoreSteps(t *testing.T) (steps []string) {
	t.Helper()
	file := abandonedDatabase(t)
	if err := store.RestoreWith(file, backupOf(file), keptOf(file), func(step string) { steps = append(steps, step) }); err != nil {
		t.Fatal(err)
	}
	return steps
}

const decided = "decided"

// A restore that is killed after any step leaves all of the old database, or all of the backup once it is finished.
func TestRestore_KilledAfterEachStep(t *testing.T) {
	t.Parallel()
	steps := restoreSteps(t)
	for i, step := range steps {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			file := abandonedDatabase(t)
			killed(t, strings.ReplaceAll(step, " ", "_"), file)
			isDecided := i >= slices.Index(steps, decided)
			if got := store.RestoreInterrupted(file); got != isDecided {
				t.Errorf("interrupted is %v", got)
			}
			for _, again := range steps[slices.Index(steps, decided):] {
				finishUntil(t, file, again)
			}
			checkRestored(t, file, isDecided)
		})
	}
}

// finishUntil completes an interrupted restore and is itself interrupted after a step.
func finishUntil(t *testing.T, file, step string) {
	t.Helper()
	interrupted := errors.New("interrupted")
	defer func() {
		if cause := recover(); cause != nil && cause != any(interrupted) {
			panic(cause)
		}
	}()
	err := store.FinishRestoreWith(file, func(done string) {
		if done == step {
			panic(interrupted)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// checkRestored finishes a restore and checks which database is there, and that nothing else is left.
func checkRestored(t *testing.T, file string, isRestored bool) {
	t.Helper()
	if err := store.FinishRestore(file); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".signalbox-*"))
	if err != nil || len(left) > 0 || store.RestoreInterrupted(file) {
		t.Errorf("%v is left, %v", left, err)
	}
	if !isRestored {
		if got := countAccounts(t, file); got != acknowledged {
			t.Errorf("the old database has %d of %d", got, acknowledged)
		}
		return
	}
	if got := countAccounts(t, file); got != backedUp {
		t.Errorf("the restored database has %d of %d", got, backedUp)
	}
	if got := countAccounts(t, keptOf(file)); got != acknowledged {
		t.Errorf("what was kept has %d of %d", got, acknowledged)
	}
}

// Operators restore when the database cannot be opened, so the damaged file is kept as it is.
func TestRestore_DamagedDatabase(t *testing.T) {
	t.Parallel()
	file := abandonedDatabase(t)
	if err := os.WriteFile(file, []byte("no database at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	killed(t, "moved_signalbox.db-wal", file)
	if err := store.FinishRestore(file); err != nil {
		t.Fatal(err)
	}
	if got := countAccounts(t, file); got != backedUp {
		t.Errorf("the restored database has %d of %d", got, backedUp)
	}
	if text, err := os.ReadFile(keptOf(file)); err != nil || string(text) != "no database at all" {
		t.Errorf("kept %q, %v", text, err)
	}
	if _, err := os.Stat(keptOf(file) + "-wal"); err != nil {
		t.Error(err)
	}
}

// A new file with the database's name must not replace the kept old database.
func TestRestore_KeptIsNeverReplaced(t *testing.T) {
	t.Parallel()
	file := abandonedDatabase(t)
	killed(t, "moved_signalbox.db", file)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.FinishRestore(file); err == nil || !strings.Contains(err.Error(), "move the former away") {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	checkRestored(t, file, true)
}
