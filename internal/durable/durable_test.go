package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/internal/durable"
)

const pattern = ".durable-*.tmp"

func TestReplace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"first", "second"} {
		if err := durable.Replace(path, pattern, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("the file has %q (%v), want %q", got, err, content)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v (%v), want 0600", info.Mode(), err)
	}
	expectFiles(t, filepath.Dir(path), 1)
}

func TestReplace_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.Replace(path, pattern, nil); err == nil {
		t.Error("a folder was replaced by a file")
	}
	expectFiles(t, filepath.Dir(path), 1)
}

func TestCreate_FailedFill(t *testing.T) {
	t.Parallel()
	folder, broken := t.TempDir(), errors.New("broken")
	if _, err := durable.Create(folder, pattern, func(*os.File) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of fill", err)
	}
	expectFiles(t, folder, 0)
}

func TestMissingFolder(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	for name, err := range map[string]error{
		"Replace":    durable.Replace(filepath.Join(missing, "file"), pattern, nil),
		"Rename":     durable.Rename(filepath.Join(missing, "a"), filepath.Join(missing, "b")),
		"SyncFolder": durable.SyncFolder(missing),
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func expectFiles(t *testing.T, folder string, want int) {
	t.Helper()
	if found, err := os.ReadDir(folder); err != nil || len(found) != want {
		t.Errorf("the folder has %v (%v), want %d files", found, err, want)
	}
}
