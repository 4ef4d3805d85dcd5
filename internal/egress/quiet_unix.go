//go:build unix

package egress

import "syscall"

// nothingToRead tells whether a socket is open and has no bytes waiting. One that has is of no use any more, so the byte
// that this takes is not missed.
func nothingToRead(fd uintptr) bool {
	var one [1]byte
	_, err := syscall.Read(int(fd), one[:])
	return err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
}
