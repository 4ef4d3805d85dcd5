package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
)

// cache keeps the last known contents in a file, so that a service can start while the server is away.
type cache struct {
	path     string
	problems *problems
	changed  bell // rings when the contents have changed
	pause    time.Duration
	create   func(dir string) (*os.File, error)
}

// newCache returns nil when the cache is switched off, or when there is no directory for it.
func newCache(s settings, problems *problems) *cache {
	if s.noCache {
		return nil
	}
	dir := s.cacheDir
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			problems.warn("cache", "There is no cache directory, so the service cannot start with its last values while the server is away. "+
				"Set one with WithCacheDir, or none with WithoutCache.", "error", err)
			return nil
		}
		dir = filepath.Join(user, "signalbox")
	}
	return &cache{path: filepath.Join(dir, s.cacheName()), problems: problems, changed: newBell(), pause: s.timing.save, create: s.createFile}
}

// cacheName returns a file name for one account and environment: a key belongs to one account.
func (s settings) cacheName() string {
	sum := sha256.Sum256([]byte(s.url + "\n" + s.key + "\n" + s.environment))
	return hex.EncodeToString(sum[:12]) + ".json"
}

// createTemp creates a file that only this user can read.
func createTemp(dir string) (*os.File, error) { return os.CreateTemp(dir, ".signalbox-*") }

// run writes the newest snapshot after each change, with a pause between two writes.
func (c *cache) run(ctx context.Context, newest func() signalbox.Snapshot) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.changed:
		}
		c.save(newest())
		if sleep(ctx, c.pause) != nil {
			return
		}
	}
}

// finish writes the changes that run has not written yet.
func (c *cache) finish(newest func() signalbox.Snapshot) {
	select {
	case <-c.changed:
		c.save(newest())
	default:
	}
}

func (c *cache) save(snapshot signalbox.Snapshot) {
	if err := c.write(snapshot); err != nil {
		c.problems.warn("cache", "Keeping the last known values failed; the service would start with older ones while the server is away.", "error", err)
	}
}

// write replaces the file as a whole: a reader finds the old or the new snapshot.
func (c *cache) write(snapshot signalbox.Snapshot) error {
	text, err := json.Marshal(snapshot)
	if err != nil {
		return fmt.Errorf("encoding the snapshot: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	file, err := c.create(filepath.Dir(c.path))
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), c.path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

// read returns the cached snapshot and when it was written; false when there is none.
func (c *cache) read() (signalbox.Snapshot, time.Time, bool) {
	snapshot, at, err := readSnapshot(c.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.problems.warn("cached", "Reading the last known values failed; the service starts without them.", "file", c.path, "error", err)
	}
	return snapshot, at, err == nil
}

// readSnapshot reads a snapshot from a file.
func readSnapshot(path string) (signalbox.Snapshot, time.Time, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return signalbox.Snapshot{}, time.Time{}, err
	}
	var snapshot signalbox.Snapshot
	if err := json.Unmarshal(text, &snapshot); err != nil {
		return signalbox.Snapshot{}, time.Time{}, fmt.Errorf("%s is not a snapshot: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return signalbox.Snapshot{}, time.Time{}, err
	}
	return snapshot, info.ModTime(), nil
}
