package api

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

const requestIDHeader = "X-Request-Id"

// requestIDs names requests. An id that is made here is a random text of the
// process and a number: as unique as a random id, and much cheaper.
type requestIDs struct {
	process string
	last    atomic.Uint64
}

func newRequestIDs() *requestIDs {
	return &requestIDs{process: strings.ToLower(rand.Text()[:16]) + "-"}
}

// of takes the caller's id when it is sane, and makes one otherwise.
func (ids *requestIDs) of(r *http.Request) string {
	sent := header(r, requestIDHeader)
	if len(sent) >= 1 && len(sent) <= 128 && strings.IndexFunc(sent, notInRequestID) < 0 {
		return sent
	}
	var room [48]byte
	return string(strconv.AppendUint(append(room[:0], ids.process...), ids.last.Add(1), 10))
}

func notInRequestID(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.:/+=@", c)
}
