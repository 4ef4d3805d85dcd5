// Package filelock locks files between processes. A lock ends when its file is
// closed, at the latest when the process ends or is killed.
package filelock

import "errors"

// ErrLocked reports that another process, or another open file of this process,
// holds the lock.
var ErrLocked = errors.New("another process holds the lock")
