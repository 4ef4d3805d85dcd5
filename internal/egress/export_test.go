package egress

import "time"

// SetIdleTime sets how long a client keeps connections. It must not have any yet.
func SetIdleTime(c *Client, d time.Duration) { c.idle.idleTime = d }
