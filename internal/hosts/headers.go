package hosts

import "strings"

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
