//go:build !unix

package stream

import "syscall"

// writeNow leaves the write to a goroutine that may wait.
func (w *frameWriter) writeNow(uintptr) bool {
	w.err = errFull
	return true
}

func isWritable(syscall.RawConn) bool { return false }
