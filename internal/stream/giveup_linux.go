package stream

import (
	"time"

	"golang.org/x/sys/unix"
)

// giveUpAfter makes the kernel close the connection if the peer acknowledges nothing for some time. Without it, the
// kernel tries for a quarter of an hour.
func (c connection) giveUpAfter(limit time.Duration) {
	if c.raw == nil {
		return
	}
	_ = c.raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds())) // keep-alives find the peer gone too
	})
}
