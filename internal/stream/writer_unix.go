//go:build unix

package stream

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// writeNow writes to a non-blocking descriptor. It returns true: the runtime must not wait.
func (w *frameWriter) writeNow(fd uintptr) bool {
	for w.n < len(w.text) {
		n, err := syscall.Write(int(fd), w.text[w.n:])
		switch {
		case err == nil:
			w.n += n
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			w.err = errFull
			return true
		default:
			w.err = err
			return true
		}
	}
	return true
}

// isWritable reports whether a socket accepts a piece without waiting.
func isWritable(raw syscall.RawConn) (writable bool) {
	_ = raw.Control(func(fd uintptr) {
		asked := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}} //nolint:gosec // descriptors are small
		n, err := unix.Poll(asked, 0)
		writable = err == nil && n == 1 && asked[0].Revents&unix.POLLOUT != 0
	})
	return writable
}
