//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sealed

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/signalbox/signalbox/internal/filelock"
)

// hasModes is true, because on this system permission bits say who can read a file.
const hasModes = true

// tryLock locks a file until the file is closed, or returns filelock.ErrLocked.
func tryLock(file *os.File) error { return filelock.TryLock(file) }

// copyOwner gives file the owner of like. The group does not matter, because the file is private.
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
