//go:build unix

package egress

import "syscall"

// nothingToRead reports whether a socket is open and has no bytes waiting. If it has, the connection is closed, so the byte
// that this takes is not missed.
func nothingToRead(fd uintptr) bool {
	var one [1]byte
	_, err := syscall.Read(int(fd), one[:])
	return err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
}
