package api

import (
	"net/http"
	"net/url"

	"github.com/signalbox/signalbox/internal/fault"
)

// origins refuses requests that carry a session's cookie but were sent by a page of
// another origin.
type origins struct {
	public  string // the origin of the public URL, or ""
	foreign *http.CrossOriginProtection
}

func newOrigins(publicURL string) origins {
	o := origins{foreign: http.NewCrossOriginProtection()}
	if public, err := url.Parse(publicURL); err == nil && public.Host != "" {
		o.public = public.Scheme + "://" + public.Host
		_ = o.foreign.AddTrustedOrigin(o.public) // it has a scheme and a host
	}
	return o
}

// check refuses a write or a socket from a page of another origin. A socket must have an
// Origin header: browsers always send it, and let every page open sockets.
func (o origins) check(r *http.Request, socket bool) error {
	if !socket && o.foreign.Check(r) == nil || socket && o.isOwn(r) {
		return nil
	}
	return fault.New(fault.Forbidden,
		"This request comes from a page of another origin, and a session works on Signalbox's own pages only. Use an API key.")
}

// isOwn reports whether a request comes from one of our own pages.
func (o origins) isOwn(r *http.Request) bool {
	if site := header(r, "Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	sent := header(r, "Origin")
	origin, err := url.Parse(sent)
	return err == nil && origin.Host != "" && (origin.Host == r.Host || sent == o.public)
}
