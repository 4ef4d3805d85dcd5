package egress

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
)

// records is the connection below TLS. TLS reads ahead and tells nobody how much it holds, so this one follows where its
// records end and can be told to give no more.
type records struct {
	*net.TCPConn

	dry    bool
	header [5]byte
	known  int // bytes of the header that have come
	left   int // bytes of the record that have not
}

// Read reads from the connection. The error of a dry one is a deadline's, because TLS forgets those and no others.
func (r *records) Read(p []byte) (int, error) {
	if r.dry {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := r.TCPConn.Read(p)
	r.follow(p[:n])
	return n, err
}

func (r *records) follow(p []byte) {
	for len(p) > 0 {
		if r.left > 0 {
			n := min(r.left, len(p))
			r.left -= n
			p = p[n:]
			continue
		}
		n := copy(r.header[r.known:], p)
		r.known += n
		p = p[n:]
		if r.known == len(r.header) {
			r.left = int(r.header[3])<<8 | int(r.header[4])
			r.known = 0
		}
	}
}

// areUsedUp tells whether TLS holds nothing of what it has read: no text, no record and no part of one.
func (r *records) areUsedUp(secured *tls.Conn) bool {
	if r.known > 0 || r.left > 0 {
		return false
	}
	r.dry = true
	defer func() { r.dry = false }()
	var one [1]byte
	n, err := secured.Read(one[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}
