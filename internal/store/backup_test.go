package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/filelock"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// A copy beside an open database is whole, has its commits, and is its owner's alone.
func TestBackup_BesideOpenDatabase(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	file := filepath.Join(database.Dir, "signalbox.db")
	db, err := store.Open(t.Context(), store.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	version, err := store.Backup(t.Context(), file, copied)
	if err != nil || version == 0 {
		t.Fatalf("version %d, %v", version, err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	if checked, err := store.CheckFile(t.Context(), copied); err != nil || checked != version {
		t.Errorf("version %d, %v", checked, err)
	}
	if _, err := store.Backup(t.Context(), file, copied); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a file was replaced: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(copied), ".*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestCheckFile_Refuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, content := range map[string]string{"text": "not a database at all, but long enough to have a header", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := store.CheckFile(t.Context(), path); err == nil {
				t.Errorf("%s is taken for a database", name)
			}
		})
	}
	if _, err := store.CheckFile(t.Context(), filepath.Join(folder, "none")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
	if _, err := store.Backup(t.Context(), filepath.Join(folder, "none"), filepath.Join(folder, "copy")); err == nil {
		t.Error("a copy of nothing was made")
	}
	if _, err := os.Stat(filepath.Join(folder, "copy")); !os.IsNotExist(err) {
		t.Errorf("it left a file: %v", err)
	}
}

// The next backup removes the files of killed backups, and keeps the files of running ones.
func TestBackup_RemovesAbandonedFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(storetest.New(t, "sqlite").Dir, "signalbox.db")
	folder := t.TempDir()
	touch := func(name string, age time.Duration) *os.File {
		made, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = made.Close() })
		if err := os.Chtimes(made.Name(), time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		return made
	}
	for i := range 20 { // their locks died with the processes
		touch(fmt.Sprintf(".signalbox-backup-%d.lock", i), 0)
		touch(fmt.Sprintf(".signalbox-backup-%d.tmp", i), 0)
		touch(fmt.Sprintf(".signalbox-backup-%d.tmp-journal", i), 0)
	}
	touch(".signalbox-backup-begun.lock", 0)        // killed before there was a file
	touch(".signalbox-backup-old.tmp", 2*time.Hour) // of a version without locks
	touch(".signalbox-backup-old.tmp-journal", 2*time.Hour)
	stays := []string{".signalbox-backup-running.lock", ".signalbox-backup-running.tmp", ".signalbox-backup-young.tmp", "copy.db", "other.tmp"}
	if err := filelock.TryLock(touch(stays[0], 2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	touch(stays[1], 2*time.Hour)
	touch(stays[2], time.Minute)
	touch(stays[4], 2*time.Hour)
	if _, err := store.Backup(t.Context(), file, filepath.Join(folder, "copy.db")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if diff := cmp.Diff(stays, left); diff != "" {
		t.Errorf("-want +left:\n%s", diff)
	}
}

// Backups that run at once into one folder do not take each other's files for abandoned.
func TestBackup_SeveralAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(storetest.New(t, "sqlite").Dir, "signalbox.db")
	folder := t.TempDir()
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			if _, err := store.Backup(t.Context(), file, filepath.Join(folder, fmt.Sprintf("copy-%d.db", i))); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if left, err := filepath.Glob(filepath.Join(folder, ".signalbox-*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
