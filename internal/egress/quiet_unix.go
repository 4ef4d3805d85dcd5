//go:build unix

package egress

import "syscall"

// nothingToRead reports whether a socket is open and has no bytes waiting. It may read a waiting byte. That does no
// harm, because the connection is then closed.
func nothingToRead(fd uintptr) bool {
	var one [1]byte
	_, err := syscall.Read(int(fd), one[:])
	return err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
}
