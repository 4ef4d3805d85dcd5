package egress

import (
	"os"
	"syscall"
	"time"
)

// SetIdleTime sets how long a client keeps idle connections. Call it before the first request.
func SetIdleTime(c *Client, d time.Duration) { c.idle.idleTime = d }

// FailSockets makes every new socket of a client fail with an error.
func FailSockets(c *Client, err error) {
	c.dialer.net.Control = func(string, string, syscall.RawConn) error { return os.NewSyscallError("socket", err) }
}

// IsWasteful reports whether an answer takes too many reads and bytes for its content.
func IsWasteful(reads int, bytes, content int64) bool {
	return (&incoming{reads: reads, bytes: bytes}).isWasteful(content)
}
