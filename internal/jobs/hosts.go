package jobs

import (
	"strings"
	"unicode/utf8"
)

// hostMarks are what a host may have beside letters and digits. Requests with anything else are not sent.
const hostMarks = "!$%&'()*+,-.:;=[]_~"

// isHostHeader tells whether a Host header can be sent as it is.
func isHostHeader(value string) bool {
	return value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r >= utf8.RuneSelf || isBarredFromHosts(r) })
}

// isBarredFromHosts tells whether no host has a character. Those of other scripts are translated when a URL's host is
// looked up.
func isBarredFromHosts(r rune) bool {
	isPlain := '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf
	return !isPlain && !strings.ContainsRune(hostMarks, r)
}
