package hosts

import (
	"strconv"
	"strings"
	"time"
)

// IsConnectionHeader reports whether a header, in any case, belongs to the connection and not to the request: headers that
// end at the next hop, and the length of the body.
func IsConnectionHeader(name string) bool {
	switch strings.ToLower(name) {
	case "connection", "content-length", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
		"trailer", "transfer-encoding", "upgrade":
		return true
	}
	return false
}

// RetryAfter reads the header Retry-After of a response: seconds, or a date. It returns at most longest, and 0 for
// anything else.
func RetryAfter(text string, now time.Time, longest time.Duration) time.Duration {
	text = strings.TrimSpace(text)
	if number, err := strconv.Atoi(text); err == nil {
		return min(time.Duration(min(max(number, 0), 1<<30))*time.Second, longest)
	}
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} { // the dates of HTTP
		if at, err := time.Parse(layout, text); err == nil {
			return min(max(0, at.Sub(now)), longest)
		}
	}
	return 0
}
