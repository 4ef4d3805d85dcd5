package api

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

const requestIDHeader = "X-Request-Id"

// requestIDs makes the ids of requests: a random text of the process and a number.
// They are as unique as random ids and much cheaper.
type requestIDs struct {
	process string
	last    atomic.Uint64
}

func newRequestIDs() *requestIDs {
	return &requestIDs{process: strings.ToLower(rand.Text()[:16]) + "-"}
}

// of returns the request id that the caller sent if it is valid, else a new one.
func (ids *requestIDs) of(r *http.Request) string {
	sent := header(r, requestIDHeader)
	if len(sent) >= 1 && len(sent) <= 128 && strings.IndexFunc(sent, notInRequestID) < 0 {
		return sent
	}
	var text [48]byte
	return string(strconv.AppendUint(append(text[:0], ids.process...), ids.last.Add(1), 10))
}

func notInRequestID(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.:/+=@", c)
}
