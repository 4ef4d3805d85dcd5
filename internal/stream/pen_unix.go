//go:build unix

package stream

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// write is called with the descriptor of a socket that does not block. It
// always says that it is done, so that nothing waits for the socket.
func (p *pen) write(fd uintptr) bool {
	for p.n < len(p.text) {
		n, err := syscall.Write(int(fd), p.text[p.n:])
		switch {
		case err == nil:
			p.n += n
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			p.err = errFull
			return true
		default:
			p.err = err
			return true
		}
	}
	return true
}

// hasRoom tells whether a socket takes a piece without making anybody wait.
func hasRoom(raw syscall.RawConn) (room bool) {
	_ = raw.Control(func(fd uintptr) {
		asked := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}} //nolint:gosec // descriptors are small
		n, err := unix.Poll(asked, 0)
		room = err == nil && n == 1 && asked[0].Revents&unix.POLLOUT != 0
	})
	return room
}
