package filelock

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lockedByte is the offset of the locked byte, far behind the text of any file:
// others cannot read a locked byte on Windows, but must be able to read the text.
const lockedByte = 0x7fffffff

// TryLock locks file exclusively, or returns ErrLocked at once.
func TryLock(file *os.File) error {
	at := windows.Overlapped{OffsetHigh: lockedByte}
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrLocked
	case err != nil:
		return &fs.PathError{Op: "lock", Path: file.Name(), Err: err}
	}
	return nil
}
