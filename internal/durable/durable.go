// Package durable writes files so that a crash or a power cut leaves either the old
// content or the new, never a part.
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Replace writes a file that only this user can read, in place of the file at path if
// there is one. pattern names the temporary file beside it, as in os.CreateTemp.
func Replace(path, pattern string, content []byte) error {
	temporary, err := Create(filepath.Dir(path), pattern, func(file *os.File) error {
		_, err := file.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	defer os.Remove(temporary) // does nothing after the rename
	return Rename(temporary, path)
}

// Create makes a file that only this user can read, and returns its name. It removes the
// file if fill fails.
func Create(folder, pattern string, fill func(*os.File) error) (name string, err error) {
	file, err := os.CreateTemp(folder, pattern)
	if err != nil {
		return "", err
	}
	if err := errors.Join(fill(file), file.Sync(), file.Close()); err != nil {
		os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}

// Rename renames a file within its folder.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(to))
}

// SyncFolder makes the names in a folder as durable as the content of its files. It does
// nothing where folders cannot be synced: on Windows, and on some file systems.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}
