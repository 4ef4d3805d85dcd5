//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sealed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// hasModes is false: on this system permission bits do not tell who can read a file.
const hasModes = false

// tryLock refuses: without a lock two rotations could lose a key.
func tryLock(*os.File) error {
	return fmt.Errorf("changing a key ring file on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func copyOwner(*os.File, fs.FileInfo) error { return nil }
