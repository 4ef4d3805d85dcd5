//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sealed

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/signalbox/signalbox/internal/filelock"
)

// hasModes is true: on this system permission bits tell who can read a file.
const hasModes = true

// tryLock takes the lock of a file until it is closed, or returns filelock.ErrLocked.
func tryLock(file *os.File) error { return filelock.TryLock(file) }

// copyOwner gives file the owner of like. The group of a private file does not matter.
func copyOwner(file *os.File, like fs.FileInfo) error {
	own, err := file.Stat()
	if err != nil {
		return err
	}
	want, have := like.Sys().(*syscall.Stat_t), own.Sys().(*syscall.Stat_t)
	if want.Uid == have.Uid {
		return nil
	}
	return file.Chown(int(want.Uid), int(want.Gid))
}
