package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/internal/filelock"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func TestTryLock_OneHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first, second := open(t, path), open(t, path)
	if err := filelock.TryLock(first); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryLock(second); !errors.Is(err, filelock.ErrLocked) {
		t.Fatalf("a second lock got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryLock(second); err != nil {
		t.Errorf("after the first holder closed its file: %v", err)
	}
}

func TestTryLock_ClosedFile(t *testing.T) {
	t.Parallel()
	file := open(t, filepath.Join(t.TempDir(), "lock"))
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryLock(file); err == nil || errors.Is(err, filelock.ErrLocked) {
		t.Errorf("got %v, want an error that names the file", err)
	}
}
