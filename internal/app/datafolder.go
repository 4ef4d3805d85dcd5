package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/filelock"
	"github.com/signalbox/signalbox/internal/store"
)

// Names of files in the data folder.
const (
	databaseFile = "signalbox.db"
	keyringFile  = "keyring"
	lockFile     = "signalbox.lock"
)

// makeDataFolder creates the folder, for this user alone: it contains secrets.
func makeDataFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	return nil
}

// openDataFolder creates the data folder of a SQLite server and locks it, so that
// no second server uses it. Two servers would claim each other's runs and answer
// from stale caches. Commands that use the store beside a server do not take the
// lock. openDataFolder also completes an interrupted restore. Closing the returned
// file releases the lock.
func openDataFolder(folder string) (io.Closer, error) {
	if err := makeDataFolder(folder); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	err = filelock.TryLock(file)
	if errors.Is(err, filelock.ErrLocked) {
		err = fmt.Errorf("the data folder %s is in use by another Signalbox server%s: stop that one, or give this one a folder of its own with --data", folder, lockHolder(file))
	}
	if err == nil {
		err = writeLockHolder(file)
	}
	if err == nil {
		err = store.FinishRestore(filepath.Join(folder, databaseFile))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// writeLockHolder writes this process's id into the lock file, for error messages.
func writeLockHolder(file *os.File) error {
	err := file.Truncate(0)
	if err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return fmt.Errorf("locking the data folder: %w", err)
	}
	return nil
}

// lockHolder names the process that holds the lock, if the lock file has its id.
func lockHolder(file *os.File) string {
	text, err := io.ReadAll(io.LimitReader(file, 32))
	pid := strings.TrimSpace(string(text))
	if err != nil || pid == "" {
		return ""
	}
	return " (process " + pid + ")"
}
