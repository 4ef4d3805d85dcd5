package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/filelock"
)

const (
	temporaryLocks = ".signalbox-backup-*.lock"
	temporaryFiles = ".signalbox-backup-*.tmp*" // with the journals that SQLite makes
	// abandonedAfter is how long a temporary file without a lock file must be untouched to count as abandoned. An older
	// version made no lock files.
	abandonedAfter = time.Hour
)

// temporary is the file that a backup is written to before it gets its name. A lock file beside it, locked as long as the
// process lives, tells other backups that it is in use.
type temporary struct {
	name string
	lock *os.File
}

// newTemporary makes an empty file in a folder.
func newTemporary(folder string) (*temporary, error) {
	lock, err := newLock(folder)
	if err != nil {
		return nil, err
	}
	t := &temporary{name: fileOfLock(lock.Name()), lock: lock}
	file, err := os.OpenFile(t.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

// newLock makes and locks a lock file. Before it is locked, another backup may take it for abandoned and remove it; then
// newLock makes another one.
func newLock(folder string) (*os.File, error) {
	const attempts = 10
	for range attempts {
		lock, err := os.CreateTemp(folder, temporaryLocks)
		if err != nil {
			return nil, err
		}
		if err := filelock.TryLock(lock); err == nil && isNamed(lock) {
			return lock, nil
		} else if err != nil && !errors.Is(err, filelock.ErrLocked) {
			return nil, errors.Join(err, lock.Close(), os.Remove(lock.Name()))
		}
		_ = lock.Close() // the other backup removes it
	}
	return nil, errors.New("other backups remove the lock file of this one")
}

// isNamed reports whether a file still has its name.
func isNamed(file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(file.Name())
	return err == nil && os.SameFile(opened, named)
}

// remove removes what is left of the file, and its lock.
func (t *temporary) remove() {
	removeDatabase(t.name) // does nothing after a success: the backup was renamed
	_ = t.lock.Close()     // Windows removes no open file
	_ = os.Remove(t.lock.Name())
}

// removeAbandoned removes the temporary files of backups that were killed, not those of running backups. A file that
// cannot be removed does not prevent a backup.
func removeAbandoned(folder string) {
	locks, _ := namesIn(folder, temporaryLocks)
	for _, name := range locks {
		removeUnlocked(filepath.Join(folder, name))
	}
	files, _ := namesIn(folder, temporaryFiles)
	for _, name := range files {
		removeUntouched(filepath.Join(folder, name))
	}
}

// removeUnlocked removes a lock file that no process has locked, and the file it belongs to.
func removeUnlocked(path string) {
	lock, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	if filelock.TryLock(lock) == nil {
		removeDatabase(fileOfLock(path))
		defer os.Remove(path)
	}
	_ = lock.Close()
}

// removeDatabase removes a SQLite file and the files that SQLite makes beside it.
func removeDatabase(file string) {
	for _, suffix := range databaseFiles() {
		_ = os.Remove(file + suffix)
	}
}

// removeUntouched removes a temporary file without a lock file that was not written to lately.
func removeUntouched(path string) {
	if _, err := os.Lstat(lockOfFile(path)); err == nil {
		return
	}
	if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > abandonedAfter {
		_ = os.Remove(path)
	}
}

func fileOfLock(lock string) string { return strings.TrimSuffix(lock, ".lock") + ".tmp" }
func lockOfFile(file string) string { return file[:strings.LastIndex(file, ".tmp")] + ".lock" }
