package lastknown_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/lastknown"
	"github.com/signalbox/signalbox/internal/sealed"
)

func newFile(t *testing.T) lastknown.File {
	t.Helper()
	ring, err := sealed.OpenOrCreate(filepath.Join(t.TempDir(), "keyring"))
	if err != nil {
		t.Fatal(err)
	}
	return lastknown.File{Path: filepath.Join(t.TempDir(), "new", "kept"), Ring: ring, Database: "db", MaxBytes: 1 << 20}
}

// TestKeeper_SavesWhatIsNew: the file is written when there is new state and it can be collected,
// at most once in every interval, and once more at the end.
func TestKeeper_SavesWhatIsNew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mark, collected atomic.Int64
		var away atomic.Bool
		mark.Store(1)
		k := &lastknown.Keeper{File: newFile(t), Interval: 3 * time.Second, Log: slog.New(slog.DiscardHandler),
			Mark: func() uint64 { return uint64(mark.Load()) }, //nolint:gosec // it is small
			Collect: func(context.Context) (any, error) {
				if away.Load() {
					return nil, errors.New("away")
				}
				collected.Add(1)
				return mark.Load(), nil
			}}
		saved := func(when string, times, content int64) {
			t.Helper()
			var got int64
			if err := k.File.Load(&got); err != nil || got != content || collected.Load() != times {
				t.Errorf("%s: saved %d times, has %d, %v; want %d and %d", when, collected.Load(), got, err, times, content)
			}
		}
		k.Start(t.Context())
		<-time.After(time.Minute)
		saved("with nothing new", 1, 1)
		for range 10_000 {
			mark.Add(1)
			<-time.After(time.Millisecond)
		}
		if times := collected.Load(); times > 5 {
			t.Errorf("saved %d times in 10 s", times)
		}
		<-time.After(time.Minute)
		times := collected.Load()
		away.Store(true)
		mark.Add(1)
		<-time.After(time.Minute)
		saved("while the database is away", times, 10_001)
		away.Store(false)
		k.Stop(t.Context())
		saved("in the end", times+1, 10_002)
	})
}

// TestFile_OpensForItsDatabase: with another database, another ring or after damage
// nothing is read.
func TestFile_OpensForItsDatabase(t *testing.T) {
	t.Parallel()
	file, other := newFile(t), newFile(t)
	var got string
	if err := file.Load(&got); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := file.Save("content"); err != nil {
		t.Fatal(err)
	}
	if err := file.Load(&got); err != nil || got != "content" {
		t.Errorf("got %q, %v", got, err)
	}
	if info, err := os.Stat(file.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	elsewhere, strange := file, file
	elsewhere.Database, strange.Ring = "other", other.Ring
	for name, each := range map[string]lastknown.File{"another database": elsewhere, "another ring": strange} {
		t.Run(name, func(t *testing.T) {
			if err := each.Load(&got); err == nil {
				t.Errorf("%s opens it", name)
			}
		})
	}
}

// TestFile_Incompressible: as much as internal/app collects can be saved although it is
// random, with letters that JSON escapes.
func TestFile_Incompressible(t *testing.T) {
	t.Parallel()
	text := make([]byte, 920<<10)
	_, _ = rand.Read(text) // it never fails
	for i, each := range text {
		text[i] = ' ' + each%95
	}
	file, want, got := newFile(t), string(text), ""
	if err := file.Save(want); err != nil {
		t.Fatal(err)
	}
	if err := file.Load(&got); err != nil || got != want {
		t.Errorf("it is not what was saved, %v", err)
	}
}

// TestKeeper_RemovesLeftovers: the temporary file of a killed save is removed, and a file that
// another node may be writing stays.
func TestKeeper_RemovesLeftovers(t *testing.T) {
	t.Parallel()
	file := newFile(t)
	if err := file.Save(1); err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(filepath.Dir(file.Path), ".last-known-1.tmp"), filepath.Join(filepath.Dir(file.Path), ".last-known-2.tmp")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	k := &lastknown.Keeper{File: file, Interval: time.Hour, Mark: func() uint64 { return 0 }, Log: slog.New(slog.DiscardHandler)}
	k.Start(t.Context())
	k.Stop(t.Context())
	if _, err := os.Stat(old); err == nil {
		t.Error("the old one is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("the young one is gone")
	}
}
