package sealed

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/internal/durable"
	"github.com/signalbox/signalbox/internal/filelock"
)

const (
	// maxFileSize fits thousands of keys, and keeps a large file named by mistake out of memory.
	maxFileSize = 1 << 20

	// A rotation takes milliseconds: a process that holds the lock for half a minute is stuck.
	lockTries = 3000
	lockPause = 10 * time.Millisecond

	// temporary is the pattern of files that are being written.
	temporary = ".keyring-*.tmp"
)

func readFile(path string) (string, error) {
	file, err := openChecked(path, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return readAll(file)
}

func readAll(file *os.File) (string, error) {
	text, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err != nil {
		return "", fmt.Errorf("cannot read the key ring file: %w", err)
	}
	if len(text) > maxFileSize {
		return "", fmt.Errorf("%s is larger than %d bytes, it cannot be a key ring file", file.Name(), maxFileSize)
	}
	return string(text), nil
}

// openChecked opens a ring file after checking that it is a regular file that only its owner can read.
func openChecked(path string, flag int) (*os.File, error) {
	info, err := os.Stat(path) // first, because opening a named pipe would block
	if err != nil {
		return nil, fmt.Errorf("cannot open the key ring file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the key ring %s is not a regular file: name the file that holds the keys", path)
	}
	file, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open the key ring file: %w", err)
	}
	if err := checkPrivate(file); err != nil {
		_ = file.Close() // the first error is the one to tell
		return nil, err
	}
	return file, nil
}

// checkPrivate checks the mode of the open file, not of the path, which may lead elsewhere by now.
func checkPrivate(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("cannot look at the key ring file: %w", err)
	}
	if mode := info.Mode().Perm(); hasModes && mode&^0o600 != 0 {
		return fmt.Errorf("the key ring file %s has mode %04o, other users could get at the keys: run chmod 600 %q"+
			" (for a mounted secret, mount it with mode 0400)", file.Name(), mode, file.Name())
	}
	return nil
}

// createFile creates a file, or returns fs.ErrExist: unlike a rename, a link never replaces a file.
func createFile(path, text string) error {
	temp, err := durable.Create(filepath.Dir(path), temporary, func(file *os.File) error {
		_, err := file.WriteString(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	defer os.Remove(temp)
	if err := os.Link(temp, path); err != nil {
		return fmt.Errorf("put it in place: %w", err)
	}
	return durable.SyncFolder(filepath.Dir(path))
}

// lockedFile is a ring file that no other process can change until it is closed.
type lockedFile struct {
	*os.File
	path string // the file itself, with symbolic links followed
}

// lockFile opens a ring file and takes its lock.
func lockFile(path string, tries int) (*lockedFile, error) {
	for range tries {
		file, err := tryLockFile(path)
		if !errors.Is(err, filelock.ErrLocked) {
			return file, err
		}
		time.Sleep(lockPause)
	}
	return nil, fmt.Errorf("gave up on the key ring file %s after %s: %w", path, time.Duration(tries)*lockPause, filelock.ErrLocked)
}

func tryLockFile(path string) (*lockedFile, error) {
	// A rename over a symbolic link would replace the link and leave its target.
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("cannot find the key ring file: %w", err)
	}
	file, err := openChecked(target, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if err := lockCurrent(file, target); err != nil {
		_ = file.Close() // the first error is the one to tell
		return nil, err
	}
	return &lockedFile{File: file, path: target}, nil
}

// lockCurrent locks an open file and checks that it is still the file at path: every rotation replaces the file.
func lockCurrent(file *os.File, path string) error {
	if err := tryLock(file); err != nil {
		return err
	}
	held, heldErr := file.Stat()
	current, err := os.Stat(path)
	if err = errors.Join(heldErr, err); err != nil {
		return fmt.Errorf("cannot look at the key ring file: %w", err)
	}
	if !os.SameFile(held, current) {
		return filelock.ErrLocked
	}
	return nil
}

// replace replaces the locked file by a new one with this text.
func (f *lockedFile) replace(text string) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("cannot look at the key ring file: %w", err)
	}
	temp, err := durable.Create(filepath.Dir(f.path), temporary, func(file *os.File) error {
		// The service may run as another user than the rotation.
		if err := errors.Join(copyOwner(file, info), file.Chmod(info.Mode().Perm())); err != nil {
			return fmt.Errorf("keep the owner and the mode of the key ring file: %w", err)
		}
		_, err := file.WriteString(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot change the key ring file %s: %w", f.path, err)
	}
	if err := os.Rename(temp, f.path); err != nil {
		os.Remove(temp)
		return fmt.Errorf("cannot put the changed key ring file in place: %w", err)
	}
	if err := durable.SyncFolder(filepath.Dir(f.path)); err != nil {
		return fmt.Errorf("the key ring file %s is changed, but a power cut could undo it: %w", f.path, err)
	}
	return nil
}
