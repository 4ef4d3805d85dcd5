package hosts

import "strings"

// IsConnectionHeader tells whether a header, in any case, is said by whoever
// holds the connection and not by whoever makes the request: those that end at
// the next hop, and the length of the body.
func IsConnectionHeader(name string) bool {
	switch strings.ToLower(name) {
	case "connection", "content-length", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
		"trailer", "transfer-encoding", "upgrade":
		return true
	}
	return false
}
