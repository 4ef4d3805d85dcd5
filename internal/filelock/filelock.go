// Package filelock locks files between processes. A lock ends when its file is
// closed, at the latest with the process, however that dies.
package filelock

import "errors"

// ErrLocked reports that another process, or another file of this one, holds
// the lock.
var ErrLocked = errors.New("another process holds the lock")
