//go:build !unix

package stream

import "syscall"

// write cannot be done here without waiting: the socket's own goroutine does.
func (p *pen) write(uintptr) bool {
	p.err = errFull
	return true
}

func hasRoom(syscall.RawConn) bool { return false }
