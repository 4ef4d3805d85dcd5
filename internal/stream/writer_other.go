//go:build !unix

package stream

import "syscall"

// writeNow always reports a full buffer on this system, so that a goroutine writes.
func (w *frameWriter) writeNow(uintptr) bool {
	w.err = errFull
	return true
}

func isWritable(syscall.RawConn) bool { return false }
